package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/test/kafka/mover"
)

// scene plays a part of the story of a cluster as a subtest. What follows it
// builds on it, so that nothing is played after a scene that failed.
func (c *cluster) scene(narrative string, play func(*cluster)) {
	c.t.Helper()
	if !c.t.Run(narrative, func(t *testing.T) {
		in := *c
		in.t = t
		play(&in)
	}) {
		c.t.FailNow()
	}
}

// entries are what the operator did to Kafka, as its metrics count it.
type entries struct {
	// set and lifted are the cordons of single brokers, refused those that failed.
	set, lifted, refused int
	// gone are the brokers that were unregistered.
	gone int
	// restarts of pods.
	restarts int
}

// ledger is where the operator's books stood at some time.
type ledger struct {
	entries
	at time.Time
	// altered are all calls that change a configuration, which one of Kafka answered:
	// the client tries others where a broker is just going. One is made for each
	// broker that is unregistered, before that.
	altered, unregistrations int
}

func (c *cluster) readLedger(ctx context.Context) (ledger, error) {
	at := time.Now()
	m, err := c.operator.Metrics(ctx)
	if err != nil {
		return ledger{}, err
	}
	count := func(family string, labels ...string) int { return int(m.Sum(family, labels...)) }
	const changes, calls = "sluice_cluster_cordon_changes_total", "sluice_cluster_admin_call_duration_seconds"
	return ledger{
		entries: entries{
			set: count(changes, "change=set"), lifted: count(changes, "change=lifted"), refused: count(changes, "change=refused"),
			gone: count("sluice_cluster_unregistered_brokers_total"), restarts: count("sluice_cluster_restarts_total"),
		},
		at: at, altered: count(calls, "api=IncrementalAlterConfigs", "result=successful"), unregistrations: count(calls, "api=UnregisterBroker", "result=successful"),
	}, nil
}

func (c *cluster) ledger() ledger {
	c.t.Helper()
	l, err := c.readLedger(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return l
}

// booked waits until these are all entries since then, and all calls that Kafka
// got are accounted for by them. Entries never go away: one too many never passes.
func (c *cluster) booked(since ledger, want entries) func(context.Context) error {
	return func(ctx context.Context) error {
		now, err := c.readLedger(ctx)
		if err != nil {
			return err
		}
		got := entries{
			set: now.set - since.set, lifted: now.lifted - since.lifted, refused: now.refused - since.refused,
			gone: now.gone - since.gone, restarts: now.restarts - since.restarts,
		}
		if got != want {
			return fmt.Errorf("the operator did %+v, want %+v", got, want)
		}
		if altered := now.altered - since.altered; altered != want.set+want.lifted+want.refused+want.gone {
			return fmt.Errorf("configurations were altered %d times for %+v", altered, got)
		}
		if n := now.unregistrations - since.unregistrations; n != want.gone {
			return fmt.Errorf("there were %d calls to unregister %d brokers", n, want.gone)
		}
		return nil
	}
}

// nothingMore has the operator look at the cluster three times more, and fails
// where these are not all entries since then still.
func (c *cluster) nothingMore(since ledger, want entries) {
	c.t.Helper()
	for range 3 {
		c.oneLook()
	}
	if err := c.booked(since, want)(c.t.Context()); err != nil {
		c.t.Error(err)
	}
}

// oneLook brings a look about by an annotation that means nothing, and waits for
// it.
func (c *cluster) oneLook() {
	c.t.Helper()
	looks := func(ctx context.Context) (int, error) {
		m, err := c.operator.Metrics(ctx)
		return int(m.Sum("sluice_cluster_reconciliations_total")), err
	}
	before, err := looks(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	c.annotateKafka("example.org/look", fmt.Sprint(before))
	c.await(time.Minute, func(ctx context.Context) error {
		now, err := looks(ctx)
		if err == nil && now == before {
			err = fmt.Errorf("no look after the one numbered %d", before)
		}
		return err
	})
}

// gauge waits until a gauge of the operator has that value.
func (c *cluster) gauge(family string, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		m, err := c.operator.Metrics(ctx)
		if err != nil {
			return err
		}
		if got := int(m.Sum(family)); got != want {
			return fmt.Errorf("%s is %d, want %d", family, got, want)
		}
		return nil
	}
}

// told waits until Events since then tell all this, in this order. A line is a
// reason and the beginning of a note.
func (c *cluster) tells(since ledger, lines ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		var said []string
		next := 0
		all, err := c.eventsSince(ctx, since)
		if err != nil {
			return err
		}
		for _, e := range all {
			line := e.Reason + ": " + e.Note
			said = append(said, e.EventTime.Format(time.TimeOnly)+" "+line)
			if next < len(lines) && strings.HasPrefix(line, lines[next]) {
				next++
			}
		}
		if next < len(lines) {
			return fmt.Errorf("no Event %q at its place of %q in:\n%s", lines[next], lines, strings.Join(said, "\n"))
		}
		return nil
	}
}

// eventsSince are those on the Kafka, in their order.
func (c *cluster) eventsSince(ctx context.Context, since ledger) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := c.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.Kind != apiv1.KindKafka || e.EventTime.Time.Before(since.at)
	})
	slices.SortFunc(all, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	return all, nil
}

// annotateKafka sets an annotation of the Kafka, or takes it away where the value
// is nil.
func (c *cluster) annotateKafka(key string, value any) {
	c.t.Helper()
	k := &apiv1.Kafka{}
	k.Namespace, k.Name = namespace, name
	c.annotateObject(k, key, value)
}

// annotatePool does so with a pool.
func (c *cluster) annotatePool(pool, key string, value any) {
	c.t.Helper()
	p := &apiv1.KafkaNodePool{}
	p.Namespace, p.Name = namespace, pool
	c.annotateObject(p, key, value)
}

func (c *cluster) annotateObject(o client.Object, key string, value any) {
	c.t.Helper()
	c.mergeInto(o, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
}

func (c *cluster) mergeInto(o client.Object, fields map[string]any) {
	c.t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.client.Patch(c.t.Context(), o, client.RawPatch(types.MergePatchType, body)); err != nil {
		c.t.Fatal(err)
	}
}

// filesCordon waits until the ConfigMaps of exactly these brokers carry the cordon.
func (c *cluster) filesCordon(want ...int32) func(context.Context) error {
	return func(ctx context.Context) error {
		list := &corev1.ConfigMapList{}
		if err := c.client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{apiv1.LabelCluster: name}); err != nil {
			return err
		}
		var got []string
		for _, cm := range list.Items {
			if strings.Contains(cm.Data["server.config"], "\n"+brokerconfig.CordonedLogDirs+"=*\n") {
				got = append(got, cm.Name)
			}
		}
		slices.Sort(got)
		if all := podsOfBrokers(want...); !slices.Equal(got, all) {
			return fmt.Errorf("the cordon is in the ConfigMaps %v, want %v", got, all)
		}
		return nil
	}
}

func podOfBroker(id int32) string { return nodepool.PodName(name, "brokers", id) }

func podsOfBrokers(ids ...int32) []string {
	var pods []string
	for _, id := range ids {
		pods = append(pods, podOfBroker(id))
	}
	return pods
}

// cordonSetTo waits until this is how the broker's cordon is configured in Kafka;
// nil where it is not.
func (c *cluster) cordonSetTo(broker int32, want *string) func(context.Context) error {
	return func(ctx context.Context) error {
		config, err := c.admin.BrokerConfig(ctx, broker)
		if err != nil {
			return err
		}
		value, set := config[brokerconfig.CordonedLogDirs].Synonym(brokerconfig.CordonedLogDirs, observed.SourceBroker)
		if set != (want != nil) || set && value != *want {
			return fmt.Errorf("the cordon of broker %d is set to %q (%t)", broker, value, set)
		}
		return nil
	}
}

// isCordoned waits until exactly these brokers are, in their files and in effect.
func (c *cluster) isCordoned(want ...int32) {
	c.t.Helper()
	c.await(time.Minute, c.filesCordon(want...))
	c.await(time.Minute, c.cordoned(want...))
}

// putOn puts the partitions of a topic, from the first on, on these brokers.
func (c *cluster) putOn(topic string, replicas ...[]int32) {
	c.t.Helper()
	var req kadm.AlterPartitionAssignmentsReq
	for i, r := range replicas {
		req.Assign(topic, int32(i), r)
	}
	c.await(time.Minute, func(ctx context.Context) error {
		answer, err := c.kadm.AlterPartitionAssignments(ctx, req)
		if err != nil {
			return err
		}
		return answer.Error()
	})
	c.await(time.Minute, func(ctx context.Context) error {
		all, err := c.admin.Partitions(ctx)
		if err != nil {
			return err
		}
		for _, p := range all {
			if p.Topic == topic && int(p.ID) < len(replicas) && !slices.Equal(p.Replicas, replicas[p.ID]) {
				return fmt.Errorf("partition %s-%d is on %v, wanted on %v", topic, p.ID, p.Replicas, replicas[p.ID])
			}
		}
		return nil
	})
}

// drainOnto moves all replicas off some brokers onto others.
func (c *cluster) drainOnto(to []int32, from ...int32) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	if err := (mover.Mover{Client: c.kadm}).Drain(ctx, from, to); err != nil {
		c.t.Fatal(err)
	}
}
