package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/sluice-kafka/sluice/controllers"
	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/options"
)

func newTopicOnlyCommand() *cobra.Command {
	opts := options.DefaultTopicOnly()
	cmd := &cobra.Command{
		Use:   options.TopicOnlyScript,
		Short: "Run the topic controller alone, in place of Strimzi's topic operator",
		Long: "Runs the topic controller alone, for the KafkaTopics of one namespace, as Strimzi's Deployment of\n" +
			"its standalone topic operator expects it: with that image replaced and nothing else. Strimzi's\n" +
			"STRIMZI_* variables say what to do; those that have no effect are named in the log. A flag wins over\n" +
			"its own variable, which is named in brackets, and that over Strimzi's. Serves /healthy, /ready and\n" +
			"/metrics at one address. Stops on SIGTERM or Ctrl-C.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.Read(cmd.Flags(), os.Environ()); err != nil {
				return err
			}
			log, err := startLog(opts.Log, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return runTopicOnly(cmd.Context(), opts, log)
		},
	}
	opts.AddFlags(cmd.Flags())
	return cmd
}

// runTopicOnly returns when ctx is done and everything has stopped, or on the first
// failure that the process cannot go on with.
func runTopicOnly(ctx context.Context, opts options.TopicOnly, log logr.Logger) error {
	for _, n := range opts.Notes {
		log.Info("A variable does not do what it does with Strimzi", "variable", n.Variable, "why", n.Text)
	}
	config, err := restConfig(opts.Operator)
	if err != nil {
		return err
	}
	p := newProbes()
	settings := topicOnlyManager(opts, log)
	settings.Metrics.ExtraHandlers = p.handlers(settings.Metrics.ExtraHandlers)
	mgr, err := ctrl.NewManager(config, settings)
	if err != nil {
		return fmt.Errorf("preparing the manager: %w", err)
	}
	p.ready.Checks["caches"] = cachesSynced(mgr.GetCache())
	if err := controllers.AddTopicOnly(probed{mgr, p}, opts); err != nil {
		return err
	}
	log.Info("Starting with the topic controller alone", "version", currentVersion(), "namespace", opts.Namespace,
		"selector", opts.Topics.Selector, "kafkaCluster", opts.ClusterName, "bootstrapServers", opts.BootstrapServers,
		"securityProtocol", string(opts.Login.Data[kafka.KeySecurityProtocol]))
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the topic controller: %w", err)
	}
	log.Info("Stopped")
	return nil
}

func topicOnlyManager(opts options.TopicOnly, log logr.Logger) ctrl.Options {
	return ctrl.Options{
		Scheme: newScheme(),
		Logger: log,
		Cache: cache.Options{
			DefaultTransform:  smallCopies(),
			DefaultNamespaces: map[string]cache.Config{opts.Namespace: {}},
		},
		Metrics: metricsOptions(opts.Operator, nil),
	}
}

// probes answer at the address of the metrics, where Strimzi's do.
type probes struct{ healthy, ready *healthz.Handler }

func newProbes() probes {
	return probes{
		healthy: &healthz.Handler{Checks: map[string]healthz.Checker{"ping": healthz.Ping}},
		ready:   &healthz.Handler{Checks: map[string]healthz.Checker{}},
	}
}

// handlers adds those of the probes.
func (p probes) handlers(others map[string]http.Handler) map[string]http.Handler {
	all := map[string]http.Handler{
		"/healthy": http.StripPrefix("/healthy", p.healthy),
		"/ready":   http.StripPrefix("/ready", p.ready),
	}
	for path, handler := range others {
		all[path] = handler
	}
	return all
}

// probed is a manager whose checks are served by probes. They are complete before it
// is started.
type probed struct {
	ctrl.Manager
	probes probes
}

// AddHealthzCheck implements manager.Manager.
func (m probed) AddHealthzCheck(name string, check healthz.Checker) error {
	m.probes.healthy.Checks[name] = check
	return nil
}

// AddReadyzCheck implements manager.Manager.
func (m probed) AddReadyzCheck(name string, check healthz.Checker) error {
	m.probes.ready.Checks[name] = check
	return nil
}
