package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/harness"
)

// restarts watches the pods of a cluster and keeps in which order they went down
// and came up.
type restarts struct {
	t     *testing.T
	watch watch.Interface
	done  sync.WaitGroup

	mu    sync.Mutex
	down  map[string]bool
	order []string
	// together are the pods that were down at the same time, once for each time.
	together []string
}

// watchRestarts begins with all pods ready.
func (c *cluster) watchRestarts() *restarts {
	c.t.Helper()
	watcher, err := client.NewWithWatch(c.plane.Config, client.Options{Scheme: harness.Scheme()})
	if err != nil {
		c.t.Fatal(err)
	}
	w, err := watcher.Watch(c.t.Context(), &corev1.PodList{}, client.InNamespace(namespace), client.MatchingLabels{apiv1.LabelCluster: name})
	if err != nil {
		c.t.Fatal(err)
	}
	r := &restarts{t: c.t, watch: w, down: map[string]bool{}}
	r.done.Go(func() {
		for e := range w.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok {
				r.saw(pod, e.Type != watch.Deleted && pod.DeletionTimestamp == nil && isReady(pod))
			}
		}
	})
	c.t.Cleanup(func() { w.Stop(); r.done.Wait() })
	return r
}

func (r *restarts) saw(pod *corev1.Pod, up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if up == !r.down[pod.Name] {
		return
	}
	if up {
		delete(r.down, pod.Name)
		return
	}
	r.down[pod.Name] = true
	r.order = append(r.order, pod.Name)
	if len(r.down) > 1 {
		r.together = append(r.together, strings.Join(slices.Sorted(maps.Keys(r.down)), " and "))
	}
}

// oneByOne waits until so many pods went down and all are up, and returns their
// order. It fails where two were down at a time.
func (c *cluster) oneByOne(r *restarts, number int, bound time.Duration) []string {
	c.t.Helper()
	var order []string
	c.await(bound, func(ctx context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		order = slices.Clone(r.order)
		if len(order) < number || len(r.down) > 0 {
			k, err := c.get(ctx)
			return errors.Join(err, fmt.Errorf("restarted were %v, down are %v; want %d restarts: %+v", order, r.down, number, k.Status.Conditions))
		}
		return nil
	})
	c.await(time.Minute, c.isReady)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) != number || len(r.together) > 0 {
		c.t.Errorf("restarted were %v, want %d restarts; at the same time: %v", r.order, number, r.together)
	}
	return order
}

// story is the Events on the Kafka since it was created, in the order in which
// they came about: their reasons, those of one in a row once, and their notes.
func (c *cluster) story(ctx context.Context) (reasons, notes []string, err error) {
	all, err := c.events(ctx)
	// Before its pools were there it could not be created.
	created := slices.IndexFunc(all, func(e eventsv1.Event) bool { return e.Reason == "ClusterCreated" })
	for _, e := range all[max(created, 0):] {
		if e.ReportingController != "sluice-cluster" {
			continue // others tell of the topics
		}
		reasons = append(reasons, e.Reason)
		notes = append(notes, e.Reason+": "+e.Note)
	}
	return slices.Compact(reasons), notes, err
}

// events on the Kafka, in order.
func (c *cluster) events(ctx context.Context) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := c.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	events := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.Kind != apiv1.KindKafka || e.Regarding.Name != name
	})
	slices.SortStableFunc(events, func(a, b eventsv1.Event) int {
		return cmp.Or(a.EventTime.Compare(b.EventTime.Time), cmp.Compare(a.Name, b.Name))
	})
	return events, nil
}

// told waits until an Event with that reason has a note that holds the text.
func (c *cluster) told(reason, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		events, err := c.events(ctx)
		if err != nil {
			return err
		}
		var notes []string
		for _, e := range events {
			if e.Reason == reason && strings.Contains(e.Note, text) {
				return nil
			}
			notes = append(notes, e.Reason+": "+e.Note)
		}
		return fmt.Errorf("no Event %s with %q: %s", reason, text, strings.Join(notes, "\n"))
	}
}

// reading is what the operator has counted up to now.
type reading struct {
	// calls of Kafka by API, looks at the cluster and cordon changes by kind.
	calls, cordons map[string]int
	looks          int
	// writes of Kubernetes by method: the lease apart, which is the one thing that
	// is updated with PUT.
	writes int
}

func (c *cluster) read() reading {
	c.t.Helper()
	m, err := c.operator.Metrics(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	r := reading{calls: map[string]int{}, cordons: map[string]int{}}
	for family, into := range map[string]struct {
		label  string
		counts map[string]int
	}{
		"sluice_cluster_admin_call_duration_seconds": {"api", r.calls},
		"sluice_cluster_cordon_changes_total":        {"change", r.cordons},
	} {
		for _, s := range m[family].GetMetric() {
			for _, l := range s.Label {
				if l.GetName() == into.label {
					into.counts[l.GetValue()] += int(s.GetCounter().GetValue()) + int(s.GetHistogram().GetSampleCount())
				}
			}
		}
	}
	r.looks = int(m.Sum("sluice_cluster_reconciliations_total"))
	for _, method := range []string{"POST", "PATCH", "DELETE"} {
		r.writes += int(m.Sum("rest_client_requests_total", "method="+method))
	}
	return r
}

// since is what was counted after an earlier reading.
func (r reading) since(before reading) reading {
	d := reading{calls: map[string]int{}, cordons: map[string]int{}, looks: r.looks - before.looks, writes: r.writes - before.writes}
	for into, from := range map[*map[string]int][2]map[string]int{
		&d.calls: {r.calls, before.calls}, &d.cordons: {r.cordons, before.cordons},
	} {
		for what, n := range from[0] {
			if n -= from[1][what]; n > 0 {
				(*into)[what] = n
			}
		}
	}
	return d
}

// look has the operator look at the cluster so many times, and returns what it
// did meanwhile. Each look is brought about by an annotation that means nothing.
func (c *cluster) look(times int) reading {
	c.t.Helper()
	before := c.read()
	for range times {
		from := c.read().looks
		c.annotate(map[string]any{"example.org/touched": fmt.Sprint(from)})
		c.await(time.Minute, func(context.Context) error {
			if now := c.read().looks; now == from {
				return fmt.Errorf("still at %d looks", now)
			}
			return nil
		})
	}
	return c.read().since(before)
}

// annotate patches the Kafka's annotations; nil takes one away.
func (c *cluster) annotate(annotations map[string]any) {
	c.t.Helper()
	c.patch(map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// versions are the resource versions of everything in the cluster's namespace.
func (c *cluster) versions() map[string]string {
	c.t.Helper()
	all := map[string]string{}
	for _, kind := range []schema.GroupVersionKind{
		apiv1.GroupVersion.WithKind(apiv1.KindKafka), apiv1.GroupVersion.WithKind(apiv1.KindKafkaNodePool),
		corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("Secret"),
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
		policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), eventsv1.SchemeGroupVersion.WithKind("Event"),
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		if err := c.client.List(c.t.Context(), list, client.InNamespace(namespace)); err != nil {
			c.t.Fatal(err)
		}
		for _, o := range list.Items {
			all[kind.Kind+" "+o.Name] = o.ResourceVersion
		}
	}
	return all
}

// eventsFrom are the Events, as versions names them, that are not among those of
// before and that tell of what happened before start: Events are written a moment
// after they were made. It logs the others.
func (c *cluster) eventsFrom(start time.Time, before map[string]string) []string {
	c.t.Helper()
	list := &eventsv1.EventList{}
	if err := c.client.List(c.t.Context(), list, client.InNamespace(namespace)); err != nil {
		c.t.Fatal(err)
	}
	var late []string
	for _, e := range list.Items {
		what := "Event " + e.Name
		if _, known := before[what]; known {
			continue
		}
		if e.EventTime.Time.Before(start) {
			late = append(late, what)
			continue
		}
		c.t.Logf("%s: %s: %s", what, e.Reason, e.Note)
	}
	return late
}

// isQuiet brings about looks at a cluster in which nothing is to be done: once one
// of them has written nothing, none does, and each asks Kafka no more than twice
// for each broker and six times besides.
func (c *cluster) isQuiet(brokers int) {
	c.t.Helper()
	c.await(2*time.Minute, func(context.Context) error {
		if did := c.look(1); did.writes > 0 || did.calls["IncrementalAlterConfigs"] > 0 {
			return fmt.Errorf("a look wrote %d times to Kubernetes; calls of Kafka: %v", did.writes, did.calls)
		}
		return nil
	})
	const times = 5
	before, running, start := c.versions(), c.running(), time.Now()
	did := c.look(times)
	after := c.versions()
	late := c.eventsFrom(start, before)
	for _, what := range late {
		delete(after, what)
	}
	for what, version := range after {
		// The Kafka is what the looks were brought about with.
		if version != before[what] && what != "Kafka "+name {
			c.t.Errorf("%s was written", what)
		}
	}
	if len(after) != len(before) {
		c.t.Errorf("there are %d objects, and were %d", len(after), len(before))
	}
	if did.writes > len(late) {
		c.t.Errorf("the operator wrote %d times to Kubernetes, %d of them Events from before", did.writes, len(late))
	}
	calls, wrote := 0, 0
	for api, n := range did.calls {
		calls += n
		if api == "IncrementalAlterConfigs" || api == "UpdateFeatures" || api == "UnregisterBroker" {
			wrote += n
		}
	}
	if wrote > 0 || calls > did.looks*(2*brokers+6) || calls < did.looks*2*brokers {
		c.t.Errorf("%d looks at %d brokers made %d calls, want at most %d, and none that writes: %v",
			did.looks, brokers, calls, did.looks*(2*brokers+6), did.calls)
	}
	c.notRestarted(running)
}
