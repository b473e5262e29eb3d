package validation

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// kafkaJoin is a Kafka with its known pools, in order of name.
type kafkaJoin struct {
	kafka *apiv1.Kafka
	list  templating.Applied
	err   error
	all   []combination
	facts KafkaFacts
}

var joinKafkaRules = []rule[kafkaJoin]{
	{"join-mount-of-no-volume", joinKafkaDangling},
	{"join-templated-volumes-unused", joinKafkaUnused},
	{"join-templated-volume-expansion", joinKafkaExpansion},
	{"join-templated-volume-claim-shared", joinKafkaSharedClaim},
	{"join-replication-factor", joinKafkaFactor},
}

func joinOfKafka(kafka *apiv1.Kafka, facts KafkaFacts) kafkaJoin {
	j := kafkaJoin{kafka: kafka, facts: facts}
	j.list, j.err = templating.ForKafkaNode(kafka, nil)
	pools := slices.Clone(facts.Pools)
	slices.SortFunc(pools, func(a, b apiv1.KafkaNodePool) int { return cmp.Compare(a.Name, b.Name) })
	for i := range pools {
		if pools[i].DeletionTimestamp == nil {
			j.all = append(j.all, combine(kafka, &pools[i]))
		}
	}
	return j
}

func (j kafkaJoin) listPath() *field.Path {
	if len(templatedOf(j.kafka.Spec.Kafka.Template)) == 0 {
		return annotationPath()
	}
	return field.NewPath("spec", "kafka", "template", "pod", "templatedVolumes")
}

func templatedOf(t *apiv1.KafkaTemplate) []apiv1.TemplatedVolume {
	if t == nil || t.Pod == nil {
		return nil
	}
	return t.Pod.TemplatedVolumes
}

// joinKafkaDangling reports a mount once, for the first pool that lacks its
// volume.
func joinKafkaDangling(j kafkaJoin) []Finding {
	var found []Finding
	reported := map[string]bool{}
	for _, c := range j.all {
		for _, m := range c.dangling() {
			at, element := m.path(), m.field+"/"+m.name
			message := fmt.Sprintf("the pods of pool %s have no volume named %s: add it to their pod template, or correct the name",
				c.pool.Name, shown(m.name))
			if m.ofPool {
				at, element = field.NewPath("spec", "kafka", "template", "pod"), c.pool.Name+"/"+element
				message = fmt.Sprintf("pool %s mounts %s in %s and gets its volumes from here, where none has that name: add it, or remove the mount",
					c.pool.Name, shown(m.name), m.path())
			}
			if reported[element] {
				continue
			}
			reported[element] = true
			found = append(found, Finding{Severity: Refuse, Joining: true, Path: at, Element: element, Value: m.name, Message: message})
		}
	}
	return found
}

func joinKafkaUnused(j kafkaJoin) []Finding {
	if len(j.all) == 0 || len(j.list.Volumes) == 0 {
		return nil
	}
	for _, c := range j.all {
		if c.kafkaList {
			return nil
		}
	}
	return []Finding{{
		Joining: true, Path: j.listPath(), Value: "unused",
		Message: "every pool has a pod template of its own, which replaces the Kafka's whole, so these apply to no node: " +
			"put them into the pools",
	}}
}

func joinKafkaExpansion(j kafkaJoin) []Finding {
	if j.err != nil {
		return nil
	}
	nodes := kafkaListNodes(j.all, j.facts.AllPools, j.facts.Seen)
	if len(nodes) == 0 {
		return nil
	}
	p := pods{list: j.list.Volumes, listPath: j.listPath(), nodes: nodes}
	faults := append(podsExpansion(p), podsItemsCollide(p)...)
	if len(faults) == 0 {
		return nil
	}
	onSight := map[string]bool{}
	p.nodes = kafkaSpecimen(j.kafka)
	for _, f := range append(podsExpansion(p), podsItemsCollide(p)...) {
		onSight[f.Path.String()] = true
	}
	var found []Finding
	for _, f := range faults {
		if !onSight[f.Path.String()] {
			f.Joining = true
			found = append(found, f)
		}
	}
	return found
}

func joinKafkaSharedClaim(j kafkaJoin) []Finding {
	var count int64
	for _, c := range j.all {
		if c.kafkaList {
			count += poolCount(c.pool)
		}
	}
	if count <= 1 {
		return nil
	}
	found := sharedClaims(j.listPath(), j.list.Volumes, fmt.Sprintf("all %d nodes of the pools that use it would share this one claim", count))
	for i := range found {
		found[i].Joining = true
	}
	return found
}
