package volumes

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

func reconcile(t *testing.T, e *env) {
	t.Helper()
	if _, err := e.Reconcile(t.Context(), kafkaC); err != nil {
		t.Fatal(err)
	}
}

func TestAConvergedClusterIsLeftAlone(t *testing.T) {
	e := newEnv(t, cluster(ready("c-brokers-0", "creds-0"), ready("c-brokers-1", "creds-1"))...)
	reconcile(t, e)
	if len(e.writes) > 0 || len(e.events) > 0 {
		t.Errorf("writes %v, events %v", e.writes, e.events)
	}
}

func TestADriftedPodIsRecordedAndMarked(t *testing.T) {
	e := newEnv(t, cluster(ready("c-brokers-0", "old"), ready("c-brokers-1", "old"))...)
	reconcile(t, e)
	if diff := cmp.Diff([]string{"patch Kafka c", "patch Pod c-brokers-0"}, e.takeWrites()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if got := e.pod(t, "c-brokers-0").Annotations[kafkav1.AnnotationManualRollingUpdate]; got != "true" {
		t.Errorf("the mark says %q", got)
	}
	kafka := &kafkav1.Kafka{}
	if err := e.store.Get(t.Context(), client.ObjectKey{Namespace: "kafka", Name: "c"}, kafka); err != nil {
		t.Fatal(err)
	}
	if got := kafka.Annotations[kafkav1.AnnotationVolumeRestarts]; !strings.Contains(got, `"c-brokers-0":{"uid":"uid-c-brokers-0"`) {
		t.Errorf("the record says %q", got)
	}
	if len(e.events) != 1 || !strings.Contains(e.events[0], "VolumesRestart on c: Marked pod c-brokers-0") {
		t.Errorf("events %v", e.events)
	}
	reconcile(t, e)
	if writes := e.takeWrites(); len(writes) > 0 {
		t.Errorf("writes while Strimzi is at it: %v", writes)
	}
}

func TestAHangingPodIsDeleted(t *testing.T) {
	e := newEnv(t, cluster(hanging("c-brokers-0", "old"), ready("c-brokers-1", "old"))...)
	reconcile(t, e)
	if diff := cmp.Diff([]string{"patch Kafka c", "delete Pod c-brokers-0"}, e.takeWrites()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	err := e.store.Get(t.Context(), client.ObjectKey{Namespace: "kafka", Name: "c-brokers-0"}, &corev1.Pod{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the pod: %v", err)
	}
	reconcile(t, e)
	if writes := e.takeWrites(); len(writes) > 0 {
		t.Errorf("writes while the pod is being replaced: %v", writes)
	}
}

// The cache may not have heard of the last mark when the next look is due.
func TestACacheThatIsBehindBeginsNoSecondRestart(t *testing.T) {
	stale := newEnv(t, cluster(ready("c-brokers-0", "old"), ready("c-brokers-1", "old"))...)
	marked := ready("c-brokers-0", "creds-0")
	marked.Status.Conditions = nil
	e := newEnv(t, cluster(marked, ready("c-brokers-1", "old"))...)
	e.cached = stale.cached
	reconcile(t, e)
	if len(e.writes) > 0 {
		t.Errorf("writes %v", e.writes)
	}
}

func TestWhatLastsIsToldOnce(t *testing.T) {
	e := newEnv(t, cluster(ready("c-brokers-0", "old"), ready("c-brokers-1", "creds-1"))...)
	kafka := &kafkav1.Kafka{}
	if err := e.store.Get(t.Context(), client.ObjectKey{Namespace: "kafka", Name: "c"}, kafka); err != nil {
		t.Fatal(err)
	}
	kafka.Annotations[kafkav1.AnnotationRollVolumes] = "false"
	if err := e.store.Update(t.Context(), kafka); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		reconcile(t, e)
	}
	if len(e.events) != 1 || !strings.Contains(e.events[0], "VolumesWaitForRestart on c: Pod c-brokers-0 waits") {
		t.Errorf("events %v", e.events)
	}
	if err := e.store.Delete(t.Context(), e.pod(t, "c-brokers-0")); err != nil {
		t.Fatal(err)
	}
	e.takeWrites()
	reconcile(t, e)
	if err := e.store.Create(t.Context(), ready("c-brokers-0", "old")); err != nil {
		t.Fatal(err)
	}
	reconcile(t, e)
	if len(e.events) != 2 {
		t.Errorf("what came again is not told again: %v", e.events)
	}
	if len(e.writes) > 0 {
		t.Errorf("writes %v", e.writes)
	}
}

func TestAPodOfAnotherCreatorIsNoneOfTheSet(t *testing.T) {
	foreign := ready("c-brokers-0", "old")
	foreign.OwnerReferences = nil
	e := newEnv(t, cluster(foreign, ready("c-brokers-1", "creds-1"))...)
	reconcile(t, e)
	if len(e.writes) > 0 {
		t.Errorf("writes %v", e.writes)
	}
}

func TestWhatCannotBeReadIsNotAbsent(t *testing.T) {
	objects := cluster(ready("c-brokers-0", "old"), ready("c-brokers-1", "old"))
	e := newEnv(t, objects[1:]...) // without the namespace
	if _, err := e.Reconcile(t.Context(), kafkaC); err == nil {
		t.Error("without the namespace's label nobody knows whether admission is off")
	}
	if len(e.writes) > 0 {
		t.Errorf("writes %v", e.writes)
	}
}

func TestOneBrokenEntryLeavesTheOthersTheirTurn(t *testing.T) {
	objects := cluster(ready("c-brokers-0", "old"), ready("c-brokers-1", "old"))
	set := objects[3].(*unstructured.Unstructured)
	broken := entry("c-brokers-0")
	broken["spec"].(map[string]any)["volumes"] = "none"
	if err := unstructured.SetNestedSlice(set.Object, []any{broken, "nonsense", entry("c-brokers-1")}, "spec", "pods"); err != nil {
		t.Fatal(err)
	}
	e := newEnv(t, objects...)
	seen, err := e.cached.gather(t.Context(), kafkaC)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Pods) != 3 || seen.Pods[0].Entry != nil || seen.Pods[0].Live == nil || seen.Pods[1].Entry != nil || seen.Pods[2].Entry == nil {
		t.Errorf("pods %+v", seen.Pods)
	}
}

func TestWorkersOfConnectAndMirrorMaker2AreGathered(t *testing.T) {
	annotations := map[string]string{kafkav1.AnnotationPodTemplatedVolumes: `[{name: creds, secret: {secretName: "creds-{nodeId}"}}]`}
	tests := map[string]struct {
		component, kind, pod string
		owner                client.Object
	}{
		"Connect": {kafkav1.ComponentKafkaConnect, kafkav1.KindKafkaConnect, "w-connect-0",
			&kafkav1.KafkaConnect{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "w", Annotations: annotations}}},
		"MirrorMaker 2": {kafkav1.ComponentMirrorMaker2, kafkav1.KindKafkaMirrorMaker2, "w-mirrormaker2-0",
			&kafkav1.KafkaMirrorMaker2{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "w", Annotations: annotations}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			labels := map[string]any{kafkav1.LabelComponentType: tc.component, kafkav1.LabelCluster: "w", kafkav1.LabelPodName: tc.pod}
			worker := entry(tc.pod)
			worker["metadata"].(map[string]any)["labels"] = labels
			objects := cluster(ready("c-brokers-0", "old"), ready("c-brokers-1", "old"))
			set := objects[3].DeepCopyObject().(*unstructured.Unstructured)
			set.SetName("w")
			set.SetUID("the-workers")
			set.SetLabels(map[string]string{kafkav1.LabelCluster: "w", kafkav1.LabelKind: tc.kind})
			if err := unstructured.SetNestedSlice(set.Object, []any{worker}, "spec", "pods"); err != nil {
				t.Fatal(err)
			}
			pod := ready(tc.pod, "old")
			pod.Labels = map[string]string{}
			for k, v := range labels {
				pod.Labels[k] = v.(string)
			}
			pod.OwnerReferences[0].UID = "the-workers"
			e := newEnv(t, append(objects, tc.owner, set, pod)...)
			if _, err := e.Reconcile(t.Context(), key{component: tc.component, namespace: "kafka", name: "w"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"patch " + tc.kind + " w", "patch Pod " + tc.pod}, e.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// What the cache drops must not matter to any decision.
func TestStrippedObjectsAreReadAsWhole(t *testing.T) {
	set := cluster()[3].(*unstructured.Unstructured)
	whole, _, _ := unstructured.NestedSlice(set.Object, "spec", "pods")
	if _, err := stripPodSet(set); err != nil {
		t.Fatal(err)
	}
	stripped, _, _ := unstructured.NestedSlice(set.Object, "spec", "pods")
	if cmp.Equal(whole, stripped) {
		t.Error("nothing was dropped")
	}
	for i := range whole {
		_, a, errA := readEntry(whole[i])
		_, b, errB := readEntry(stripped[i])
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b); diff != "" || len(a.Spec.Volumes) != 1 || len(a.Spec.Containers[0].VolumeMounts) != 1 || a.Annotations[kafkav1.AnnotationRevision] != "1" {
			t.Errorf("entry %d is read as %+v, -whole +stripped: %s", i, a, diff)
		}
	}
	pod, err := stripPod(ready("c-brokers-0", "old"))
	if err != nil {
		t.Fatal(err)
	}
	p := pod.(*corev1.Pod)
	if len(p.Spec.Containers) > 0 || len(p.Annotations) != 1 || len(p.Status.Conditions) != 1 || len(p.OwnerReferences) != 1 || len(p.Spec.Volumes) != 1 {
		t.Errorf("left %+v", p)
	}
}
