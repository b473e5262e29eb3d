package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// cordonOption is what a cordon is set with.
const cordonOption = "cordoned.log.dirs"

// tally is what the operator has done to Kafka since it was started.
type tally struct {
	// set, lifted and refused count changes of cordons.
	set, lifted, refused int
	// alters counts calls that change options, of cordons included; clears of brokers
	// that leave too.
	alters int
	// unregistered brokers, and pods that were restarted.
	unregistered, restarted int
}

func (c *cluster) tally() tally {
	c.t.Helper()
	m, err := c.operator.Metrics(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	cordons := func(change string) int {
		return int(m.Sum("sluice_cluster_cordon_changes_total", "change="+change))
	}
	return tally{
		set: cordons("set"), lifted: cordons("lifted"), refused: cordons("refused"),
		alters:       int(m.Sum("sluice_cluster_admin_call_duration_seconds", "api=IncrementalAlterConfigs")),
		unregistered: int(m.Sum("sluice_cluster_unregistered_brokers_total")),
		restarted:    int(m.Sum("sluice_cluster_restarts_total")),
	}
}

// did fails unless the operator did exactly that since an earlier reading.
func (c *cluster) did(since, want tally) {
	c.t.Helper()
	now := c.tally()
	got := tally{
		set: now.set - since.set, lifted: now.lifted - since.lifted, refused: now.refused - since.refused,
		alters: now.alters - since.alters, unregistered: now.unregistered - since.unregistered, restarted: now.restarted - since.restarted,
	}
	if got != want {
		c.t.Errorf("the operator did %+v, want %+v", got, want)
	}
}

// looks waits until the operator has looked at the cluster so many times more.
func (c *cluster) looks(times int) {
	c.t.Helper()
	count := func() float64 {
		m, err := c.operator.Metrics(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		return m.Sum("sluice_cluster_reconciliations_total")
	}
	for range times {
		before := count()
		c.mergePatch(fmt.Sprintf(`{"metadata":{"annotations":{"example.org/seen":"%d"}}}`, time.Now().UnixNano()))
		c.await(slow, func(context.Context) error {
			if count() == before {
				return fmt.Errorf("the operator has not looked at the cluster")
			}
			return nil
		})
	}
}

// mergePatch changes the Kafka.
func (c *cluster) mergePatch(body string) {
	c.t.Helper()
	k := &apiv1.Kafka{}
	k.Namespace, k.Name = namespace, name
	if err := c.client.Patch(c.t.Context(), k, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		c.t.Fatal(err)
	}
}

// cordonConfig is what a broker says of the option: its synonyms, most specific
// first.
func (c *cluster) cordonConfig(ctx context.Context, broker int32) (observed.ConfigEntry, error) {
	config, err := c.admin.BrokerConfig(ctx, broker)
	if err != nil {
		return observed.ConfigEntry{}, err
	}
	option, ok := config[cordonOption]
	if !ok {
		return option, fmt.Errorf("broker %d does not tell of %s", broker, cordonOption)
	}
	return option, nil
}

// reasons are those of the Events on the Kafka in their order, each as often as an
// Event with another text came.
func (c *cluster) reasons(ctx context.Context) ([]string, error) {
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
	var reasons []string
	for _, e := range events {
		reasons = append(reasons, e.Reason)
	}
	return reasons, nil
}

// toldInOrder waits until Events with these reasons came, one after another, others
// between them or not.
func (c *cluster) toldInOrder(want ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := c.reasons(ctx)
		if err != nil {
			return err
		}
		left := want
		for _, r := range got {
			if len(left) > 0 && r == left[0] {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("the Events are %s, and %s is missing", strings.Join(got, ", "), left[0])
		}
		return nil
	}
}

// brokerPod is the name of a broker's pod.
func brokerPod(id int32) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: fmt.Sprintf("%s-brokers-%d", name, id)}
}
