package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/sluice-kafka/sluice/certs"
	"github.com/sluice-kafka/sluice/controllers"
	"github.com/sluice-kafka/sluice/internal/logging"
	"github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/internal/topicplan"
	"github.com/sluice-kafka/sluice/webhooks"
)

func newOperatorCommand() *cobra.Command {
	opts := options.Default()
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Run the admission webhooks and the controllers",
		Long: "Runs the admission webhooks and the controllers in a cluster. Webhooks are served by every\n" +
			"replica, controllers run on the one that leads. Each flag has an environment variable, named in\n" +
			"brackets; the flag wins. Lists are separated by commas. Stops on SIGTERM or Ctrl-C, and hands\n" +
			"over its lease.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.BindEnv(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if err := opts.Complete(); err != nil {
				return err
			}
			log, err := startLog(opts.Log, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return runOperator(cmd.Context(), opts, log)
		},
	}
	opts.AddFlags(cmd.Flags())
	return cmd
}

// startLog makes the log of the process, that of the libraries included.
func startLog(opts options.Log, out io.Writer) (logr.Logger, error) {
	log, err := logging.New(opts, out)
	if err != nil {
		return logr.Logger{}, err
	}
	ctrl.SetLogger(log)
	klog.SetLogger(log.WithName("kubernetes"))
	return log, nil
}

// runOperator returns when ctx is done and everything has stopped, or on the
// first failure that the process cannot go on with.
func runOperator(ctx context.Context, opts options.Operator, log logr.Logger) error {
	config, err := restConfig(opts)
	if err != nil {
		return err
	}
	source := certs.NewSource(clock.RealClock{})
	mgr, err := ctrl.NewManager(config, managerOptions(opts, source, log))
	if err != nil {
		return fmt.Errorf("preparing the manager: %w", err)
	}
	health := newHealth(mgr, opts, source)
	if opts.Webhooks.Enabled {
		if err := addWebhooks(mgr, opts, source); err != nil {
			return err
		}
	}
	if err := controllers.Add(mgr, opts); err != nil {
		return err
	}
	if err := health.register(mgr); err != nil {
		return err
	}
	log.Info("Starting", "version", currentVersion(), "namespace", opts.Namespace,
		"webhooks", opts.Webhooks.Enabled, "controllers", opts.Controllers)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the operator: %w", err)
	}
	log.Info("Stopped")
	return nil
}

func addWebhooks(mgr ctrl.Manager, opts options.Operator, source *certs.Source) error {
	err := certs.Add(mgr, source, certs.Options{
		Mode:                    certs.Mode(opts.Certificates.Mode),
		Namespace:               opts.Namespace,
		SecretName:              opts.Certificates.Secret,
		Hosts:                   opts.CertificateHosts(),
		ValidatingConfiguration: opts.Webhooks.ValidatingConfiguration,
		MutatingConfiguration:   opts.Webhooks.MutatingConfiguration,
		Validity:                opts.Certificates.Validity,
		PropagationDelay:        opts.Certificates.PropagationDelay,
		RetireAfter:             opts.Certificates.RetireAfter,
		Clock:                   clock.RealClock{},
	})
	if err != nil {
		return fmt.Errorf("preparing the serving certificate: %w", err)
	}
	clusters := make([]webhooks.Cluster, 0, len(opts.Topics.ExternalClusters))
	for _, c := range opts.Topics.ExternalClusters {
		clusters = append(clusters, webhooks.Cluster{Name: c.Name, Namespaces: c.Namespaces})
	}
	alterable, err := topicplan.ParseAlterable(opts.Topics.AlterableConfig)
	if err != nil {
		return fmt.Errorf("reading which options of topics may be altered: %w", err)
	}
	if err := webhooks.Add(mgr, webhooks.Options{StrictConfig: opts.Webhooks.StrictConfig, Alterable: alterable, Clusters: clusters}); err != nil {
		return fmt.Errorf("preparing the webhooks: %w", err)
	}
	return nil
}
