package pod

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/podvolumes"
)

// errNotObserved marks an owner of which nothing is known, not even that it
// does not exist.
var errNotObserved = errors.New("could not be read")

// defaultBound is how long one round of reads may take. A request makes at most
// one round of the cache and one of live reads, which together stay well below
// the webhook's timeout.
const defaultBound = time.Second

// getter reads one object.
type getter interface {
	Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
}

// gatherer observes a pod's owners.
type gatherer struct {
	cache getter
	live  getter
	bound time.Duration
}

// observed is what a gatherer saw.
type observed struct {
	podvolumes.Owners
	// live tells that everything was read live: no cache can be behind.
	live bool
}

// gather reads the owners from the cache. Where that lacks one, it reads them
// live: a cache that is behind proves no absence. The error is errNotObserved.
func (g gatherer) gather(ctx context.Context, namespace string, id podvolumes.Identity) (observed, error) {
	owners, err := g.round(ctx, g.cache, namespace, id)
	if err != nil {
		return observed{}, fmt.Errorf("from the cache: %w", err)
	}
	if _, err := owners.Applied(id); errors.Is(err, podvolumes.ErrNoOwner) {
		return g.fresh(ctx, namespace, id)
	}
	return observed{Owners: owners}, nil
}

// fresh reads the owners live. Only the API server's NotFound means that there
// is none. The error is errNotObserved.
func (g gatherer) fresh(ctx context.Context, namespace string, id podvolumes.Identity) (observed, error) {
	owners, err := g.round(ctx, g.live, namespace, id)
	if err != nil {
		return observed{}, fmt.Errorf("from the API server: %w", err)
	}
	return observed{Owners: owners, live: true}, nil
}

// round reads all owners of one pod within the bound.
func (g gatherer) round(ctx context.Context, from getter, namespace string, id podvolumes.Identity) (podvolumes.Owners, error) {
	ctx, cancel := context.WithTimeout(ctx, g.bound)
	defer cancel()
	var owners podvolumes.Owners
	var err error
	key := client.ObjectKey{Namespace: namespace, Name: id.Cluster}
	switch id.Component {
	case apiv1.ComponentKafkaConnect:
		owners.Connect, err = get[apiv1.KafkaConnect](ctx, from, apiv1.KindKafkaConnect, key)
	case apiv1.ComponentMirrorMaker2:
		owners.MirrorMaker2, err = get[apiv1.KafkaMirrorMaker2](ctx, from, apiv1.KindKafkaMirrorMaker2, key)
	default:
		owners.Kafka, err = get[apiv1.Kafka](ctx, from, apiv1.KindKafka, key)
		if err == nil {
			key.Name = id.Pool
			owners.Pool, err = get[apiv1.KafkaNodePool](ctx, from, apiv1.KindKafkaNodePool, key)
		}
	}
	return owners, err
}

// get reads one object; nil is one that does not exist.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, from getter, kind string, key client.ObjectKey) (P, error) {
	obj := P(new(T))
	err := from.Get(ctx, key, obj)
	switch {
	case err == nil:
		return obj, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	}
	return nil, fmt.Errorf("%s %s %w: %w", kind, key, errNotObserved, err)
}
