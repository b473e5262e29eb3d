package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

// addVolume gives all pods of the cluster a volume of their own.
func (e *env) addVolume() {
	e.t.Helper()
	edit(e, "c", func(k *kafkav1.Kafka) {
		k.Spec.Kafka.Template = &kafkav1.KafkaTemplate{Pod: &kafkav1.PodTemplate{TemplatedVolumes: []kafkav1.TemplatedVolume{
			{Name: "creds", Secret: &corev1.SecretVolumeSource{SecretName: "creds-{nodeId}"}},
		}}, KafkaContainer: &kafkav1.ContainerTemplate{VolumeMounts: []corev1.VolumeMount{{Name: "creds", MountPath: "/mnt/creds"}}}}
	})
}

func (e *env) secretOf(pod string) string {
	for _, v := range e.podOf(pod).Spec.Volumes {
		if v.Name == "creds" {
			return v.Secret.SecretName
		}
	}
	return ""
}

func TestChangeOfVolumesRestartsOneNodeAtATime(t *testing.T) {
	e := running(t, 3)
	for id := range int32(3) {
		e.kafka.Place("data", id, id, (id+1)%3, (id+2)%3)
	}
	e.kafka.MinISR["data"] = 2
	e.turns(1)
	e.eventReasons()
	e.addVolume()
	done := func() bool {
		for _, name := range e.podNames() {
			if e.secretOf(name) != "creds-"+name[strings.LastIndex(name, "-")+1:] {
				return false
			}
		}
		return len(e.podNames()) == 6
	}
	e.beforeWrite = func(write string) error {
		if !strings.HasPrefix(write, "delete Pod") {
			return nil
		}
		for _, name := range e.podNames() {
			if !isReady(e.podOf(name)) {
				t.Errorf("%s while %s is not ready", write, name)
			}
		}
		if n := len(e.podNames()); n != 6 {
			t.Errorf("%s while %d pods run", write, n)
		}
		return nil
	}
	e.until("all pods have their volume", done)
	if n := count(e.eventReasons(), "Restarting"); n != 6 {
		t.Errorf("told of %d restarts", n)
	}
	for id := range int32(3) {
		if n := e.kafka.Starts(id); n != 2 {
			t.Errorf("broker %d was started %d times", id, n)
		}
	}
	e.settled()
}

func TestBrokerIsNotRestartedWhileAPartitionNeedsIt(t *testing.T) {
	e := running(t, 4)
	e.kafka.Place("data", 0, 0, 1, 2)
	e.kafka.SetInSync("data", 0, 0, 1)
	e.kafka.MinISR["data"] = 2
	e.turns(1)
	e.addVolume()
	e.turns(20)
	for id := range int32(2) {
		if n := e.kafka.Starts(id); n != 1 {
			t.Errorf("broker %d was restarted", id)
		}
	}
	if message, ok := e.condition(kafkav1.ConditionWarning, reasonRestartWaits); !ok || !strings.Contains(message, "data") {
		t.Errorf("condition %q\n%s", message, e.describe())
	}
	e.kafka.SetInSync("data", 0, 0, 1, 2)
	e.until("all are restarted", func() bool { return e.kafka.Starts(0) == 2 && e.kafka.Starts(1) == 2 && e.kafka.Starts(2) == 2 })
	e.turns(2)
	e.settled()
}

func TestPodThatEndedIsMadeAnew(t *testing.T) {
	e := running(t, 3)
	pod := e.podOf("c-brokers-1")
	uid := pod.UID
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	pod.Status.Conditions = nil
	e.must(e.store.Status().Update(e.byKubelet(), pod))
	e.until("it is ready again", e.isReady)
	e.turns(4)
	if !e.isReady() || e.podOf("c-brokers-1").UID == uid {
		t.Errorf("not made anew:\n%s", e.describe())
	}
}

func TestOnlyNewNodesAreGivenFreeIDs(t *testing.T) {
	e := held(t)
	e.kafka.Drain(3, 4)
	e.until("the pods of 3 and 4 are gone", func() bool { return len(e.brokerPods()) == 3 })
	if !slices.Contains(e.kafka.Registered(), 3) {
		t.Fatal("3 is forgotten already: the test comes too late")
	}
	e.scale("brokers", 4)
	e.turns(1)
	if ids := e.nodeIDs("brokers"); !slices.Equal(ids, []int64{0, 1, 2, 5}) {
		t.Errorf("nodeIds %v: an ID that is registered is not free", ids)
	}
}

func TestRackIsWrittenWhenThePodIsBoundAndTakenAwayBeforeTheNext(t *testing.T) {
	kafka := newKafka()
	kafka.Spec.Kafka.Rack = &kafkav1.Rack{TopologyKey: "zone"}
	node := &corev1.Node{}
	node.Name, node.Labels = "node-1", map[string]string{"zone": "z1"}
	e := newEnv(t, kafka, newPool("brokers", 3, kafkav1.RoleBroker), newPool("controllers", 1, kafkav1.RoleController), node)
	e.turns(1)
	if _, ok := e.mustConfigMap("c-brokers-0")["rack"]; ok {
		t.Error("the rack was written before the pod was bound")
	}
	e.turns(2)
	if got := e.mustConfigMap("c-brokers-0")["rack"]; got != "z1" {
		t.Errorf("rack %q", got)
	}
	e.turns(2)
	e.must(e.store.Delete(e.byKubelet(), e.podOf("c-brokers-0")))
	e.beforeWrite = func(write string) error {
		if write == "create Pod c-brokers-0" {
			if rack, ok := e.mustConfigMap("c-brokers-0")["rack"]; ok {
				t.Errorf("the pod was made with the rack %q from before", rack)
			}
		}
		return nil
	}
	e.turns(4)
	if got := e.mustConfigMap("c-brokers-0")["rack"]; got != "z1" {
		t.Errorf("rack %q", got)
	}
}

func TestPodThatNoNodeFitsIsNamedWithTheReason(t *testing.T) {
	kafka := newKafka()
	kafka.Spec.Kafka.Rack = &kafkav1.Rack{TopologyKey: "zone"}
	e := newEnv(t, kafka, newPool("brokers", 3, kafkav1.RoleBroker), newPool("controllers", 1, kafkav1.RoleController))
	e.turns(1)
	pod := e.podOf("c-brokers-1")
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available.",
	}}
	e.must(e.store.Status().Update(e.byKubelet(), pod))
	e.must(e.turn())
	const want = "these pods are not ready: c-brokers-1 (no node fits: 0/1 nodes are available. For spec.kafka.rack it has to have the label zone.)"
	if got, _ := e.condition(kafkav1.ConditionNotReady, "PodsNotReady"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLostRoleIsGivenUpWhenTheBrokerIsEmpty(t *testing.T) {
	e := newEnv(t, newKafka(), newPool("brokers", 3, kafkav1.RoleBroker), newPool("mixed", 3, kafkav1.RoleController, kafkav1.RoleBroker))
	e.turns(4)
	for id := range int32(6) {
		e.kafka.Place("data", id, id, (id+1)%6)
	}
	e.turns(1)
	edit(e, "mixed", func(p *kafkav1.KafkaNodePool) { p.Spec.Roles = []string{kafkav1.RoleController} })
	e.turns(4)
	for id := int32(3); id < 6; id++ {
		if !e.kafka.Cordoned(id) || e.kafka.Starts(id) != 1 {
			t.Errorf("broker %d: cordoned %v, starts %d", id, e.kafka.Cordoned(id), e.kafka.Starts(id))
		}
	}
	if pool := get[kafkav1.KafkaNodePool](e, "mixed"); !slices.Contains(pool.Status.Roles, kafkav1.RoleBroker) {
		t.Errorf("roles %v", pool.Status.Roles)
	}
	e.kafka.Drain(3, 4, 5)
	e.until("the role is gone", func() bool { return slices.Equal(e.kafka.Registered(), []int32{0, 1, 2}) })
	e.turns(3)
	for id := 3; id < 6; id++ {
		pod := e.podOf(fmt.Sprintf("c-mixed-%d", id))
		if pod.Labels[kafkav1.LabelBrokerRole] != "false" || pod.Labels[kafkav1.LabelControllerRole] != "true" {
			t.Errorf("pod %s has labels %v", pod.Name, pod.Labels)
		}
	}
	e.settled()
}

func TestNodeKeepsRunningWhereItsNewPodWouldBeRefused(t *testing.T) {
	e := running(t, 3)
	e.eventReasons()
	e.refusePod = func(pod *corev1.Pod) error {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), pod.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "volumes").Index(2), "creds", "no such thing"),
		})
	}
	e.addVolume()
	e.takeWrites()
	e.turns(5)
	if message, ok := e.condition(kafkav1.ConditionWarning, reasonPodInvalid); !ok || !strings.Contains(message, "spec.volumes[2]") {
		t.Errorf("warning: %q", message)
	}
	for _, write := range e.takeWrites() {
		if strings.HasPrefix(write, "delete Pod") {
			t.Errorf("%s, though the next one would be refused", write)
		}
	}
	e.refusePod = nil
	e.until("the restarts go on", func() bool { return count(e.eventReasons(), "Restarting") > 0 })
}

func TestQuotaWithoutRoomForASecondPodHoldsNoRestart(t *testing.T) {
	e := running(t, 3)
	e.eventReasons()
	e.refusePod = func(pod *corev1.Pod) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, errors.New("exceeded quota"))
	}
	e.addVolume()
	e.until("the restarts go on", func() bool { return count(e.eventReasons(), "Restarting") > 0 })
}
