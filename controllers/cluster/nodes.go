package cluster

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
	"github.com/sluice-kafka/sluice/internal/observed"
)

// maxNodes bounds a pool: a slip of the keyboard should not make a million pods.
// It is what admission assumes too.
const maxNodes = 1000

// poolNodes is what becomes of the nodes of a pool.
type poolNodes struct {
	pool *kafkav1.KafkaNodePool
	nodepool.Assignment
	// broker and controller are the roles that its nodes are wanted to have.
	broker, controller bool
	// wasBroker tells that the nodes are brokers until now: as long as it differs
	// from broker, the change of their role is not committed.
	wasBroker bool
}

// layout is what becomes of the nodes of a cluster before the guard has its say.
type layout struct {
	pools []poolNodes
	// leaving are the nodes whose removal is committed and that are not gone, by ID.
	leaving map[int32]leaver
}

// leaver is a node on its way out, or one that is a broker no more.
type leaver struct {
	id int32
	// pool that it was made for; empty where nothing tells.
	pool string
	// broker tells that it may be registered with Kafka.
	broker bool
	// staysController tells that only its role as a broker goes.
	staysController bool
}

// isLive tells of a pod that is not being deleted.
func isLive(pod *corev1.Pod) bool { return pod != nil && pod.DeletionTimestamp == nil }

func hasRole(pool *kafkav1.KafkaNodePool, role string) bool {
	return slices.Contains(pool.Spec.Roles, role)
}

// nodeIDOf reads the node ID out of the name of something that belongs to a node
// of the pool, by the pod's name with which it ends.
func nodeIDOf(o client.Object, cluster, pool string) (int32, bool) {
	name := o.GetName()
	prefix := cluster + "-" + pool + "-"
	i := strings.LastIndex(name, prefix)
	if i < 0 || i > 0 && name[i-1] != '-' {
		return 0, false
	}
	id, err := strconv.ParseInt(name[i+len(prefix):], 10, 32)
	if err != nil || id < 0 || nodepool.PodName(cluster, pool, int32(id)) != name[i:] {
		return 0, false
	}
	return int32(id), true
}

// idsOf are the node IDs of those of a pool's objects that pass, ascending.
func idsOf[T client.Object](objects map[string]T, cluster, pool string, keep func(T) bool) []int32 {
	var ids []int32
	for _, o := range objects {
		if o.GetLabels()[kafkav1.LabelPoolName] != pool || !keep(o) {
			continue
		}
		if id, ok := nodeIDOf(o, cluster, pool); ok {
			ids = append(ids, id)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// statusIDs leaves out what cannot be the ID of a node.
func statusIDs(pool *kafkav1.KafkaNodePool) []int32 {
	var ids []int32
	for _, id := range pool.Status.NodeIDs {
		if id >= 0 && id == int64(int32(id)) {
			ids = append(ids, int32(id))
		}
	}
	return ids
}

// currentIDs are the nodes that a pool has. A pod that nobody deleted counts even
// if no status names it: between the commitment of a removal and the deletion of
// the pods an operator may have died. Claims count only for a pool without any
// status, which was restored: those of removed nodes may be kept for ever.
func (s *state) currentIDs(pool *kafkav1.KafkaNodePool) []int32 {
	ids := append(statusIDs(pool), idsOf(s.pods, s.kafka.Name, pool.Name, isLive)...)
	if len(pool.Status.NodeIDs) == 0 && pool.Status.ClusterID == "" && pool.Status.ObservedGeneration == 0 {
		ids = append(ids, idsOf(s.claims, s.kafka.Name, pool.Name, all[*corev1.PersistentVolumeClaim])...)
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

func all[T any](T) bool { return true }

// runsAsBroker tells the role that a node's running pod has; a node without a pod
// has none.
func (s *state) runsAsBroker(pod string) (broker, running bool) {
	p := s.pods[pod]
	if p == nil {
		return false, false
	}
	return p.Labels[kafkav1.LabelBrokerRole] == "true", true
}

// wasBroker tells whether a pool's nodes are brokers until now. The status tells,
// which commits a change of roles; where it was lost, the pods do.
func (s *state) wasBroker(pool *kafkav1.KafkaNodePool) bool {
	if len(pool.Status.Roles) > 0 {
		return slices.Contains(pool.Status.Roles, kafkav1.RoleBroker)
	}
	for _, p := range s.pods {
		if p.Labels[kafkav1.LabelPoolName] == pool.Name && isLive(p) && p.Labels[kafkav1.LabelBrokerRole] == "true" {
			return true
		}
	}
	return false
}

// layOut assigns the nodes. back are the IDs that have to be put back: replicas
// came to them after their removal had been committed.
func layOut(s *state, registration observed.Of[observed.Registration], back map[int32]string) layout {
	var pools []nodepool.Pool
	taken := map[int32]bool{}
	known, seen := registration.Get()
	for _, b := range known.Brokers {
		taken[b.ID] = true
	}
	out := layout{leaving: map[int32]leaver{}}
	current := map[int32]bool{}
	for _, pool := range s.pools {
		n := poolNodes{
			pool: pool, broker: hasRole(pool, kafkav1.RoleBroker), controller: hasRole(pool, kafkav1.RoleController),
			wasBroker: s.wasBroker(pool),
		}
		ids := s.currentIDs(pool)
		for id, name := range back {
			if name == pool.Name {
				n.wasBroker = true
				ids = append(ids, id)
			}
		}
		for _, id := range ids {
			current[id] = true
		}
		out.pools = append(out.pools, n)
		pools = append(pools, wantedPool(n, ids))
		for _, id := range s.tracesOf(pool) {
			taken[id] = true
		}
	}
	assigned := nodepool.Assign(pools, slices.Sorted(maps.Keys(taken)))
	for i := range out.pools {
		out.pools[i].Assignment = assigned[out.pools[i].pool.Name]
	}
	s.findLeaving(&out, current)
	if seen {
		s.findStrays(&out, current, known)
	}
	return out
}

// wantedPool is a pool in the form that the assignment takes. A pool that is being
// deleted wants no nodes, and one that does not say how many keeps what it has.
func wantedPool(n poolNodes, current []int32) nodepool.Pool {
	// A list that cannot be read is refused elsewhere and counts as none.
	next, _ := nodepool.ParseIDs(n.pool.Annotations[kafkav1.AnnotationNextNodeIDs])
	remove, _ := nodepool.ParseIDs(n.pool.Annotations[kafkav1.AnnotationRemoveNodeIDs])
	replicas := int64(len(current))
	switch {
	case n.pool.DeletionTimestamp != nil:
		replicas = 0
	case n.pool.Spec.Replicas != nil:
		replicas = min(*n.pool.Spec.Replicas, max(maxNodes, replicas))
	}
	return nodepool.Pool{
		Name: n.pool.Name, Replicas: replicas, Current: current, Next: next, Remove: remove,
		Broker: n.broker, WasBroker: n.wasBroker,
	}
}

// tracesOf are the nodes of which anything is left that goes with its node: while
// it is there their IDs are not free.
func (s *state) tracesOf(pool *kafkav1.KafkaNodePool) []int32 {
	ids := idsOf(s.pods, s.kafka.Name, pool.Name, all[*corev1.Pod])
	ids = append(ids, idsOf(s.configMaps, s.kafka.Name, pool.Name, all[*corev1.ConfigMap])...)
	return append(ids, idsOf(s.claims, s.kafka.Name, pool.Name, s.goesWithNode)...)
}

// goesWithNode tells of a claim that is deleted with its node: the Kafka owns it.
func (s *state) goesWithNode(claim *corev1.PersistentVolumeClaim) bool {
	for _, o := range claim.OwnerReferences {
		if o.UID == s.kafka.UID {
			return true
		}
	}
	return false
}

// findLeaving finds nodes that were taken out of the status, and nodes that stay
// as controllers and are registered as brokers still.
func (s *state) findLeaving(out *layout, current map[int32]bool) {
	for _, n := range out.pools {
		for _, id := range s.tracesOf(n.pool) {
			if current[id] {
				continue
			}
			pod := nodepool.PodName(s.kafka.Name, n.pool.Name, id)
			broker := true
			if cm := s.configMaps[pod]; cm != nil {
				broker = cm.Labels[kafkav1.LabelBrokerRole] != "false"
			} else if p := s.pods[pod]; p != nil {
				broker = p.Labels[kafkav1.LabelBrokerRole] != "false"
			}
			out.leaving[id] = leaver{id: id, pool: n.pool.Name, broker: broker}
		}
		if n.broker || n.wasBroker {
			continue
		}
		for _, id := range n.Desired {
			if broker, _ := s.runsAsBroker(nodepool.PodName(s.kafka.Name, n.pool.Name, id)); broker {
				out.leaving[id] = leaver{id: id, pool: n.pool.Name, broker: true, staysController: true}
			}
		}
	}
}

// findStrays finds brokers that are registered, and that nothing in Kubernetes
// tells of as brokers any more.
func (s *state) findStrays(out *layout, current map[int32]bool, known observed.Registration) {
	controllers := map[int32]string{}
	for _, n := range out.pools {
		if n.broker || n.wasBroker {
			continue
		}
		for _, id := range n.Desired {
			controllers[id] = n.pool.Name
		}
	}
	pods := s.guardedPods()
	for _, b := range known.Brokers {
		if _, found := out.leaving[b.ID]; found {
			continue
		}
		pool, isController := controllers[b.ID]
		_, hasPod := pods[b.ID]
		if isController || b.Fenced && !current[b.ID] && !hasPod {
			out.leaving[b.ID] = leaver{id: b.ID, pool: pool, broker: true, staysController: isController}
		}
	}
}
