// Package controllers registers the controllers that were asked for.
package controllers

import (
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sluice-kafka/sluice/controllers/cluster"
	"github.com/sluice-kafka/sluice/controllers/topic"
	"github.com/sluice-kafka/sluice/controllers/volumes"
	"github.com/sluice-kafka/sluice/internal/kafka"
	sluicemetrics "github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// registrations by the name that --controllers knows.
var registrations = map[string]func(ctrl.Manager, options.Operator) error{
	options.ControllerTopic:   addTopic,
	options.ControllerCluster: addCluster,
	options.ControllerVolumes: addVolumes,
}

// Add registers the controllers that opts name.
func Add(mgr ctrl.Manager, opts options.Operator) error {
	for _, name := range opts.Controllers {
		register, ok := registrations[name]
		if !ok {
			return fmt.Errorf("registering the controllers: there is none named %q", name)
		}
		if err := register(mgr, opts); err != nil {
			return fmt.Errorf("registering controller %q: %w", name, err)
		}
	}
	return nil
}

func addTopic(mgr ctrl.Manager, opts options.Operator) error {
	alterable, err := topicplan.ParseAlterable(opts.Topics.AlterableConfig)
	if err != nil {
		return fmt.Errorf("reading which options of topics may be altered: %w", err)
	}
	clusters := make([]topic.Cluster, 0, len(opts.Topics.ExternalClusters))
	for _, c := range opts.Topics.ExternalClusters {
		clusters = append(clusters, topic.Cluster{
			Name: c.Name, Namespaces: c.Namespaces, BootstrapServers: c.BootstrapServers, NoEngine: topic.NoEngineExternal,
		})
	}
	measures := sluicemetrics.NewTopic(metrics.Registry)
	dial := func(c topic.Cluster) (topic.Connection, error) {
		client, err := kafka.New(kafka.Config{BootstrapServers: c.BootstrapServers, Observe: measures.AdminObserver(c.Name)})
		if err != nil {
			return topic.Connection{}, err
		}
		return topic.Connection{Admin: client}, nil
	}
	return topic.Add(mgr, topic.Options{
		Clusters:         clusters,
		MaxBatchSize:     opts.Topics.MaxBatchSize,
		MaxBatchLinger:   opts.Topics.MaxBatchLinger,
		ResyncInterval:   opts.Topics.ResyncInterval,
		UnreachableAfter: opts.Topics.UnreachableAfter,
		Workers:          opts.Topics.Workers,
		Alterable:        alterable,
		UseFinalizers:    opts.Topics.UseFinalizers,
		Metrics:          measures,
		Debug:            opts.Serving.EnableDebug,
	}, dial)
}

// brokerTimeout bounds a call to a broker: a look waits for the slowest of them, and
// one that hangs should not keep the others waiting for long.
const brokerTimeout = 10 * time.Second

func addCluster(mgr ctrl.Manager, opts options.Operator) error {
	measures := sluicemetrics.NewCluster(metrics.Registry)
	dial := func(e cluster.Endpoints) (cluster.Admin, error) {
		return kafka.New(kafka.Config{
			BootstrapServers: e.Brokers, Controllers: e.Controllers, Resolve: e.Resolve,
			Timeout: brokerTimeout, Observe: measures.AdminObserver(e.Namespace, e.Name),
		})
	}
	return cluster.Add(mgr, cluster.Options{
		LookInterval:       opts.Clusters.LookInterval,
		EmptyFor:           opts.Clusters.EmptyFor,
		EmptyForUncordoned: opts.Clusters.EmptyForUncordoned,
		Workers:            opts.Clusters.Workers,
		Metrics:            measures,
	}, dial)
}

func addVolumes(mgr ctrl.Manager, _ options.Operator) error {
	return volumes.Add(mgr, volumes.Options{})
}
