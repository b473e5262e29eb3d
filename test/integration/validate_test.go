package integration

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/test/harness"
)

// liveObjects are there before anything is validated.
const liveObjects = `
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: live, namespace: live, annotations: {sluice.dev/managed: "true"}}
spec: {kafka: {}}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: brokers, namespace: live, labels: {strimzi.io/cluster: live}}
spec: {replicas: 4, roles: [broker], storage: {type: ephemeral}}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {name: payments, namespace: live, labels: {strimzi.io/cluster: live}}
spec: {topicName: orders, partitions: 6}
`

// TestValidateLooksAtALiveCluster runs the command as a user does.
func TestValidateLooksAtALiveCluster(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	chart, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Install(t.Context(), crdsOf(chart)); err != nil {
		t.Fatal(err)
	}
	namespace(t, cp.Client, "live", nil)
	live, err := harness.DecodeYAML(strings.NewReader(liveObjects))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range live {
		if err := cp.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, cp.Client)
	limited := limitedUser(t, cp)

	tests := map[string]struct {
		kubeconfig, manifest string
		code                 int
		want                 []string
	}{
		"a topic that a live resource manages": {
			manifest: "kind: KafkaTopic\nmetadata: {name: orders, labels: {strimzi.io/cluster: live}}\n",
			code:     1, want: []string{"m.yaml:3: error: KafkaTopic/orders: metadata.name: ", "KafkaTopic live/payments manages this topic already"},
		},
		"an update of a live pool, with the facts of its brokers": {
			manifest: "kind: KafkaNodePool\nmetadata: {name: brokers, labels: {strimzi.io/cluster: live}}\nspec: {replicas: 2, roles: [broker], storage: {type: ephemeral}}\n",
			code:     1, want: []string{"m.yaml:4: error: KafkaNodePool/brokers: spec.replicas: ", "topic \"audit\" has replication factor 3"},
		},
		"a Secret of two is not there": {
			manifest: "kind: KafkaConnect\nmetadata: {name: c}\nspec:\n  replicas: 2\n  template:\n    pod:\n      templatedVolumes:\n      - name: creds\n" +
				"        secret: {secretName: 'creds-{nodeId}'}\n    connectContainer: {volumeMounts: [{name: creds, mountPath: /mnt/creds}]}\n",
			code: 0, want: []string{"m.yaml:10: warning: KafkaConnect/c: ", "for node 1 it is Secret creds-1"},
		},
		"Secrets that the user may not see": {
			kubeconfig: limited,
			manifest: "kind: KafkaConnect\nmetadata: {name: c}\nspec:\n  replicas: 1\n  template:\n    pod:\n      templatedVolumes:\n      - name: creds\n" +
				"        secret: {secretName: 'creds-{nodeId}'}\n    connectContainer: {volumeMounts: [{name: creds, mountPath: /mnt/creds}]}\n",
			code: 0, want: []string{"note: KafkaConnect/c: whether Secret creds-0 exists is not known", "note: the facts of Kafka clusters", "0 errors, 0 warnings"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "m.yaml")
			if err := os.WriteFile(file, []byte("apiVersion: kafka.strimzi.io/v1\n"+tc.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			kubeconfig := tc.kubeconfig
			if kubeconfig == "" {
				kubeconfig = cp.Kubeconfig
			}
			out, code := validate(t, "-n", "live", "-f", file, "--kubeconfig", kubeconfig, "--kube-context", "sluice")
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("it does not say %q but\n%s", want, out)
				}
			}
		})
	}
	if _, code := validate(t, "-f", "../../examples", "--kubeconfig", unreachable(t), "--kube-context", "sluice"); code != 2 {
		t.Errorf("without an API server the exit code is %d, want 2", code)
	}
}

// publish writes what the operator would of the cluster, and one Secret.
func publish(t *testing.T, c client.Client) {
	t.Helper()
	ids := []facts.Broker{{ID: 0}, {ID: 1}, {ID: 2}, {ID: 3}}
	cm, err := facts.Encode("live", "live", facts.Facts{
		ObservedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Brokers: ids, HighestFactor: &facts.TopicFactor{Topic: "audit", Factor: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := &apiv1.KafkaNodePool{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "live", Name: "brokers"}, pool); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"status": {"nodeIds": [0, 1, 2, 3], "roles": ["broker"]}}`)
	if err := c.Status().Patch(t.Context(), pool, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{cm, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "live", Name: "creds-0"}}} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// limitedUser returns the kubeconfig of one who may read Strimzi's resources
// alone.
func limitedUser(t *testing.T, cp *harness.ControlPlane) string {
	t.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "strimzi-reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{apiv1.Group}, Resources: []string{"*"}, Verbs: []string{"get", "list"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "strimzi-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader"}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := cp.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return kubeconfigWith(t, cp.Kubeconfig, func(k *clientcmdapi.Config) { k.AuthInfos["sluice"].Impersonate = "reader" })
}

// unreachable returns a kubeconfig of an API server that is not there.
func unreachable(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	raw, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config",
		"clusters": []any{map[string]any{"name": "sluice", "cluster": map[string]any{"server": "https://127.0.0.1:1"}}},
		"contexts": []any{map[string]any{"name": "sluice", "context": map[string]any{"cluster": "sluice"}}},
	})
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func kubeconfigWith(t *testing.T, from string, change func(*clientcmdapi.Config)) string {
	t.Helper()
	k, err := clientcmd.LoadFromFile(from)
	if err != nil {
		t.Fatal(err)
	}
	change(k)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// validate runs the product's binary.
func validate(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	binary, err := harness.Binary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"validate"}, args...)...)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return all.String(), cmd.ProcessState.ExitCode()
}
