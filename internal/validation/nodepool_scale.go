package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// assignment is what this update makes of all known nodes of the cluster.
func (in poolInput) assignment() (pools []*apiv1.KafkaNodePool, all map[string]nodepool.Assignment) {
	judged := in.pool.DeepCopy()
	judged.Status = in.observed()
	pools = withPool(in.facts.Pools, judged)
	was := func(p *apiv1.KafkaNodePool) bool {
		return slices.Contains(p.Status.Roles, apiv1.RoleBroker) || p.Name == in.pool.Name && in.wasBroker()
	}
	return pools, assigned(pools, was, in.facts.Seen)
}

// scalesDown tells whether this update lowers the number of brokers of the pool.
func (in poolInput) scalesDown() bool {
	if !in.wasBroker() || !isBroker(in.pool) {
		return false
	}
	was, ok1 := wantedReplicas(in.old)
	now, ok2 := wantedReplicas(in.pool)
	return ok1 && ok2 && now < was
}

// losesRole tells whether this update takes the broker role away.
func (in poolInput) losesRole() bool {
	return in.wasBroker() && len(in.pool.Spec.Roles) > 0 && !isBroker(in.pool)
}

func poolScaleDown(in poolInput) []Finding {
	if !in.scalesDown() {
		return nil
	}
	now, _ := wantedReplicas(in.pool)
	f := Finding{Path: field.NewPath("spec", "replicas"), Value: strconv.FormatInt(now, 10)}
	if len(in.observed().NodeIDs) == 0 {
		was, _ := wantedReplicas(in.old)
		f.Message = fmt.Sprintf("%s would leave; which, and what they hold, is not known", counted(was-now, "broker"))
		return []Finding{f}
	}
	_, all := in.assignment()
	leaving := all[in.pool.Name].Removed
	if len(leaving) == 0 {
		return nil
	}
	f.Message = in.leave(leaving, "leave the cluster")
	return []Finding{f}
}

func poolBrokerRoleRemoved(in poolInput) []Finding {
	if !in.losesRole() {
		return nil
	}
	f := Finding{Path: field.NewPath("spec", "roles"), Value: strings.Join(in.pool.Spec.Roles, ","), Message: "the pool's nodes would be no brokers any more"}
	if ids := nodeIDs(in.observed().NodeIDs); len(ids) > 0 {
		f.Message = in.leave(ids, "lose the role of a broker")
	}
	return []Finding{f}
}

// leave says what becomes of brokers and of what they hold.
func (in poolInput) leave(ids []int32, what string) string {
	text, hold, held := fmt.Sprintf("%s would %s; ", brokerList(ids), what), "they hold ", "they held "
	if len(ids) == 1 {
		hold, held = "it holds ", "it held "
	}
	var replicas, bytes int64
	sized := in.facts.Seen != nil
	for _, id := range ids {
		if in.facts.Seen == nil {
			return text + "how many replicas are on them is not known"
		}
		b, _ := in.facts.Seen.Broker(id)
		n, ok := b.Held()
		if !ok {
			return text + fmt.Sprintf("how many replicas broker %d holds is not known", id)
		}
		replicas += n
		size, ok := b.Bytes()
		bytes, sized = bytes+size, sized && ok
	}
	if replicas == 0 {
		// What was seen may be two minutes old: nothing is promised here.
		return text + held + "no replicas when last looked at"
	}
	text += hold + counted(replicas, "replica")
	if sized {
		text += " of " + sizeText(bytes)
	}
	if skipsCheck(in.facts.Kafka) {
		return text + ", which are lost: " + apiv1.AnnotationSkipScaleDownCheck + " on the Kafka switches the check off"
	}
	return text + ", which have to move to other brokers first"
}

func skipsCheck(k *apiv1.Kafka) bool {
	return k != nil && k.Annotations[apiv1.AnnotationSkipScaleDownCheck] == "true"
}

// poolScaleDownNeverEnds: a partition never has two replicas on one broker, so
// with fewer brokers than the factor the last replicas have nowhere to go.
func poolScaleDownNeverEnds(in poolInput) []Finding {
	seen, k := in.facts.Seen, in.facts.Kafka
	if k == nil || seen == nil || seen.HighestFactor == nil || skipsCheck(k) || !in.scalesDown() && !in.losesRole() {
		return nil
	}
	remain, highest := in.remaining(), seen.HighestFactor
	if remain >= highest.Factor {
		return nil
	}
	f := Finding{
		Severity: Refuse, Path: field.NewPath("spec", "replicas"), Element: highest.Topic,
		Message: fmt.Sprintf("only %s would remain, and topic %s has replication factor %d, so its replicas could never move away and this would never end: "+
			"keep %d or more, or lower the factor of the topic first", counted(remain, "broker"), shown(highest.Topic), highest.Factor, highest.Factor),
	}
	if in.losesRole() {
		f.Path, f.Value = field.NewPath("spec", "roles"), strings.Join(in.pool.Spec.Roles, ",")
		return []Finding{f}
	}
	now, _ := wantedReplicas(in.pool)
	f.Value = strconv.FormatInt(now, 10)
	return []Finding{f}
}

// remaining counts the brokers that there are or will be, without those that are
// going. One whose pool is not known stays.
func (in poolInput) remaining() int64 {
	pools, all := in.assignment()
	brokers := in.facts.Seen.IDs()
	for _, p := range pools {
		a := all[p.Name]
		for _, id := range slices.Concat(a.Removed, a.UsedToBeBroker) {
			delete(brokers, id)
		}
		if isBroker(p) {
			for _, id := range a.Desired {
				brokers[id] = true
			}
		}
	}
	return int64(len(brokers))
}

// controllersOf is how many controllers a pool asks for.
func controllersOf(p *apiv1.KafkaNodePool) (int64, bool) {
	if !isController(p) {
		return 0, true
	}
	return wantedReplicas(p)
}

// poolControllersChanged: the voters of a static quorum are the same for its
// whole life (controller.quorum.voters; a dynamic one is KIP-853).
func poolControllersChanged(in poolInput) []Finding {
	k := in.facts.Kafka
	if k == nil || k.Status.ClusterID == "" {
		return nil
	}
	now, known := controllersOf(in.pool)
	var was int64
	if in.old != nil && known {
		was, known = controllersOf(in.old)
	}
	if !known || now == was {
		return nil
	}
	f := Finding{
		Path: field.NewPath("spec", "replicas"), Value: strconv.FormatInt(now, 10),
		// A pool of a cluster that is being set up may arrive after its Kafka runs.
		Joining: in.old == nil,
		Message: fmt.Sprintf("the number of controllers of a running cluster cannot change, and this pool would have %d in place of %d: "+
			"leave it as it is", now, was),
	}
	if in.old != nil && isController(in.old) != isController(in.pool) {
		f.Path, f.Value = field.NewPath("spec", "roles"), strings.Join(in.pool.Spec.Roles, ",")
	}
	if k.HandedOver() {
		f.Severity = Refuse
	}
	return []Finding{f}
}

// poolControllersEven: a quorum of 2n voters stands no more failures than one of
// 2n−1.
func poolControllersEven(in poolInput) []Finding {
	if !isController(in.pool) {
		return nil
	}
	var total int64
	for _, p := range withPool(in.facts.Pools, in.pool) {
		n, ok := controllersOf(p)
		if !ok {
			return nil
		}
		total += min(n, maxNodes)
	}
	if total == 0 || total%2 == 1 {
		return nil
	}
	return []Finding{{
		Path: field.NewPath("spec", "replicas"), Element: strconv.FormatInt(total, 10), Value: strconv.FormatInt(total, 10),
		Message: fmt.Sprintf("the cluster would have %d controllers, an even number, which stands no more failures than %d: "+
			"use an odd number, usually 3", total, total-1),
	}}
}
