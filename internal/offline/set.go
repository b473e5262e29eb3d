package offline

import (
	"slices"
	"strings"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// set is everything that is known: the manifests of the files, and the objects
// of the live cluster that no file replaces.
type set struct {
	byKey  map[key][]*manifest
	inFile map[inFile][]*manifest
	// Indexes by namespace, cluster and what is looked for.
	topicsByClaim, topicsByMetric, poolsByCluster map[string][]key
	// facts are what the operator published, by the key of the Kafka.
	facts map[key]facts.Facts
	// complete tells that no object of the live cluster is missing.
	complete bool
	// templates are the namespaces in which a template for rebalances is known.
	templates map[string]bool
}

// inFile is a key within one file.
type inFile struct {
	key
	file string
}

func newSet(files []*manifest, live liveContent) *set {
	s := &set{
		byKey: map[key][]*manifest{}, inFile: map[inFile][]*manifest{}, facts: live.facts, complete: live.complete, templates: map[string]bool{},
		topicsByClaim: map[string][]key{}, topicsByMetric: map[string][]key{}, poolsByCluster: map[string][]key{},
	}
	for _, m := range files {
		s.add(m)
	}
	for _, m := range live.manifests {
		if len(s.byKey[m.key]) == 0 {
			s.add(m)
		}
	}
	return s
}

func (s *set) add(m *manifest) {
	if m.name == "" {
		return // its faults say so
	}
	s.byKey[m.key] = append(s.byKey[m.key], m)
	here := inFile{m.key, m.file}
	s.inFile[here] = append(s.inFile[here], m)
	switch o := m.object.(type) {
	case *apiv1.KafkaTopic:
		cluster := o.Labels[apiv1.LabelCluster]
		if cluster == "" || !o.Managed() {
			return
		}
		claim := o.ClaimedName()
		index(s.topicsByClaim, scoped(m.namespace, cluster, claim), m.key)
		index(s.topicsByMetric, scoped(m.namespace, cluster, validation.MetricName(claim)), m.key)
	case *apiv1.KafkaRebalance:
		s.templates[m.namespace] = s.templates[m.namespace] || validation.IsRebalanceTemplate(o)
	case *apiv1.KafkaNodePool:
		if cluster := o.Labels[apiv1.LabelCluster]; cluster != "" {
			index(s.poolsByCluster, scoped(m.namespace, cluster), m.key)
		}
	}
}

// scoped joins what makes an index's key. None of the parts but the last can
// have a slash.
func scoped(parts ...string) string { return strings.Join(parts, "/") }

// maxNeighbours bounds the work where very many claim one thing; to refuse it
// takes one of them.
const maxNeighbours = 50

// index adds a key once: alternatives are one object.
func index(to map[string][]key, at string, k key) {
	if len(to[at]) < maxNeighbours && !slices.Contains(to[at], k) {
		to[at] = append(to[at], k)
	}
}

// lookup is what is found out about one manifest's neighbours.
type lookup struct {
	set  *set
	from *manifest
	// unsettled are the neighbours of which no one knows which alternative it is.
	unsettled []key
}

// find returns the one manifest of a key that goes together with the one that
// the look-up is for; nil where there is none, or where that is not settled.
// Several of one key are alternatives, as in overlays or in a folder of
// examples: the one of the same file counts. What stands in one file with an
// alternative of the manifest that is looked from goes with that one.
func (l *lookup) find(k key) *manifest {
	if k == l.from.key {
		return nil
	}
	all, near := l.set.byKey[k], l.set.inFile[inFile{k, l.from.file}]
	if len(near) == 1 {
		return near[0]
	}
	free := slices.IndexFunc(all, func(m *manifest) bool {
		return m.file == l.from.file || len(l.set.inFile[inFile{l.from.key, m.file}]) == 0
	})
	switch {
	case free < 0:
		return nil
	case len(all) == 1:
		return all[0]
	case !slices.Contains(l.unsettled, k):
		l.unsettled = append(l.unsettled, k)
	}
	return nil
}
