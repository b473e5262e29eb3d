// Command demo does Sluice's main job in front of the reader: it starts a real
// API server and a Kafka on loopback, installs the chart, runs the operator
// under the chart's own roles, and then applies manifests, admits pods and
// manages topics, checking each step.
//
// It exits with 1 where a step is not as it should be. With KEEP=1 it leaves
// everything running until Ctrl-C and prints the kubeconfig to use.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-kafka/sluice/test/harness"
	"github.com/sluice-kafka/sluice/test/kafka"
)

// stopTimeout bounds how long the parts may take to stop.
const stopTimeout = time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	start := time.Now()
	part := run
	if len(os.Args) == 3 && os.Args[1] == clusterPart {
		part = runIsolated
	}
	err := part(ctx)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted && os.Getenv("KEEP") == "":
		fmt.Println("\nInterrupted; everything that was started is stopped.")
		os.Exit(130)
	case err != nil:
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		os.Exit(1)
	case len(os.Args) == 1:
		fmt.Printf("\nEvery step was as it should be. %s in all; everything that was started is stopped.\n", time.Since(start).Round(time.Second))
	}
}

func run(ctx context.Context) (err error) {
	d := &demo{story: &story{out: os.Stdout}}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, chapter := range []func(context.Context) error{
		d.start, d.refusals, d.acceptances, d.pods, d.createTopics, d.changeTopics, d.quiet, d.runCluster, d.keep,
	} {
		if err := chapter(ctx); err != nil {
			if ctx.Err() == nil {
				d.showLog()
			}
			return err
		}
	}
	return nil
}

// demo holds the running parts.
type demo struct {
	*story
	kafka     kafka.Kafka
	plane     *harness.ControlPlane
	installed *harness.Installation
	operator  *harness.Operator
	kubectl   *kubectl
}

const (
	// cluster and namespace are those of the demo's Kafka.
	cluster   = "my-cluster"
	namespace = "kafka"
	// resync is short here, so that the reader sees one.
	resync = 15 * time.Second
)

func (d *demo) start(ctx context.Context) error {
	d.chapter("Starting the parts, all on loopback")
	if err := d.startKafka(ctx); err != nil {
		return err
	}
	var err error
	err = harness.Step(d.out, "  etcd and a Kubernetes API server", func() error {
		d.plane, err = harness.StartControlPlane(ctx, harness.ControlPlaneOptions{Out: d.out})
		return err
	})
	if err != nil {
		return err
	}
	err = harness.Step(d.out, "  the chart's CRDs, roles and webhooks, and the operator under these roles", func() error {
		d.installed, err = d.plane.InstallChart(ctx, d.out, map[string]any{
			"externalClusters": []any{map[string]any{
				"name": cluster, "namespaces": []any{namespace}, "bootstrapServers": d.kafka.Bootstrap(),
			}},
		})
		if err != nil {
			return err
		}
		d.operator, err = d.installed.StartOperator(ctx, "--resync-interval="+resync.String())
		return err
	})
	if err != nil {
		return err
	}
	d.kubectl, err = newKubectl(d.plane.Config, d.story)
	if err != nil {
		return err
	}
	return d.kubectl.createNamespace(ctx, namespace)
}

func (d *demo) startKafka(ctx context.Context) error {
	missing := kafka.Available()
	switch {
	case os.Getenv("DEMO_KAFKA") == "embedded":
		missing = errors.New("DEMO_KAFKA=embedded asks for the embedded one")
	case missing != nil && os.Getenv("CI") == "true":
		return missing
	}
	if missing != nil {
		d.say("No real Kafka this time, an embedded one stands in:")
		d.answer(missing.Error())
		embedded, err := kafka.StartEmbedded(1)
		if err != nil {
			return err
		}
		d.kafka = embedded
	} else {
		err := harness.Step(d.out, "  a real Kafka, fetched by Maven once into the cache", func() error {
			real, err := kafka.Start(ctx, kafka.Options{Out: d.out})
			if err != nil {
				return err
			}
			d.kafka = real
			return nil
		})
		if err != nil {
			return err
		}
	}
	d.say("%s", d.kafka)
	return nil
}

func (d *demo) keep(ctx context.Context) error {
	if os.Getenv("KEEP") == "" {
		return nil
	}
	d.chapter("Left running until Ctrl-C")
	d.say("In another terminal:")
	d.blank()
	d.say("  export KUBECONFIG=%s", d.plane.Kubeconfig)
	d.say("  kubectl get kafkatopics -n %s", namespace)
	d.say("  kubectl describe kafkatopic %s -n %s", topicName(0), namespace)
	d.say("  kubectl apply -f test/demo/manifests/bad/topic-name.yaml")
	d.blank()
	d.say("Kafka:    %s", strings.Join(d.kafka.Bootstrap(), ","))
	d.say("Metrics:  %s", d.operator.MetricsURL)
	d.say("Log:      %s", d.operator.Log)
	<-ctx.Done()
	d.say("Stopping ...")
	return nil
}

// showLog shows the end of the operator's log, which goes with its folder.
func (d *demo) showLog() {
	if d.operator == nil {
		return
	}
	raw, err := os.ReadFile(d.operator.Log)
	if err != nil {
		return
	}
	const most = 8 << 10
	fmt.Fprintf(os.Stderr, "\nThe end of the operator's log:\n%s\n", raw[max(0, len(raw)-most):])
}

// stop stops whatever was started, in the order in which one part needs the
// other, also after an interrupt.
func (d *demo) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	if d.operator != nil {
		errs = append(errs, d.operator.Stop())
	}
	if d.plane != nil {
		errs = append(errs, d.plane.Stop())
	}
	if d.kafka != nil {
		errs = append(errs, d.kafka.Stop(ctx))
	}
	return errors.Join(errs...)
}
