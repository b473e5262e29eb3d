package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/brokerpod"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/scaledown"
)

// plan is what a cluster needs.
type plan struct {
	layout   layout
	versions versions
	// guard says which brokers are cordoned, held and drained.
	guard scaledown.Decision
	// departure is what becomes of those whose removal is committed.
	departure scaledown.Departure
	// back are the pools of those of them that are put back, by ID.
	back map[int32]string
	// faults are why nothing may be touched but for guarding and cordoning.
	faults []string
	// awaitsPools tells that nothing is wrong but that a new cluster's pools are not
	// all there yet.
	awaitsPools bool
	// waits is why a removal that the guard lets go waits all the same.
	waits string
	// members are the nodes that there are to be, by ID.
	members []member
	// removed are the nodes whose removal is committed in this turn, by ID.
	removed []nodepool.Node
	// cordoned are all brokers that are to take no new replicas.
	cordoned map[int32]bool
	// pools are the statuses by which nodes and their roles are committed, by the
	// pool's name.
	pools map[string]commitment
	// added are new brokers, ascending.
	added []int32
}

// commitment is what a pool's status says of its nodes.
type commitment struct {
	nodeIDs []int64
	roles   []string
}

// member is a node that there is to be, with what it is made of.
type member struct {
	nodepool.Node
	pool *kafkav1.KafkaNodePool
	// input and file are what its objects and its configuration follow from.
	input brokerpod.Input
	file  brokerconfig.File
	// configMap, claims and pod as they are wanted; err is why they cannot be made.
	configMap *corev1.ConfigMap
	claims    []*corev1.PersistentVolumeClaim
	pod       *corev1.Pod
	err       error
}

// decide makes the plan of a cluster from what was seen of it. It is pure.
func decide(s *state, seen observed.Cluster, memory scaledown.Memory, opts Options) *plan {
	p := &plan{versions: decideVersions(s.kafka, seen.Features), pools: map[string]commitment{}}
	skip := s.kafka.Annotations[kafkav1.AnnotationSkipScaleDownCheck] == "true"
	in := scaledown.Input{
		Pods: s.guardedPods(), Seen: seen, VersionCordons: p.versions.cordons(), Skip: skip, Memory: memory,
		Interval: opts.EmptyFor, UncordonedInterval: opts.EmptyForUncordoned,
	}
	p.layout = layOut(s, seen.Registration, nil)
	in.Leaving = p.layout.leavingBrokers()
	p.departure = scaledown.Slipped(in)
	if p.back = p.layout.backTo(p.departure); len(p.back) > 0 {
		p.layout = layOut(s, seen.Registration, p.back)
		in.Leaving = p.layout.leavingBrokers()
	}
	in.Removing, in.LosingRole = p.layout.goingBrokers(s)
	p.guard = scaledown.Decide(in)
	faults, missing := faultsOf(s)
	p.faults = slices.Concat(faults, missing)
	p.awaitsPools = len(faults) == 0 && len(missing) > 0 && s.kafka.Status.ClusterID == ""
	if !skip {
		p.waits = rebalancing(s)
	}
	p.settle(s)
	p.forgetAll(s)
	p.compose(s)
	return p
}

// forgetAll lets the last brokers of a cluster go without a word of Kafka's: once
// none runs and none is to run, nobody is left who could be asked, or who could
// unregister them.
func (p *plan) forgetAll(s *state) {
	for _, m := range p.members {
		if m.Broker {
			return
		}
	}
	for _, pod := range s.pods {
		if pod.Labels[kafkav1.LabelBrokerRole] == "true" {
			return
		}
	}
	for _, v := range p.departure.Wait {
		p.departure.Gone = append(p.departure.Gone, v.ID)
	}
	p.departure.Wait = nil
}

// guardedPods are all pods of nodes, those that terminate included, by node ID.
func (s *state) guardedPods() map[int32]scaledown.Pod {
	pods := map[int32]scaledown.Pod{}
	for _, pod := range s.pods {
		if id, ok := nodeIDOf(pod, s.kafka.Name, pod.Labels[kafkav1.LabelPoolName]); ok {
			pods[id] = scaledown.Pod{Ready: isReady(pod), Broker: pod.Labels[kafkav1.LabelBrokerRole] == "true"}
		}
	}
	return pods
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && isLive(pod)
		}
	}
	return false
}

func (l layout) leavingBrokers() []int32 {
	var ids []int32
	for id, n := range l.leaving {
		if n.broker {
			ids = append(ids, id)
		}
	}
	return slices.Sorted(slices.Values(ids))
}

// backTo are the nodes to put back, with their pools. One whose pool is not known
// cannot be.
func (l layout) backTo(d scaledown.Departure) map[int32]string {
	back := map[int32]string{}
	for _, v := range d.Back {
		if pool := l.leaving[v.ID].pool; pool != "" {
			back[v.ID] = pool
		}
	}
	return back
}

// goingBrokers are the brokers whose removal, or whose loss of that role, is not
// committed.
func (l layout) goingBrokers(s *state) (removing, losing []int32) {
	for _, n := range l.pools {
		for _, id := range n.Removed {
			broker, running := s.runsAsBroker(nodepool.PodName(s.kafka.Name, n.pool.Name, id))
			if broker || !running && (n.wasBroker || n.broker) {
				removing = append(removing, id)
			}
		}
		losing = append(losing, n.UsedToBeBroker...)
	}
	slices.Sort(removing)
	slices.Sort(losing)
	return removing, losing
}

// held tells whether removals are reverted in the model.
func (p *plan) held() bool { return len(p.guard.Held) > 0 || p.waits != "" || len(p.faults) > 0 }

// settle applies the guard's decision to the model: while anything holds a removal
// back none of it happens, and everything that follows sees the nodes and the
// roles from before.
func (p *plan) settle(s *state) {
	held := p.held()
	for _, n := range p.layout.pools {
		desired := n.Desired
		if held && len(n.Removed) > 0 {
			desired = slices.Sorted(slices.Values(append(slices.Clone(n.Current), n.Added...)))
		}
		broker := n.broker || n.wasBroker && held && len(n.UsedToBeBroker) > 0
		for _, id := range desired {
			p.members = append(p.members, member{pool: n.pool, Node: nodepool.Node{
				ID: id, Pool: n.pool.Name, Pod: nodepool.PodName(s.kafka.Name, n.pool.Name, id), Broker: broker, Controller: n.controller,
			}})
		}
		for _, id := range n.Removed {
			if !held {
				p.removed = append(p.removed, nodepool.Node{
					ID: id, Pool: n.pool.Name, Pod: nodepool.PodName(s.kafka.Name, n.pool.Name, id), Broker: broker, Controller: n.controller,
				})
			}
		}
		if n.broker {
			p.added = append(p.added, n.Added...)
		}
		p.pools[n.pool.Name] = commitmentOf(n, desired, broker)
	}
	slices.Sort(p.added)
	slices.SortFunc(p.members, func(a, b member) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(p.removed, func(a, b nodepool.Node) int { return cmp.Compare(a.ID, b.ID) })
	p.cordoned = p.wantedCordon(s.kafka)
}

func commitmentOf(n poolNodes, ids []int32, broker bool) commitment {
	var c commitment
	for _, id := range ids {
		c.nodeIDs = append(c.nodeIDs, int64(id))
	}
	if n.controller {
		c.roles = append(c.roles, kafkav1.RoleController)
	}
	if broker {
		c.roles = append(c.roles, kafkav1.RoleBroker)
	}
	return c
}

// wantedCordon is the union of the brokers that are to go and those that are
// cordoned by hand: taking the annotation away uncordons the others alone.
func (p *plan) wantedCordon(kafka *kafkav1.Kafka) map[int32]bool {
	cordoned := map[int32]bool{}
	for _, id := range p.guard.Cordon {
		cordoned[id] = true
	}
	// A list that cannot be read is a fault of the Kafka.
	byHand, _ := nodepool.ParseCordon(kafka.Annotations[kafkav1.AnnotationCordon])
	for _, m := range p.members {
		if m.Broker && byHand.Contains(m.ID) {
			cordoned[m.ID] = true
		}
	}
	return cordoned
}

// compose makes what each member is made of.
func (p *plan) compose(s *state) {
	var controllers []nodepool.Node
	for _, m := range p.members {
		if m.Controller {
			controllers = append(controllers, m.Node)
		}
	}
	for i := range p.members {
		m := &p.members[i]
		m.file = brokerconfig.Render(brokerconfig.Input{
			Kafka: s.kafka, Pool: m.pool, Node: m.Node, Controllers: controllers,
			Version: p.versions.run, Cordoned: p.cordoned[m.ID],
		})
		m.input = brokerpod.Input{
			Kafka: s.kafka, Pool: m.pool, Node: m.Node, Version: p.versions.run,
			ClusterID: s.kafka.Status.ClusterID, ConfigurationHash: m.file.Hash(),
		}
		if m.claims, m.err = brokerpod.Claims(m.input); m.err != nil {
			continue
		}
		m.pod, m.err = brokerpod.Pod(m.input)
		m.configMap = brokerpod.ConfigMap(m.input, m.file.Text(), p.versions.metadata, s.rackFor(m))
	}
}

// rebalancing says which rebalance of the cluster's own has to end before brokers
// go; empty where none has to.
func rebalancing(s *state) string {
	for _, r := range s.rebalances {
		if !strings.HasPrefix(r.Name, s.kafka.Name+"-auto-rebalancing-") {
			continue
		}
		for _, c := range r.Status.Conditions {
			if slices.Contains(activeRebalance, c.Type) && c.Status != "False" {
				return fmt.Sprintf("KafkaRebalance %s is %s", r.Name, c.Type)
			}
		}
	}
	return ""
}

// activeRebalance are the states of a KafkaRebalance in which replicas are moved
// or are about to be.
var activeRebalance = []string{"New", "PendingProposal", "ProposalReady", "Rebalancing"}
