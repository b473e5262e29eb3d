package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// poolJoin is a pool with its Kafka; kafka is nil where it is not known.
type poolJoin struct {
	kafka *apiv1.Kafka
	combination
	old   *apiv1.KafkaNodePool // nil on creation
	facts PoolFacts
}

var joinPoolRules = []rule[poolJoin]{
	{"join-mount-of-no-volume", joinPoolDangling},
	{"join-templated-volumes-dropped", joinPoolDropped},
	{"join-templated-volume-expansion", joinPoolExpansion},
	{"join-templated-volume-claim-shared", joinPoolSharedClaim},
	{"join-replication-factor", joinPoolFactor},
}

func joinOfPool(pool, old *apiv1.KafkaNodePool, facts PoolFacts) poolJoin {
	if facts.Kafka == nil {
		return poolJoin{}
	}
	return poolJoin{kafka: facts.Kafka, combination: combine(facts.Kafka, pool), old: old, facts: facts}
}

func joinPoolDangling(j poolJoin) []Finding {
	var found []Finding
	for _, m := range j.dangling() {
		f := Finding{
			Severity: Refuse, Joining: true, Path: m.path(), Element: m.field + "/" + m.name, Value: m.name,
			Message: fmt.Sprintf("neither this pool nor Kafka %s has a volume named %s: add it to a pod template, or correct the name",
				j.kafka.Name, shown(m.name)),
		}
		if !m.ofPool {
			f.Path = field.NewPath("spec", "template", "pod")
			f.Message = fmt.Sprintf("Kafka %s mounts %s in %s, and the volumes of this pool have none of that name: add it here, "+
				"or give the pool a %s of its own", j.kafka.Name, shown(m.name), m.path(), m.field)
		}
		found = append(found, f)
	}
	return found
}

func joinPoolDropped(j poolJoin) []Finding {
	if j.kafka == nil || j.kafkaList || j.unreadable {
		return nil
	}
	list, err := templating.ForKafkaNode(j.kafka, nil)
	if err != nil {
		return nil
	}
	var dropped []string
	for _, v := range list.Volumes {
		if !j.names[v.Name] {
			dropped = append(dropped, v.Name)
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	return []Finding{{
		Joining: true, Path: field.NewPath("spec", "template", "pod"), Value: listed(dropped),
		Message: fmt.Sprintf("the pool's own list replaces that of Kafka %s whole, so its nodes do not get %s: repeat here what they need",
			j.kafka.Name, listed(dropped)),
	}}
}

// joinPoolExpansion looks at the Kafka's list with the names of this pool's
// nodes.
func joinPoolExpansion(j poolJoin) []Finding {
	if j.kafka == nil || !j.kafkaList || j.unreadable {
		return nil
	}
	list, err := templating.ForKafkaNode(j.kafka, nil)
	if err != nil {
		return nil
	}
	bad := podsExpansion(pods{list: list.Volumes, listPath: field.NewPath(list.Path), nodes: poolNodes(j.pool, j.facts)})
	var found []Finding
	for _, b := range bad {
		if !templating.HasPlaceholder(b.Value) {
			continue // the Kafka's own fault, whatever the pool
		}
		found = append(found, Finding{
			Severity: Refuse, Joining: true, Path: field.NewPath("metadata", "name"), Element: b.Element, Value: j.pool.Name,
			Message: fmt.Sprintf("%s of Kafka %s cannot be expanded for this pool; %s", b.Path, j.kafka.Name, b.Message),
		})
	}
	return found
}

func joinPoolSharedClaim(j poolJoin) []Finding {
	if j.kafka == nil || !j.kafkaList || j.unreadable || poolCount(j.pool) <= 1 {
		return nil
	}
	list, err := templating.ForKafkaNode(j.kafka, nil)
	if err != nil {
		return nil
	}
	var found []Finding
	for _, s := range sharedClaims(field.NewPath(list.Path), list.Volumes, fmt.Sprintf("all %d nodes would share this one claim", poolCount(j.pool))) {
		found = append(found, Finding{
			Joining: true, Path: field.NewPath("spec", "replicas"), Element: s.Element, Value: s.Value,
			Message: fmt.Sprintf("%s of Kafka %s: %s", s.Path, j.kafka.Name, s.Message),
		})
	}
	return found
}
