package validation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func roles(list ...string) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) { p.Spec.Roles = list }
}

func annotated(key, value string) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) { p.Annotations = map[string]string{key: value} }
}

func storage(typ, size string) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) {
		p.Spec.Storage = &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: typ, Size: size}}
	}
}

// jbod has persistent claims, each "id:size"; an ID of - is none.
func jbod(volumes ...string) mod[apiv1.KafkaNodePool] {
	return func(p *apiv1.KafkaNodePool) {
		p.Spec.Storage = &apiv1.Storage{SingleVolume: apiv1.SingleVolume{Type: apiv1.StorageJBOD}}
		for _, v := range volumes {
			id, size, _ := strings.Cut(v, ":")
			volume := apiv1.SingleVolume{Type: apiv1.StoragePersistentClaim, Size: size}
			if id != "-" {
				n := int64(id[0] - '0')
				volume.ID = &n
			}
			p.Spec.Storage.Volumes = append(p.Spec.Storage.Volumes, volume)
		}
	}
}

func bySluice(k *apiv1.Kafka) {
	k.Annotations = map[string]string{apiv1.AnnotationSluiceManaged: "true"}
}

// running is a Kafka whose nodes have formed a cluster.
func running(k *apiv1.Kafka) { k.Status.ClusterID = "abc" }

func skipCheck(k *apiv1.Kafka) {
	k.Annotations = map[string]string{apiv1.AnnotationSkipScaleDownCheck: "true"}
}

// seen is a cluster of these brokers, each with ten replicas on each of two
// volumes, and a topic of the factor.
func seen(factor int64, brokers ...int32) *facts.Facts {
	f := &facts.Facts{ObservedAt: time.Unix(1, 0), HighestFactor: &facts.TopicFactor{Topic: "orders", Factor: factor}}
	for _, id := range brokers {
		twenty := int64(20)
		f.Brokers = append(f.Brokers, facts.Broker{ID: id, Replicas: &twenty, Volumes: []facts.Volume{
			{ID: 0, Replicas: 10, Bytes: 1_500_000_000}, {ID: 1, Replicas: 10, Bytes: 0},
		}})
	}
	return f
}

func TestPoolAlone(t *testing.T) {
	t.Parallel()
	noLabel := func(p *apiv1.KafkaNodePool) { p.Labels = nil }
	otherCluster := func(p *apiv1.KafkaNodePool) { p.Labels = map[string]string{apiv1.LabelCluster: "other"} }
	for name, tc := range map[string]struct {
		pool, old *apiv1.KafkaNodePool
		want      []string
	}{
		"all is well":       {pool: pool("a", 3, jbod("0:1Gi", "1:1Gi"))},
		"no label":          {pool: pool("a", 3, noLabel), want: []string{"refuse pool-cluster-label-missing metadata.labels[strimzi.io/cluster]"}},
		"no role":           {pool: pool("a", 3, roles()), want: []string{"refuse pool-role-missing spec.roles"}},
		"a role of its own": {pool: pool("a", 3, roles("broker", "voter")), want: []string{"refuse pool-role-unknown spec.roles[1]"}},
		"negative":          {pool: pool("a", -1), want: []string{"refuse pool-replicas-negative spec.replicas"}},
		"none":              {pool: pool("a", 0)},
		"two bad lists": {pool: pool("a", 3, func(p *apiv1.KafkaNodePool) {
			p.Annotations = map[string]string{apiv1.AnnotationNextNodeIDs: "1", apiv1.AnnotationRemoveNodeIDs: "x"}
		}), want: []string{"refuse pool-node-ids-unreadable metadata.annotations[strimzi.io/next-node-ids]", "refuse pool-node-ids-unreadable metadata.annotations[strimzi.io/remove-node-ids]"}},
		"an empty list":      {pool: pool("a", 3, annotated(apiv1.AnnotationNextNodeIDs, "[]"))},
		"disks of no type":   {pool: pool("a", 3, storage("disk", "")), want: []string{"refuse pool-storage-type-unknown spec.storage.type"}},
		"one volume twice":   {pool: pool("a", 3, jbod("0:1Gi", "1:1Gi", "0:1Gi")), want: []string{"refuse pool-volume-id-duplicate spec.storage.volumes[2].id"}},
		"two without IDs":    {pool: pool("a", 3, jbod("-:1Gi", "-:1Gi")), want: []string{"refuse pool-volume-id-duplicate spec.storage.volumes[1].id"}},
		"single volumes":     {pool: pool("a", 3, storage("ephemeral", ""))},
		"another type":       {old: pool("a", 3, storage("ephemeral", "")), pool: pool("a", 3, jbod("0:1Gi")), want: []string{"refuse pool-storage-type-changed spec.storage.type"}},
		"a volume's type":    {old: pool("a", 3, jbod("0:1Gi")), pool: pool("a", 3, jbod("0:1Gi"), func(p *apiv1.KafkaNodePool) { p.Spec.Storage.Volumes[0].Type = "ephemeral" }), want: []string{"refuse pool-storage-type-changed spec.storage.volumes[0].type"}},
		"shrinks":            {old: pool("a", 3, storage("persistent-claim", "2Gi")), pool: pool("a", 3, storage("persistent-claim", "1.5Gi")), want: []string{"refuse pool-storage-shrinks spec.storage.size"}},
		"the same, reworded": {old: pool("a", 3, storage("persistent-claim", "1Gi")), pool: pool("a", 3, storage("persistent-claim", "1024Mi"))},
		"grows":              {old: pool("a", 3, storage("persistent-claim", "1Gi")), pool: pool("a", 3, storage("persistent-claim", "2Gi"))},
		"shrinks, and the list is in another order": {
			old: pool("a", 3, jbod("0:9Gi", "1:5Gi")), pool: pool("a", 3, jbod("1:4Gi", "0:9Gi")), want: []string{"refuse pool-storage-shrinks spec.storage.volumes[0].size"},
		},
		"another order":              {old: pool("a", 3, jbod("0:9Gi", "1:5Gi")), pool: pool("a", 3, jbod("1:5Gi", "0:9Gi"))},
		"a volume more":              {old: pool("a", 3, jbod("0:9Gi")), pool: pool("a", 3, jbod("0:9Gi", "1:1Gi"))},
		"a size that is no quantity": {old: pool("a", 3, storage("persistent-claim", "1Gi")), pool: pool("a", 3, storage("persistent-claim", "big"))},
		"an old duplicate stays, reordered": {
			old: pool("a", 3, jbod("0:1Gi", "0:1Gi", "1:1Gi")), pool: pool("a", 3, jbod("1:1Gi", "0:1Gi", "0:1Gi")),
		},
		"and a new one is refused": {
			old: pool("a", 3, jbod("0:1Gi", "0:1Gi", "1:1Gi")), pool: pool("a", 3, jbod("1:1Gi", "1:1Gi", "0:1Gi", "0:1Gi")),
			want: []string{"refuse pool-volume-id-duplicate spec.storage.volumes[1].id"},
		},
		"nodes move to another cluster":   {old: pool("a", 3, nodeIDs(0)), pool: pool("a", 3, otherCluster), want: []string{"refuse pool-cluster-changed metadata.labels[strimzi.io/cluster]"}},
		"a pool without nodes may do so":  {old: pool("a", 3), pool: pool("a", 3, otherCluster)},
		"and one that had no cluster too": {old: pool("a", 3, noLabel, nodeIDs(0)), pool: pool("a", 3, nodeIDs(0))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.KafkaNodePool(tc.pool, tc.old, validation.PoolFacts{}, validation.Options{}), tc.want...)
		})
	}
}

const (
	neverEnds = "refuse pool-scale-down-never-ends spec.replicas"
	scaleDown = "warn pool-scale-down spec.replicas"
)

func TestPoolScalesDown(t *testing.T) {
	t.Parallel()
	five := pool("a", 5, nodeIDs(0, 1, 2, 3, 4))
	for name, tc := range map[string]struct {
		old, pool *apiv1.KafkaNodePool
		kafka     *apiv1.Kafka
		others    []apiv1.KafkaNodePool
		seen      *facts.Facts
		want      []string
		text      []string
	}{
		"the highest leave, with what they hold": {
			old: five, pool: pool("a", 3), seen: seen(3, 0, 1, 2, 3, 4), want: []string{scaleDown},
			text: []string{"brokers 3, 4 would leave the cluster; they hold 40 replicas of 3 GB, which have to move to other brokers first"},
		},
		"or those that are to be removed first": {
			old: five, pool: pool("a", 4, annotated(apiv1.AnnotationRemoveNodeIDs, "[1]")), seen: seen(3, 0, 1, 2, 3, 4), want: []string{scaleDown},
			text: []string{"broker 1 would leave the cluster; it holds 20 replicas"},
		},
		"that there was nothing is of the past": {
			old: five, pool: pool("a", 4), seen: &facts.Facts{Brokers: []facts.Broker{{ID: 4, Replicas: new(int64)}}}, want: []string{scaleDown},
			text: []string{"broker 4 would leave the cluster; it held no replicas when last looked at"},
		},
		"what is not known is not said to be nothing": {
			old: five, pool: pool("a", 3), want: []string{scaleDown}, text: []string{"brokers 3, 4", "how many replicas are on them is not known"},
		},
		"also of one broker alone": {
			old: five, pool: pool("a", 3), seen: seen(3, 0, 1, 2, 3), want: []string{scaleDown}, text: []string{"how many replicas broker 4 holds is not known"},
		},
		"nor are IDs made up": {
			old: pool("a", 5), pool: pool("a", 3), seen: seen(3, 0, 1, 2, 3, 4), want: []string{scaleDown}, text: []string{"2 brokers would leave; which, and what they hold, is not known"},
		},
		"nodes that never came do not leave": {old: pool("a", 5, nodeIDs(0, 1, 2)), pool: pool("a", 3), seen: seen(3, 0, 1, 2)},
		"one that goes back up": {
			old: pool("a", 3, nodeIDs(0, 1, 2, 3, 4)), pool: pool("a", 4), seen: seen(5, 0, 1, 2, 3, 4),
		},
		"fewer than the highest factor": {
			old: five, pool: pool("a", 2), seen: seen(3, 0, 1, 2, 3, 4), want: []string{neverEnds},
			text: []string{"only 2 brokers would remain", `topic "orders" has replication factor 3`, "keep 3 or more"},
		},
		"no broker at all": {old: five, pool: pool("a", 0), seen: seen(1, 0, 1, 2, 3, 4), want: []string{neverEnds}},
		"another pool has enough": {
			old: five, pool: pool("a", 2), others: []apiv1.KafkaNodePool{*pool("b", 1, nodeIDs(5))}, seen: seen(3, 0, 1, 2, 3, 4, 5), want: []string{scaleDown},
		},
		"another pool will have enough": {
			old: five, pool: pool("a", 2), others: []apiv1.KafkaNodePool{*pool("b", 1)}, seen: seen(3, 0, 1, 2, 3, 4), want: []string{scaleDown},
		},
		"another pool is on its way down itself": {
			old: five, pool: pool("a", 2), others: []apiv1.KafkaNodePool{*pool("b", 0, nodeIDs(5))}, seen: seen(3, 0, 1, 2, 3, 4, 5), want: []string{neverEnds},
		},
		"controllers do not count": {
			old: five, pool: pool("a", 2), others: []apiv1.KafkaNodePool{*pool("c", 3, roles("controller"), nodeIDs(5, 6, 7))},
			seen: seen(3, 0, 1, 2, 3, 4), want: []string{neverEnds},
		},
		"a broker of a pool that is not known counts": {old: five, pool: pool("a", 2), seen: seen(3, 0, 1, 2, 3, 4, 9), want: []string{scaleDown}},
		"the check is switched off": {
			old: five, pool: pool("a", 2), kafka: kafka(skipCheck), seen: seen(3, 0, 1, 2, 3, 4), want: []string{scaleDown}, text: []string{"which are lost"},
		},
		"no topic is known": {
			old: five, pool: pool("a", 1), seen: func() *facts.Facts { f := seen(3, 0, 1, 2, 3, 4); f.HighestFactor = nil; return f }(), want: []string{scaleDown},
		},
		"the broker role goes": {
			old: pool("a", 3, nodeIDs(0, 1, 2), roles("broker", "controller")), pool: pool("a", 3, roles("controller")), seen: seen(1, 0, 1, 2, 3),
			want: []string{"warn pool-broker-role-removed spec.roles"}, text: []string{"brokers 0, 1, 2 would lose the role of a broker; they hold 60 replicas"},
		},
		"and too few are left": {
			old: pool("a", 3, nodeIDs(0, 1, 2), roles("broker", "controller")), pool: pool("a", 3, roles("controller")), seen: seen(2, 0, 1, 2, 3),
			want: []string{"refuse pool-scale-down-never-ends spec.roles"},
		},
		"controllers alone are no brokers": {
			old: pool("c", 3, roles("controller"), nodeIDs(5, 6, 7)), pool: pool("c", 1, roles("controller")), seen: seen(3, 0, 1, 2),
		},
		"something else changes": {old: pool("a", 2, nodeIDs(0, 1)), pool: pool("a", 2, jbod("0:1Gi")), seen: seen(3, 0, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := validation.PoolFacts{Kafka: tc.kafka, Pools: append(tc.others, *tc.old), Seen: tc.seen}
			if known.Kafka == nil {
				known.Kafka = kafka()
			}
			tc.pool.Status = tc.old.Status
			r := validation.KafkaNodePool(tc.pool, tc.old, known, validation.Options{})
			wantSaid(t, r, tc.want...)
			all := strings.Join(r.WarningTexts(), "\n")
			for _, e := range r.Errors() {
				all += e.Error()
			}
			for _, text := range tc.text {
				if !strings.Contains(all, text) {
					t.Errorf("%q is missing in %q", text, all)
				}
			}
		})
	}
}

func TestPoolLosesAVolume(t *testing.T) {
	t.Parallel()
	old := pool("a", 2, jbod("0:1Gi", "1:1Gi"), nodeIDs(0, 1))
	emptied := seen(1, 0, 1)
	for i := range emptied.Brokers {
		emptied.Brokers[i].Volumes[1].Replicas = 0
	}
	silent := seen(1, 0, 1)
	for i := range silent.Brokers {
		silent.Brokers[i].Volumes = nil
	}
	elsewhere := seen(1, 7)
	want := []string{"refuse pool-volume-holds-replicas spec.storage.volumes"}
	for name, tc := range map[string]struct {
		pool *apiv1.KafkaNodePool
		seen *facts.Facts
		want []string
	}{
		"with replicas":                      {pool("a", 2, jbod("0:1Gi")), seen(1, 0, 1), want},
		"the other one":                      {pool("a", 2, jbod("1:1Gi")), seen(1, 0, 1), want},
		"replaced by a third":                {pool("a", 2, jbod("0:1Gi", "2:1Gi")), seen(1, 0, 1), want},
		"empty":                              {pool("a", 2, jbod("0:1Gi")), emptied, nil},
		"of which nothing is known":          {pool("a", 2, jbod("0:1Gi")), silent, nil},
		"in a cluster of which as little":    {pool("a", 2, jbod("0:1Gi")), nil, nil},
		"that only brokers elsewhere fill":   {pool("a", 2, jbod("0:1Gi")), elsewhere, nil},
		"none, the list is only turned":      {pool("a", 2, jbod("1:1Gi", "0:1Gi")), seen(1, 0, 1), nil},
		"none, the storage changes its type": {pool("a", 2, storage("ephemeral", "")), seen(1, 0, 1), []string{"refuse pool-storage-type-changed spec.storage.type"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.pool.Status = old.Status
			wantSaid(t, validation.KafkaNodePool(tc.pool, old, validation.PoolFacts{Seen: tc.seen}, validation.Options{}), tc.want...)
		})
	}
}

func TestPoolControllers(t *testing.T) {
	t.Parallel()
	three := pool("c", 3, roles("controller"))
	const at = "pool-controllers-changed spec."
	for name, tc := range map[string]struct {
		old, pool *apiv1.KafkaNodePool
		kafka     *apiv1.Kafka
		others    []apiv1.KafkaNodePool
		want      []string
	}{
		"more of them":                         {old: three, pool: pool("c", 5, roles("controller")), kafka: kafka(running, bySluice), want: []string{"refuse " + at + "replicas"}},
		"more, run by Strimzi":                 {old: three, pool: pool("c", 5, roles("controller")), kafka: kafka(running), want: []string{"warn " + at + "replicas"}},
		"more, before the cluster runs":        {old: three, pool: pool("c", 5, roles("controller")), kafka: kafka(bySluice)},
		"more, of a Kafka that is not known":   {old: three, pool: pool("c", 5, roles("controller"))},
		"the same":                             {old: three, pool: pool("c", 3, roles("controller"), jbod("0:1Gi")), kafka: kafka(running, bySluice)},
		"the role comes":                       {old: pool("c", 3), pool: pool("c", 3, roles("broker", "controller")), kafka: kafka(running, bySluice), want: []string{"refuse " + at + "roles"}},
		"the role goes":                        {old: pool("c", 3, roles("broker", "controller")), pool: pool("c", 3), kafka: kafka(running, bySluice), want: []string{"refuse " + at + "roles"}},
		"brokers come":                         {old: pool("a", 3), pool: pool("a", 4), kafka: kafka(running, bySluice)},
		"a new pool, all settled":              {pool: three, kafka: kafka(running, bySluice, settled), want: []string{"refuse " + at + "replicas"}},
		"a new pool, while others arrive":      {pool: three, kafka: kafka(running, bySluice), want: []string{"warn " + at + "replicas"}},
		"an even number":                       {pool: pool("c", 2, roles("controller")), want: []string{"warn pool-controllers-even spec.replicas"}},
		"an even number of all pools":          {pool: three, others: []apiv1.KafkaNodePool{*pool("d", 1, roles("controller"))}, want: []string{"warn pool-controllers-even spec.replicas"}},
		"an odd number of all pools":           {pool: pool("c", 2, roles("controller")), others: []apiv1.KafkaNodePool{*pool("d", 1, roles("controller"))}},
		"an even number of brokers is no harm": {pool: pool("a", 2), others: []apiv1.KafkaNodePool{*pool("d", 2, roles("controller"))}},
		"none for now":                         {pool: pool("c", 0, roles("controller"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := validation.PoolFacts{Kafka: tc.kafka, Pools: tc.others}
			wantSaid(t, validation.KafkaNodePool(tc.pool, tc.old, known, validation.Options{}), tc.want...)
		})
	}
}

func TestPoolIsDeleted(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	going := func(k *apiv1.Kafka) { k.DeletionTimestamp = &now }
	goingPool := func(p *apiv1.KafkaNodePool) { p.DeletionTimestamp = &now }
	controllers := []string{"refuse pool-deletion-controllers metadata.name"}
	replicas := []string{"refuse pool-deletion-replicas metadata.name"}
	empty := seen(1, 0, 1)
	for i := range empty.Brokers {
		none := int64(0)
		empty.Brokers[i].Replicas, empty.Brokers[i].Volumes = &none, []facts.Volume{}
	}
	for name, tc := range map[string]struct {
		pool  *apiv1.KafkaNodePool
		kafka *apiv1.Kafka
		seen  *facts.Facts
		want  []string
	}{
		"controllers of a running cluster":   {pool("c", 3, roles("controller")), kafka(running), nil, controllers},
		"by what they were":                  {pool("c", 3, nodeIDs(0), func(p *apiv1.KafkaNodePool) { p.Status.Roles = []string{"controller"} }), kafka(running), nil, controllers},
		"of a cluster that never ran":        {pool("c", 3, roles("controller")), kafka(), nil, nil},
		"controllers that there are none of": {pool("c", 0, roles("controller")), kafka(running), nil, nil},
		"brokers with replicas":              {pool("a", 2, nodeIDs(0, 1)), kafka(running), seen(1, 0, 1), replicas},
		"both":                               {pool("a", 2, nodeIDs(0, 1), roles("broker", "controller")), kafka(running), seen(1, 0, 1), append(controllers, replicas...)},
		"brokers without replicas":           {pool("a", 2, nodeIDs(0, 1)), kafka(running), empty, nil},
		"brokers of which nothing is known":  {pool("a", 2, nodeIDs(0, 1)), kafka(running), nil, nil},
		"others hold replicas":               {pool("a", 2, nodeIDs(0, 1)), kafka(running), seen(1, 7), nil},
		"the Kafka is being deleted":         {pool("a", 2, nodeIDs(0, 1), roles("broker", "controller")), kafka(running, going), seen(1, 0, 1), nil},
		"the Kafka is gone":                  {pool("a", 2, nodeIDs(0, 1), roles("broker", "controller")), nil, seen(1, 0, 1), nil},
		"the pool is being deleted already":  {pool("c", 3, roles("controller"), goingPool), kafka(running), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.KafkaNodePoolDeletion(tc.pool, validation.PoolFacts{Kafka: tc.kafka, Seen: tc.seen}), tc.want...)
		})
	}
}

// IDs that a pool is about to get are tried too, where all pools are known.
func TestExpansionLooksAtPlannedNodes(t *testing.T) {
	t.Parallel()
	// A name that is valid up to a node ID of two digits.
	long := strings.Repeat("a", 251) + "{nodeId}"
	p := pool("a", 3, poolTemplate(template(secret("creds", long))), annotated(apiv1.AnnotationNextNodeIDs, "[100-200]"))
	known := validation.PoolFacts{Kafka: kafka()}
	wantSaid(t, validation.KafkaNodePool(p, nil, known, validation.Options{}))
	known.AllPools = true
	wantSaid(t, validation.KafkaNodePool(p, nil, known, validation.Options{}),
		"refuse templated-volume-expansion spec.template.pod.templatedVolumes[0].secret.secretName")
	huge := int64(1) << 60
	p.Spec.Replicas = &huge
	if r := validation.KafkaNodePool(p, nil, known, validation.Options{}); len(r.Refusals) == 0 {
		t.Error("very many nodes hide the fault")
	}
}
