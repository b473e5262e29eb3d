package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/pprof"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/certs"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/internal/topicplan"
	"github.com/sluice-kafka/sluice/webhooks"
)

// leaseName is the lease that replicas elect their leader with.
const leaseName = "sluice-leader"

func restConfig(opts options.Operator) (*rest.Config, error) {
	var config *rest.Config
	var err error
	if opts.Kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", opts.Kubeconfig)
	} else {
		config, err = ctrl.GetConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("finding the API server (from --kubeconfig, $KUBECONFIG or the pod's service account): %w", err)
	}
	config.UserAgent = "sluice/" + currentVersion()
	config.QPS, config.Burst = opts.KubeAPIQPS, opts.KubeAPIBurst
	if opts.KubeAPIQPS == 0 {
		config.QPS = -1
	}
	return config, nil
}

func managerOptions(opts options.Operator, source *certs.Source, log logr.Logger) ctrl.Options {
	return ctrl.Options{
		Scheme: newScheme(),
		Logger: log,
		Cache:  cache.Options{DefaultTransform: smallCopies(), ByObject: webhooks.Cached()},
		Client: client.Options{
			// A cached read would begin to watch all of these in the cluster: too much
			// memory, and more rights than Sluice asks for.
			Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}},
		},
		Metrics: metricsOptions(opts, source),
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    opts.Webhooks.BindAddress,
			Port:    opts.Webhooks.Port,
			TLSOpts: []func(*tls.Config){source.Configure},
		}),
		HealthProbeBindAddress: opts.Serving.HealthProbeBindAddress,
		LeaderElection:         opts.LeaderElect,
		LeaderElectionID:       leaseName,
		// The process ends as soon as the manager has stopped, which makes the
		// release safe.
		LeaderElectionNamespace:       opts.Namespace,
		LeaderElectionReleaseOnCancel: true,
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiv1.AddToScheme} {
		if err := add(scheme); err != nil {
			// Only two different types under one name get here.
			panic(fmt.Errorf("registering the API types: %w", err))
		}
	}
	return scheme
}

// smallCopies keeps out of a cache what nothing looks at, of topics above all: there
// are tens of thousands of them.
func smallCopies() toolscache.TransformFunc {
	compactor := new(topicplan.Compactor)
	return func(in any) (any, error) {
		if t, ok := in.(*apiv1.KafkaTopic); ok {
			compactor.Compact(t)
		}
		return dropLastApplied(in)
	}
}

// dropLastApplied keeps a copy of the whole object, which kubectl leaves in an
// annotation, out of the cache. Nothing is lost by it in the API server: users'
// resources are changed by patches alone, and a patch that is made from two
// objects without the annotation does not touch it. managedFields stay: the
// owner of a finalizer is read from them.
func dropLastApplied(in any) (any, error) {
	object, err := meta.Accessor(in)
	if err != nil {
		// Not an object: a tombstone, which holds one that was here before.
		return in, nil //nolint:nilerr // there is nothing to drop
	}
	if annotations := object.GetAnnotations(); annotations != nil {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		object.SetAnnotations(annotations)
	}
	return in, nil
}

func metricsOptions(opts options.Operator, source *certs.Source) metricsserver.Options {
	m := metricsserver.Options{BindAddress: opts.Serving.MetricsBindAddress}
	if opts.Serving.MetricsSecure {
		m.SecureServing = true
		m.FilterProvider = metrics.Guard
		if opts.Webhooks.Enabled {
			// Otherwise nobody keeps a certificate, and the server makes one of its own.
			m.TLSOpts = []func(*tls.Config){source.Configure}
		}
	}
	if opts.Serving.EnableDebug {
		m.ExtraHandlers = map[string]http.Handler{
			"/debug/pprof/":        http.HandlerFunc(pprof.Index),
			"/debug/pprof/cmdline": http.HandlerFunc(pprof.Cmdline),
			"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
			"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
			"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
		}
	}
	return m
}
