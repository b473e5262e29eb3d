// Package livecluster reads from a Kubernetes API server what `sluice validate`
// is to know of the objects that are there. It only reads, and of Secrets only
// whether they exist.
package livecluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/offline"
)

// Cluster is a Kubernetes cluster that is read from.
type Cluster struct {
	reader client.Reader
}

var _ offline.Cluster = (*Cluster)(nil)

// pageSize bounds a single answer of the API server.
const pageSize = 500

// Open uses a context of a kubeconfig; of the file that is named, else of
// $KUBECONFIG, else of the home folder. It also returns the context's namespace.
func Open(kubeconfig, context string) (cluster *Cluster, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context})
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading context %q of the kubeconfig: %w", context, err)
	}
	if namespace, _, err = loaded.Namespace(); err != nil {
		return nil, "", fmt.Errorf("reading the namespace of context %q: %w", context, err)
	}
	// The API server itself is fair between its clients.
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, "", fmt.Errorf("registering the API types: %w", err)
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, "", fmt.Errorf("reaching the API server of context %q: %w", context, err)
	}
	return New(c), namespace, nil
}

// New reads through a client that knows the types of package api/v1.
func New(reader client.Reader) *Cluster { return &Cluster{reader: reader} }

// newList returns an empty list for a kind.
func newList(kind string) client.ObjectList {
	switch kind {
	case apiv1.KindKafka:
		return &apiv1.KafkaList{}
	case apiv1.KindKafkaNodePool:
		return &apiv1.KafkaNodePoolList{}
	case apiv1.KindKafkaTopic:
		return &apiv1.KafkaTopicList{}
	case apiv1.KindKafkaRebalance:
		return &apiv1.KafkaRebalanceList{}
	case apiv1.KindKafkaConnect:
		return &apiv1.KafkaConnectList{}
	case apiv1.KindKafkaMirrorMaker2:
		return &apiv1.KafkaMirrorMaker2List{}
	default:
		return nil
	}
}

// Objects implements offline.Cluster.
func (c *Cluster) Objects(ctx context.Context, kind, namespace string) ([]metav1.Object, error) {
	list := newList(kind)
	if list == nil {
		return nil, fmt.Errorf("%w: kind %s is none of Sluice's", offline.ErrNotKnown, kind)
	}
	var objects []metav1.Object
	err := c.pages(ctx, list, namespace, nil, func(o runtime.Object) error {
		accessor, err := meta.Accessor(o)
		objects = append(objects, accessor)
		return err
	})
	return objects, err
}

// Facts implements offline.Cluster.
func (c *Cluster) Facts(ctx context.Context, namespace string) (map[string]facts.Facts, error) {
	published := map[string]facts.Facts{}
	err := c.pages(ctx, &corev1.ConfigMapList{}, namespace, client.MatchingLabels{apiv1.LabelFacts: "true"}, func(o runtime.Object) error {
		cm, ok := o.(*corev1.ConfigMap)
		if !ok {
			return nil
		}
		cluster := cm.Labels[apiv1.LabelCluster]
		if f, err := facts.Decode(cm); err == nil && cm.Name == facts.Name(cluster) {
			published[cluster] = f
		}
		return nil // facts that cannot be read are not known
	})
	return published, err
}

// pages calls do for every item of a list.
func (c *Cluster) pages(ctx context.Context, list client.ObjectList, namespace string, labels client.MatchingLabels, do func(runtime.Object) error) error {
	for token := ""; ; {
		options := []client.ListOption{client.InNamespace(namespace), client.Limit(pageSize), client.Continue(token)}
		if labels != nil {
			options = append(options, labels)
		}
		if err := c.reader.List(ctx, list, options...); err != nil {
			return unknown(fmt.Errorf("listing %T in namespace %q: %w", list, namespace, err))
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return fmt.Errorf("reading %T: %w", list, err)
		}
		for _, item := range items {
			if err := do(item); err != nil {
				return err
			}
		}
		if token = list.GetContinue(); token == "" {
			return nil
		}
	}
}

// Exists implements offline.Cluster. Only metadata is read.
func (c *Cluster) Exists(ctx context.Context, kind, namespace, name string) (bool, error) {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	err := c.reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, o)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, unknown(err)
}

// unknown marks what a cluster does not tell to this user, or does not have: it
// is no reason to judge nothing at all.
func unknown(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return fmt.Errorf("%w: %w", offline.ErrNotKnown, err)
	}
	return err
}
