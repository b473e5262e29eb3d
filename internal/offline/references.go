package offline

import (
	"context"
	"errors"
	"fmt"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

const ruleMissing = "templated-volume-object-missing"

// missingReferences warns of Secrets, ConfigMaps and claims that templated
// volumes come to name and that the live cluster lacks.
func missingReferences(ctx context.Context, cluster Cluster, manifests []*manifest, s *set) ([]Message, error) {
	if cluster == nil {
		return nil, nil
	}
	r := references{cluster: cluster, seen: map[reference]bool{}}
	for _, m := range manifests {
		l := &lookup{set: s, from: m}
		if err := r.check(ctx, m, l.volumeObjects(m.object)); err != nil {
			return r.messages, err
		}
	}
	return r.messages, nil
}

// reference names an object of the live cluster.
type reference struct {
	kind, namespace, name string
}

type references struct {
	cluster  Cluster
	seen     map[reference]bool // whether it is there
	messages []Message
}

func (r *references) check(ctx context.Context, m *manifest, objects []validation.VolumeObject) error {
	missing := map[string]bool{}
	for _, o := range objects {
		ref := reference{o.Kind, m.namespace, o.Name}
		there, known := r.seen[ref]
		if !known {
			var err error
			there, err = r.cluster.Exists(ctx, ref.kind, ref.namespace, ref.name)
			switch {
			case errors.Is(err, ErrNotKnown):
				r.messages = append(r.messages, m.note(fmt.Sprintf("whether %s %s exists is not known: %v", ref.kind, ref.name, err)))
				there = true
			case err != nil:
				return fmt.Errorf("looking for %s %s/%s: %w", ref.kind, ref.namespace, ref.name, err)
			}
			r.seen[ref] = there
		}
		if at := o.Path.String(); !there && !missing[at] {
			missing[at] = true // once a field, for the first node
			r.messages = append(r.messages, m.message(validation.Finding{
				Rule: ruleMissing, Path: o.Path, Value: o.Name,
				Message: fmt.Sprintf("for node %d it is %s %s, which namespace %s does not have: the pod waits until it is created",
					o.Node, ref.kind, ref.name, ref.namespace),
			}))
		}
	}
	return nil
}

// volumeObjects returns what the templated volumes of an object come to name.
func (l *lookup) volumeObjects(object any) []validation.VolumeObject {
	switch o := object.(type) {
	case *apiv1.Kafka:
		return validation.VolumeObjectsOfKafka(o, l.kafkaFacts(o))
	case *apiv1.KafkaNodePool:
		return validation.VolumeObjectsOfPool(o, l.poolFacts(o))
	case *apiv1.KafkaConnect:
		return validation.VolumeObjectsOfConnect(o)
	case *apiv1.KafkaMirrorMaker2:
		return validation.VolumeObjectsOfMirrorMaker2(o)
	}
	return nil
}
