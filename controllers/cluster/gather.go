package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/podsets"
)

// key names a Kafka.
type key = types.NamespacedName

// state is what one look at Kubernetes found of a cluster. Objects are shared with
// the cache and never changed.
type state struct {
	kafka *kafkav1.Kafka
	// pools that carry the cluster's name, sorted by their own.
	pools []*kafkav1.KafkaNodePool
	// pods, configMaps and claims of nodes, by name.
	pods       map[string]*corev1.Pod
	configMaps map[string]*corev1.ConfigMap
	claims     map[string]*corev1.PersistentVolumeClaim
	services   map[string]*corev1.Service
	budgets    map[string]*policyv1.PodDisruptionBudget
	// facts is the ConfigMap of package facts; nil where there is none.
	facts *corev1.ConfigMap
	// rebalances of the cluster, sorted by name.
	rebalances []*kafkav1.KafkaRebalance
	// podSets are the names of the pod sets from which Strimzi runs this cluster.
	podSets []string
	// racks of Kubernetes' nodes by name, for those that were asked for.
	racks map[string]string
}

// pool returns a pool by name; nil where there is none.
func (s *state) pool(name string) *kafkav1.KafkaNodePool {
	for _, p := range s.pools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// gatherer looks at Kubernetes, through caches or live.
type gatherer struct {
	// resources are Strimzi's, objects are what clusters are made of.
	resources, objects client.Reader
	// live is for what no cache holds.
	live   client.Reader
	mapper meta.RESTMapper
}

// kafka reads a Kafka; nil is one that does not exist.
func (g gatherer) kafka(ctx context.Context, k key) (*kafkav1.Kafka, error) {
	kafka := &kafkav1.Kafka{}
	err := g.resources.Get(ctx, k, kafka)
	switch {
	case err == nil:
		return kafka, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	}
	return nil, fmt.Errorf("reading Kafka %s: %w", k, err)
}

// pools lists the pools of a cluster, sorted by name.
func (g gatherer) pools(ctx context.Context, k key) ([]*kafkav1.KafkaNodePool, error) {
	var list kafkav1.KafkaNodePoolList
	if err := g.resources.List(ctx, &list, client.InNamespace(k.Namespace), client.MatchingLabels{kafkav1.LabelCluster: k.Name}); err != nil {
		return nil, fmt.Errorf("listing the node pools of Kafka %s: %w", k, err)
	}
	pools := make([]*kafkav1.KafkaNodePool, 0, len(list.Items))
	for i := range list.Items {
		pools = append(pools, &list.Items[i])
	}
	slices.SortFunc(pools, func(a, b *kafkav1.KafkaNodePool) int { return cmp.Compare(a.Name, b.Name) })
	return pools, nil
}

// gather reads everything that there is of a Kafka's cluster. What cannot be read
// is an error: only a list without it means that something is not there.
func (g gatherer) gather(ctx context.Context, kafka *kafkav1.Kafka) (*state, error) {
	k := client.ObjectKeyFromObject(kafka)
	s := &state{kafka: kafka, racks: map[string]string{}}
	var err error
	if s.pools, err = g.pools(ctx, k); err != nil {
		return nil, err
	}
	if s.rebalances, err = g.rebalances(ctx, k); err != nil {
		return nil, err
	}
	if err := g.gatherObjects(ctx, k, s); err != nil {
		return nil, err
	}
	if s.podSets, err = podsets.Of(ctx, g.mapper, g.live, k); err != nil {
		return nil, err
	}
	return s, g.gatherRacks(ctx, s)
}

func (g gatherer) rebalances(ctx context.Context, k key) ([]*kafkav1.KafkaRebalance, error) {
	var list kafkav1.KafkaRebalanceList
	if err := g.resources.List(ctx, &list, client.InNamespace(k.Namespace), client.MatchingLabels{kafkav1.LabelCluster: k.Name}); err != nil {
		return nil, fmt.Errorf("listing the KafkaRebalances of Kafka %s: %w", k, err)
	}
	out := make([]*kafkav1.KafkaRebalance, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	slices.SortFunc(out, func(a, b *kafkav1.KafkaRebalance) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// gatherObjects reads what the operator made.
func (g gatherer) gatherObjects(ctx context.Context, k key, s *state) error {
	var (
		pods       corev1.PodList
		configMaps corev1.ConfigMapList
		claims     corev1.PersistentVolumeClaimList
		services   corev1.ServiceList
		budgets    policyv1.PodDisruptionBudgetList
	)
	for what, list := range map[string]client.ObjectList{
		"pods": &pods, "ConfigMaps": &configMaps, "PersistentVolumeClaims": &claims, "Services": &services, "PodDisruptionBudgets": &budgets,
	} {
		if err := g.objects.List(ctx, list, client.InNamespace(k.Namespace), client.MatchingLabels{kafkav1.LabelCluster: k.Name, labelManagedBy: kafkav1.FieldManager}); err != nil {
			return fmt.Errorf("listing the %s of Kafka %s: %w", what, k, err)
		}
	}
	s.pods = byName(pods.Items, ofNode[*corev1.Pod])
	s.claims = byName(claims.Items, ofNode[*corev1.PersistentVolumeClaim])
	s.configMaps = byName(configMaps.Items, ofNode[*corev1.ConfigMap])
	s.services = byName(services.Items, func(*corev1.Service) bool { return true })
	s.budgets = byName(budgets.Items, func(*policyv1.PodDisruptionBudget) bool { return true })
	// Facts do not carry that label: admission selects them by another.
	published := &corev1.ConfigMap{}
	err := g.live.Get(ctx, key{Namespace: k.Namespace, Name: facts.Name(k.Name)}, published)
	if err == nil {
		s.facts = published
	}
	return client.IgnoreNotFound(err)
}

// labelManagedBy tells what the operator made from what others made.
const labelManagedBy = "app.kubernetes.io/managed-by"

// ofNode tells what belongs to a node of a pool from what belongs to a cluster as
// a whole.
func ofNode[T client.Object](o T) bool { return o.GetLabels()[kafkav1.LabelPoolName] != "" }

func byName[T any, P interface {
	*T
	client.Object
}](items []T, keep func(P) bool) map[string]P {
	all := make(map[string]P, len(items))
	for i := range items {
		if p := P(&items[i]); keep(p) {
			all[p.GetName()] = p
		}
	}
	return all
}
