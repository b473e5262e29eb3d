package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/internal/observed"
)

// turn is one look at a cluster and what is done about it.
type turn struct {
	*reconciler
	*state
	key    key
	admin  Admin
	memory *memory
	seen   observed.Cluster
	plan   *plan
	// objects are what Kubernetes lacks, as the plan has it.
	objects objects
	// brokers are what the configurations of brokers lack; nil until it is asked.
	brokers []brokerChange
	// warnings are what is told in conditions, besides what the plan says itself.
	warnings []warning
	// stopped tells that pods were deleted in this turn.
	stopped bool
	// soon tells that Kafka is waited for, which sends no events.
	soon bool
}

// warning is a condition of type Warning.
type warning struct {
	reason, message string
}

func (t *turn) warn(reason, format string, args ...any) {
	t.warnings = append(t.warnings, warning{reason: reason, message: fmt.Sprintf(format, args...)})
}

func labelsOf(o client.Object) labels.Set { return o.GetLabels() }

// step is one thing that is done for a cluster.
type step struct {
	name string
	do   func(*turn, context.Context) error
	// needed tells that nothing that follows may be done without it.
	needed bool
	// always tells that it is done for resources with faults too.
	always bool
}

// steps in the order in which they are done:
//
//  1. The cluster's ID is written before there is a plan (see identify), and the
//     pools' finalizers before anything is made: a disk that was formatted with an ID
//     that nobody kept is lost, and so are the replicas of a pool that is deleted
//     before anybody could hold it.
//  2. The node IDs are written down before the nodes are made, so that a node is
//     never given another ID; and before they are removed, so that a removal goes on
//     after a crash.
//  3. The services give the pods their names, the ConfigMaps their options and the
//     claims their disks: all of these before the pods.
//  4. The cordon comes before all other options, in calls of its own: one option
//     that is refused fails its whole call, and nothing is as urgent as that a
//     broker that is to be emptied takes no new replicas.
//  5. The rebalancer hears of it after every cordon was answered, also by a refusal,
//     or it would move replicas onto brokers that are about to be cordoned.
//  6. Removals come before restarts: a node that is about to go is not restarted
//     first. Those that have left are seen off after their pods are gone.
//  7. A restart is last of what touches pods: it counts which of them are away.
//  8. The metadata version rises when all nodes run the new version, which the
//     restarts bring about.
//  9. The facts and the statuses tell of all this.
var steps = []step{
	{name: "keep pools", do: (*turn).keepPools, needed: true},
	{name: "commit nodes", do: (*turn).commitNodes, needed: true},
	{name: "make services", do: (*turn).makeServices},
	{name: "make nodes", do: (*turn).makeNodes},
	{name: "make disruption budget", do: (*turn).makeBudget},
	{name: "cordon", do: (*turn).cordon, always: true},
	{name: "configure", do: (*turn).configure},
	{name: "rebalance", do: (*turn).rebalance, always: true},
	{name: "remove nodes", do: (*turn).removeNodes},
	{name: "see off", do: (*turn).seeOff},
	{name: "release pools", do: (*turn).releasePools},
	{name: "restart", do: (*turn).restart},
	{name: "raise metadata version", do: (*turn).raiseMetadataVersion},
	{name: "publish facts", do: (*turn).publishFacts, always: true},
}

// apply does the steps. One that fails stops only what cannot do without it; the
// statuses are written in any case.
func (t *turn) apply(ctx context.Context) error {
	var failures []error
	for _, s := range steps {
		if len(t.plan.faults) > 0 && !s.always {
			continue
		}
		err := s.do(t, ctx)
		if err == nil {
			continue
		}
		failures = append(failures, fmt.Errorf("%s: %w", s.name, err))
		if s.needed || ctx.Err() != nil {
			break
		}
	}
	t.tellOfGuard()
	if err := t.writeStatuses(ctx, errors.Join(failures...)); err != nil {
		failures = append(failures, fmt.Errorf("write statuses: %w", err))
	}
	return errors.Join(failures...)
}

// writes tells whether the plan changes anything but statuses that only tell.
func (t *turn) writes() bool {
	if len(t.plan.faults) > 0 {
		return false
	}
	objects, err := t.plan.changes(t.state)
	if err != nil || objects.any() || len(t.plan.removed) > 0 || len(t.plan.layout.leaving) > 0 {
		return true
	}
	return t.kafka.Status.ClusterID == "" || len(t.poolsToKeep())+len(t.poolsToRelease()) > 0 ||
		len(t.uncommitted()) > 0 || t.needsRestart()
}

// lookAgain is when to look at the cluster without any event.
func (t *turn) lookAgain() time.Duration {
	after := t.opts.LookInterval
	if t.soon || len(t.plan.guard.Cordon) > 0 || len(t.plan.layout.leaving) > 0 || len(t.plan.removed) > 0 {
		after = t.opts.WatchInterval
	}
	if d := t.plan.guard.RequeueAfter; d > 0 {
		after = min(after, d)
	}
	return after
}
