package integration

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/test/harness"
)

// brokerInput reads the same inputs as the golden tests of what is made for a
// node.
func brokerInput(t *testing.T, file, namespace string) brokerpod.Input {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var given struct {
		Kafka *apiv1.Kafka         `json:"kafka"`
		Pool  *apiv1.KafkaNodePool `json:"pool"`
	}
	if err := yaml.Unmarshal(raw, &given); err != nil {
		t.Fatal(err)
	}
	given.Kafka.Namespace, given.Pool.Namespace = namespace, namespace
	return brokerpod.Input{
		Kafka: given.Kafka, Pool: given.Pool,
		Node: nodepool.Node{
			ID: 4, Pool: given.Pool.Name, Pod: nodepool.PodName(given.Kafka.Name, given.Pool.Name, 4),
			Broker:     slices.Contains(given.Pool.Spec.Roles, apiv1.RoleBroker),
			Controller: slices.Contains(given.Pool.Spec.Roles, apiv1.RoleController),
		},
		Version: "4.3.1", ClusterID: "MkU3OEVBNTcwNTJENDM2Qg", ConfigurationHash: "0123456789abcdef",
	}
}

// What is made for a node is accepted by the API server, also where its namespace
// enforces the restricted Pod Security Standard, and is not different from what is
// wanted once the API server has filled in its defaults.
func TestTheAPIServerAcceptsWhatIsMadeForANode(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	if err := cp.Client.Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}); err != nil {
		t.Fatal(err)
	}
	inputs, err := filepath.Glob("../../internal/brokerpod/testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no input: %v", err)
	}
	for _, file := range inputs {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
				GenerateName: "made-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
			}}
			if err := cp.Client.Create(t.Context(), ns); err != nil {
				t.Fatal(err)
			}
			createsWhatIsMade(t, cp, brokerInput(t, file, ns.Name))
		})
	}
}

func createsWhatIsMade(t *testing.T, cp *harness.ControlPlane, in brokerpod.Input) {
	pod, err := brokerpod.Pod(in)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := brokerpod.Claims(in)
	if err != nil {
		t.Fatal(err)
	}
	services, err := brokerpod.Services(in.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := brokerpod.DisruptionBudget(in.Kafka, 3)
	if err != nil {
		t.Fatal(err)
	}
	rack := "zone-b"
	objects := []client.Object{pod, budget, brokerpod.ConfigMap(in, "node.id=4\n", "4.3-IV0", &rack)}
	for _, c := range claims {
		objects = append(objects, c)
	}
	for _, s := range services {
		objects = append(objects, s)
	}
	for _, o := range objects {
		if err := cp.Client.Create(t.Context(), o.DeepCopyObject().(client.Object)); err != nil {
			t.Errorf("%T %s: %v", o, o.GetName(), err)
		}
	}

	live := &corev1.Pod{}
	if err := cp.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), live); err != nil {
		t.Fatal(err)
	}
	if live.Spec.DNSPolicy == "" || live.Spec.Containers[0].ImagePullPolicy == "" {
		t.Error("the API server has filled nothing in, so nothing is tested")
	}
	if got, want := brokerpod.Revision(live), brokerpod.Revision(pod); got != want {
		t.Errorf("the live pod has revision %q, the wanted one %q", got, want)
	}
	for _, wanted := range claims {
		claim := &corev1.PersistentVolumeClaim{}
		if err := cp.Client.Get(t.Context(), client.ObjectKeyFromObject(wanted), claim); err != nil {
			t.Fatal(err)
		}
		if _, what := brokerpod.ClaimChange(claim, wanted); what != nil {
			t.Errorf("claim %s as it was made is to be changed: %v", wanted.Name, what)
		}
	}
}
