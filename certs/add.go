package certs

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const controllerName = "certificates"

// Add registers the keeping of the certificate that s serves. It runs on every
// replica, leader or not, since every replica serves webhooks.
func Add(mgr ctrl.Manager, s *Source, opts Options) error {
	k := &keeper{Options: opts, reader: mgr.GetAPIReader(), writer: mgr.GetClient(), source: s, missing: map[string]bool{}}
	c, err := controller.New(controllerName, mgr, controller.Options{
		Reconciler:         k,
		NeedLeaderElection: ptr.To(false),
		// There is one thing to look at: its name in each line would say nothing.
		LogConstructor: func(*reconcile.Request) logr.Logger {
			return mgr.GetLogger().WithValues("controller", controllerName)
		},
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](raceRetry, 30*time.Second),
	})
	if err != nil {
		return fmt.Errorf("making the %s controller: %w", controllerName, err)
	}
	watched, err := newCache(mgr, opts)
	if err != nil {
		return err
	}
	if err := mgr.Add(ownCache{watched}); err != nil {
		return fmt.Errorf("adding the cache of the %s controller: %w", controllerName, err)
	}
	return watch(c, watched, opts)
}

// ownCache has the manager start it before what reads from it.
type ownCache struct{ cache.Cache }

// GetCache marks it as a cache for the manager.
func (c ownCache) GetCache() cache.Cache { return c.Cache }

// newCache watches the named objects alone, so that the rights to them can be
// given by name: the API server lets a watch that selects metadata.name pass
// under a rule with that resource name
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
func newCache(mgr ctrl.Manager, opts Options) (cache.Cache, error) {
	named := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)}
	}
	secret := named(opts.SecretName)
	secret.Namespaces = map[string]cache.Config{opts.Namespace: {}}
	c, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(),
		Scheme:     mgr.GetScheme(),
		Mapper:     mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: secret,
			&admissionv1.ValidatingWebhookConfiguration{}: named(opts.ValidatingConfiguration),
			&admissionv1.MutatingWebhookConfiguration{}:   named(opts.MutatingConfiguration),
		},
		ReaderFailOnMissingInformer: true,
	})
	if err != nil {
		return nil, fmt.Errorf("making the cache of the %s controller: %w", controllerName, err)
	}
	return c, nil
}

// watch has every event, and the start itself, ask for one look at everything.
func watch(c controller.Controller, watched cache.Cache, opts Options) error {
	one := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: opts.Namespace, Name: opts.SecretName}}
	sources := []source.Source{
		source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			q.Add(one)
			return nil
		}),
		kind(watched, &corev1.Secret{}, one),
	}
	if opts.ValidatingConfiguration != "" {
		sources = append(sources, kind(watched, &admissionv1.ValidatingWebhookConfiguration{}, one))
	}
	if opts.MutatingConfiguration != "" {
		sources = append(sources, kind(watched, &admissionv1.MutatingWebhookConfiguration{}, one))
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watching for the %s controller: %w", controllerName, err)
		}
	}
	return nil
}

func kind[T client.Object](c cache.Cache, object T, request reconcile.Request) source.Source {
	return source.Kind(c, object, handler.TypedEnqueueRequestsFromMapFunc(
		func(context.Context, T) []reconcile.Request { return []reconcile.Request{request} }))
}
