package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
)

// ErrNotKnown tells that the cluster does not say: the kind is not installed, or
// the user may not read it. Anything else that fails ends the run.
var ErrNotKnown = errors.New("the cluster does not tell")

// Cluster is the live Kubernetes cluster.
type Cluster interface {
	// Objects returns all objects of one of Sluice's kinds in a namespace.
	Objects(ctx context.Context, kind, namespace string) ([]metav1.Object, error)
	// Facts returns what the operator published in a namespace, by cluster. What
	// cannot be read is left out.
	Facts(ctx context.Context, namespace string) (map[string]facts.Facts, error)
	// Exists tells whether a Secret, ConfigMap or PersistentVolumeClaim is there.
	Exists(ctx context.Context, kind, namespace, name string) (bool, error)
}

// readKinds are those whose live objects the rules look at, or that a manifest
// may update.
var readKinds = []string{
	apiv1.KindKafka, apiv1.KindKafkaNodePool, apiv1.KindKafkaTopic,
	apiv1.KindKafkaRebalance, apiv1.KindKafkaConnect, apiv1.KindKafkaMirrorMaker2,
}

// liveContent is what the cluster told.
type liveContent struct {
	manifests []*manifest
	facts     map[key]facts.Facts
	messages  []Message
	complete  bool // nothing was kept from us
}

// readCluster reads the namespaces of the manifests.
func readCluster(ctx context.Context, cluster Cluster, manifests []*manifest) (liveContent, error) {
	live := liveContent{facts: map[key]facts.Facts{}}
	if cluster == nil {
		return live, nil
	}
	live.complete = true
	for _, namespace := range namespaces(manifests) {
		for _, kind := range readKinds {
			objects, err := cluster.Objects(ctx, kind, namespace)
			if err := live.unknown(err, "the objects of kind "+kind, namespace); err != nil {
				return live, err
			}
			for _, o := range objects {
				live.manifests = append(live.manifests, &manifest{key: key{kind, namespace, o.GetName()}, object: o})
			}
		}
		published, err := cluster.Facts(ctx, namespace)
		if err := live.unknown(err, "the facts of Kafka clusters", namespace); err != nil {
			return live, err
		}
		for name, f := range published {
			live.facts[key{apiv1.KindKafka, namespace, name}] = f
		}
	}
	return live, nil
}

// unknown notes what the cluster does not tell, and passes on any other error.
func (l *liveContent) unknown(err error, what, namespace string) error {
	if errors.Is(err, ErrNotKnown) {
		l.complete = false
		l.messages = append(l.messages, Message{
			Severity: Note, Namespace: namespace,
			Text: fmt.Sprintf("%s in namespace %s are not known, and rules that need them were left out: %v", what, namespace, err),
		})
		return nil
	}
	return err
}

func namespaces(manifests []*manifest) []string {
	var names []string
	for _, m := range manifests {
		if !slices.Contains(names, m.namespace) {
			names = append(names, m.namespace)
		}
	}
	slices.Sort(names)
	return names
}
