package validation

import (
	"fmt"
	"strconv"
	"strings"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// poolNodes are the nodes that a pool is known to have, with those that it is
// about to get where all pools are known, or one specimen.
func poolNodes(pool *apiv1.KafkaNodePool, facts PoolFacts) []templating.Node {
	return nodesWith(pool, addedNodes(withPool(facts.Pools, pool), facts.AllPools, facts.Seen)[pool.Name])
}

// kafkaListNodes are those of the nodes of a Kafka's pools, as poolNodes has
// them, that the Kafka's list of templated volumes is for.
func kafkaListNodes(all []combination, allPools bool, seen *facts.Facts) []templating.Node {
	pools := make([]*apiv1.KafkaNodePool, 0, len(all))
	for _, c := range all {
		pools = append(pools, c.pool)
	}
	added := addedNodes(pools, allPools, seen)
	var nodes []templating.Node
	for _, c := range all {
		if c.kafkaList {
			nodes = append(nodes, nodesWith(c.pool, added[c.pool.Name])...)
		}
	}
	return nodes
}

// addedNodes are the IDs of the nodes that pools are about to get, by the pool's
// name; none where not all pools are known.
func addedNodes(pools []*apiv1.KafkaNodePool, allPools bool, seen *facts.Facts) map[string][]int32 {
	if !allPools {
		return nil
	}
	never := func(*apiv1.KafkaNodePool) bool { return false }
	added := make(map[string][]int32, len(pools))
	for name, a := range assigned(pools, never, seen) {
		added[name] = a.Added
	}
	return added
}

func nodesWith(pool *apiv1.KafkaNodePool, added []int32) []templating.Node {
	ids := append(nodeIDs(pool.Status.NodeIDs), added...)
	if len(ids) == 0 {
		ids = []int32{0}
	}
	nodes := make([]templating.Node, 0, len(ids))
	for _, id := range ids {
		nodes = append(nodes, templating.Node{ID: int64(id), PodName: fmt.Sprintf("%s-%s-%d", pool.Labels[apiv1.LabelCluster], pool.Name, id)})
	}
	return nodes
}

// maxNodes bounds how many nodes an expansion is tried for.
const maxNodes = 1000

// workerNodes are the workers 0 to replicas−1; of very many the first ones and
// the last, whose name is the longest.
func workerNodes(podPrefix string, replicas int64) []templating.Node {
	replicas = max(replicas, 1)
	node := func(id int64) templating.Node {
		return templating.Node{ID: id, PodName: fmt.Sprintf("%s-%d", podPrefix, id)}
	}
	nodes := make([]templating.Node, 0, min(replicas, maxNodes))
	for id := range min(replicas, maxNodes-1) {
		nodes = append(nodes, node(id))
	}
	if replicas > maxNodes-1 {
		nodes = append(nodes, node(replicas-1))
	}
	return nodes
}

// maxExpansions bounds the work for one object, whatever its size.
const maxExpansions = 20_000

// someNodes returns the nodes that an expansion of so many texts is tried for:
// all of them, or as many of the first as the bound allows and the last.
func someNodes(nodes []templating.Node, texts int) []templating.Node {
	limit := max(maxExpansions/max(texts, 1), 2)
	if len(nodes) <= limit {
		return nodes
	}
	return append(nodes[:limit-1:limit-1], nodes[len(nodes)-1])
}

// unlike returns the first of each kind of nodes for which a text is valid alike.
// Where names, keys and paths may have a digit they may have any, so only the
// length of an ID counts; and of a pod's name, where the text has it, what stands
// before the ID. A thousand nodes of one pool are four kinds.
func unlike(nodes []templating.Node, podNames bool) []templating.Node {
	type kind struct {
		digits  int
		podName string
	}
	seen := make(map[kind]bool, len(nodes))
	var first []templating.Node
	for _, n := range nodes {
		id := strconv.FormatInt(n.ID, 10)
		k := kind{digits: len(id)}
		if podNames {
			k.podName = strings.TrimSuffix(n.PodName, id)
		}
		if !seen[k] {
			seen[k] = true
			first = append(first, n)
		}
	}
	return first
}
