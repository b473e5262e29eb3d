package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/templating"
)

// VolumeObject is what a templated volume comes to name for one node.
type VolumeObject struct {
	// Kind is Secret, ConfigMap or PersistentVolumeClaim.
	Kind string
	// Name of the object, in the namespace of the volume's owner.
	Name string
	// Path of the field that names it, and the node for which it does.
	Path *field.Path
	Node int64
}

// VolumeObjectsOfKafka returns what the Kafka's list comes to name for the nodes
// of the known pools that use it. What is optional is left out, as in the
// functions for the other kinds.
func VolumeObjectsOfKafka(kafka *apiv1.Kafka, facts KafkaFacts) []VolumeObject {
	p := podsOfKafka(kafka, nil, facts)
	p.nodes = kafkaListNodes(joinOfKafka(kafka, facts).all, facts.AllPools, facts.Seen)
	return p.objects()
}

// VolumeObjectsOfPool returns what the pool's own list comes to name.
func VolumeObjectsOfPool(pool *apiv1.KafkaNodePool, facts PoolFacts) []VolumeObject {
	return podsOfPool(pool, facts).objects()
}

// VolumeObjectsOfConnect returns what the workers' volumes come to name.
func VolumeObjectsOfConnect(c *apiv1.KafkaConnect) []VolumeObject {
	return podsOfConnect(c).objects()
}

// VolumeObjectsOfMirrorMaker2 returns what the workers' volumes come to name.
func VolumeObjectsOfMirrorMaker2(m *apiv1.KafkaMirrorMaker2) []VolumeObject {
	return podsOfMirrorMaker2(m).objects()
}

func (p pods) objects() []VolumeObject {
	var objects []VolumeObject
	for i, v := range p.list {
		at := p.listPath.Index(i)
		kind, name, optional := "", "", false
		switch {
		case v.Secret != nil:
			kind, name, optional = "Secret", v.Secret.SecretName, is(v.Secret.Optional)
			at = at.Child("secret", "secretName")
		case v.ConfigMap != nil:
			kind, name, optional = "ConfigMap", v.ConfigMap.Name, is(v.ConfigMap.Optional)
			at = at.Child("configMap", "name")
		case v.PersistentVolumeClaim != nil:
			kind, name = "PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName
			at = at.Child("persistentVolumeClaim", "claimName")
		}
		if optional {
			continue
		}
		for _, n := range someNodes(p.nodes, len(p.list)) {
			if text := templating.Text(name, n); invalidText(roleName, text) == "" {
				objects = append(objects, VolumeObject{Kind: kind, Name: text, Path: at, Node: n.ID})
			}
		}
	}
	return objects
}

func is(b *bool) bool { return b != nil && *b }
