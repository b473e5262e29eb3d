package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// drift is an installation whose operator the tests restart.
type drift struct {
	*harness.Installation
	op *harness.Operator
}

func (d *drift) restart(t *testing.T) {
	t.Helper()
	if d.op != nil {
		if err := d.op.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if d.op, err = d.StartOperator(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestPodsAreRestartedForTheirTemplatedVolumes(t *testing.T) {
	in, err := controlPlane(t, harness.ControlPlaneOptions{}).InstallChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	installPodSets(t, in.ControlPlane)
	d := &drift{Installation: in}
	d.restart(t)
	t.Cleanup(func() {
		if err := d.op.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, *drift)
	}{
		{"each pod once, one at a time", restartsEachPodOnce},
		{"none at install, none where nobody allowed it", restartsNoneAtInstall},
		{"none in a namespace with the emergency label, until it goes", restartsNoneInAnEmergency},
		{"two pods that hang are mended", mendsHangingPods},
		{"the creator's own volume stands, and both versions are told", tellsOfTheCreatorsVolume},
		{"a restart that did not help is the last, also after the operator's", stopsWhereARestartDoesNotHelp},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, d) })
	}
}

// annotatedCluster creates the Kafka c, whose list of templated volumes stands in
// an annotation, and its pool.
func annotatedCluster(t *testing.T, in *harness.Installation, ns, secret string) *apiv1.Kafka {
	t.Helper()
	kafka := createCluster(t, in, ns)
	annotateKafka(t, in, kafka, secret)
	return kafka
}

func annotateKafka(t *testing.T, in *harness.Installation, kafka *apiv1.Kafka, secret string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"[{name: creds, secret: {secretName: \"%s\"}}]"}}}`, apiv1.AnnotationPodTemplatedVolumes, secret)
	if err := in.Client.Patch(t.Context(), kafka, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

func brokers(ns string, n int) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		out = append(out, brokerPod(ns, fmt.Sprint(i), "creds"))
	}
	return out
}

func each(secret string) func(string) string {
	return func(pod string) string {
		return strings.ReplaceAll(secret, "{nodeId}", strings.TrimPrefix(pod, "c-brokers-"))
	}
}

// waitRecord waits until the Kafka's record of restarts is there, or is not.
func waitRecord(t *testing.T, in *harness.Installation, kafka *apiv1.Kafka, want bool) string {
	t.Helper()
	var record string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := in.Client.Get(ctx, client.ObjectKeyFromObject(kafka), kafka)
		record = kafka.Annotations[apiv1.AnnotationVolumeRestarts]
		return (record != "") == want, err
	})
	if err != nil {
		t.Fatalf("waiting for the record of restarts (%v): %v: it is %q", want, err, record)
	}
	return record
}

// waitEvent waits for an Event of that reason on an object of the namespace.
func waitEvent(t *testing.T, in *harness.Installation, ns, kind, reason string, parts ...string) {
	t.Helper()
	var notes []string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var events eventsv1.EventList
		if err := in.Client.List(ctx, &events, client.InNamespace(ns)); err != nil {
			return false, err
		}
		notes = nil
		for _, e := range events.Items {
			notes = append(notes, e.Regarding.Kind+": "+e.Reason+": "+e.Note)
			if e.Regarding.Kind == kind && e.Reason == reason && containsAll(e.Note, parts) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("waiting for an Event %s on the %s that says %q: %v; there are:\n%s", reason, kind, parts, err, strings.Join(notes, "\n"))
	}
}

func containsAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

func wantMade(t *testing.T, c *creator, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, c.counts()); diff != "" {
		t.Errorf("pods made by name (-want +got):\n%s", diff)
	}
}

// settle has the operator roll a cluster of its own: what it was told of before
// has had its turn by then.
func settle(t *testing.T, d *drift) {
	t.Helper()
	ns := createNamespace(t, d.Installation, nil)
	kafka := annotatedCluster(t, d.Installation, ns, "first")
	c := startCreator(t, d.Installation, ns, nil, brokers(ns, 1)...)
	c.waitFor(t, each("first"))
	annotateKafka(t, d.Installation, kafka, "second")
	c.waitFor(t, each("second"))
	waitRecord(t, d.Installation, kafka, false)
}

func restartsEachPodOnce(t *testing.T, d *drift) {
	ns := createNamespace(t, d.Installation, nil)
	kafka := annotatedCluster(t, d.Installation, ns, "old-{nodeId}")
	c := startCreator(t, d.Installation, ns, nil, brokers(ns, 3)...)
	c.waitFor(t, each("old-{nodeId}"))

	annotateKafka(t, d.Installation, kafka, "new-{nodeId}")
	c.waitFor(t, each("new-{nodeId}"))
	waitRecord(t, d.Installation, kafka, false)
	waitEvent(t, d.Installation, ns, "Kafka", "VolumesRestart", "Marked pod c-brokers-0", "old-0", "new-0")
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 2, "c-brokers-1": 2, "c-brokers-2": 2})
	if c.mostMarked > 1 {
		t.Errorf("%d pods were away at a time", c.mostMarked)
	}
}

// The pods of the first namespace have what they should have, by somebody else's
// doing; those of the second have not, and nobody allowed to restart them.
func restartsNoneAtInstall(t *testing.T, d *drift) {
	converged, waiting := createNamespace(t, d.Installation, nil), createNamespace(t, d.Installation, nil)
	annotatedCluster(t, d.Installation, converged, "creds")
	createCluster(t, d.Installation, waiting, templatedSecret("creds", "creds"))
	right := startCreator(t, d.Installation, converged, []corev1.Volume{secretVolume("creds", "creds")}, brokers(converged, 2)...)
	wrong := startCreator(t, d.Installation, waiting, []corev1.Volume{secretVolume("creds", "other")}, brokers(waiting, 2)...)
	right.waitFor(t, each("creds"))
	wrong.waitFor(t, each("other"))

	d.restart(t)
	waitEvent(t, d.Installation, waiting, "Kafka", "VolumesWaitForRestart", "c-brokers-0, c-brokers-1", apiv1.AnnotationRollVolumes, "other", `"creds"`)
	settle(t, d)
	once := map[string]int{"c-brokers-0": 1, "c-brokers-1": 1}
	wantMade(t, right, once)
	wantMade(t, wrong, once)
	for _, ns := range []string{converged, waiting} {
		kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "c"}}
		if record := waitRecord(t, d.Installation, kafka, false); record != "" {
			t.Errorf("a record %q", record)
		}
	}
}

func restartsNoneInAnEmergency(t *testing.T, d *drift) {
	ns := createNamespace(t, d.Installation, nil)
	kafka := annotatedCluster(t, d.Installation, ns, "old")
	c := startCreator(t, d.Installation, ns, nil, brokers(ns, 2)...)
	c.waitFor(t, each("old"))

	label := func(value string) {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, apiv1.LabelAdmission, value)
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
		if err := d.Client.Patch(t.Context(), n, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	label(`"disabled"`)
	annotateKafka(t, d.Installation, kafka, "new")
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 1, "c-brokers-1": 1})

	label("null")
	c.waitFor(t, each("new"))
	wantMade(t, c, map[string]int{"c-brokers-0": 2, "c-brokers-1": 2})
}

func mendsHangingPods(t *testing.T, d *drift) {
	ns := createNamespace(t, d.Installation, nil)
	kafka := annotatedCluster(t, d.Installation, ns, missingSecret)
	c := startCreator(t, d.Installation, ns, nil, brokers(ns, 2)...)
	c.waitFor(t, each(missingSecret))

	annotateKafka(t, d.Installation, kafka, "creds-{nodeId}")
	c.waitFor(t, each("creds-{nodeId}"))
	waitRecord(t, d.Installation, kafka, false)
	waitEvent(t, d.Installation, ns, "Kafka", "VolumesRestart", "Deleted pod c-brokers-1, which never started")
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 2, "c-brokers-1": 2})
}

func tellsOfTheCreatorsVolume(t *testing.T, d *drift) {
	ns := createNamespace(t, d.Installation, nil)
	annotatedCluster(t, d.Installation, ns, "creds-{nodeId}")
	entries := brokers(ns, 2)
	for _, e := range entries {
		e.Spec.Volumes = []corev1.Volume{secretVolume("creds", "creds-0")}
	}
	c := startCreator(t, d.Installation, ns, nil, entries...)
	c.waitFor(t, each("creds-0"))
	waitEvent(t, d.Installation, ns, "Kafka", "VolumesDiffer", "in Pod c-brokers-1.", `"creds-0"`, `the template says {"secret":{"secretName":"creds-1"}}`)
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 1, "c-brokers-1": 1})
}

// Some other webhook gives every pod a volume of the same name.
func stopsWhereARestartDoesNotHelp(t *testing.T, d *drift) {
	ns := createNamespace(t, d.Installation, nil)
	kafka := annotatedCluster(t, d.Installation, ns, "foreign")
	c := startCreator(t, d.Installation, ns, []corev1.Volume{secretVolume("creds", "foreign")}, brokers(ns, 2)...)
	c.waitFor(t, each("foreign"))
	annotateKafka(t, d.Installation, kafka, "ours")
	waitEvent(t, d.Installation, ns, "Kafka", "VolumesRestartStopped", "c-brokers-0", "foreign", "ours", apiv1.AnnotationVolumeRestarts)
	waitRecord(t, d.Installation, kafka, true)
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 2, "c-brokers-1": 1})

	d.restart(t)
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 2, "c-brokers-1": 1})
	waitRecord(t, d.Installation, kafka, true)

	// Something else is wanted: one more is tried.
	annotateKafka(t, d.Installation, kafka, "others")
	waitEvent(t, d.Installation, ns, "Kafka", "VolumesRestartStopped", "c-brokers-0", "foreign", "others")
	settle(t, d)
	wantMade(t, c, map[string]int{"c-brokers-0": 3, "c-brokers-1": 1})
}
