package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	corev1 "k8s.io/api/core/v1"

	sluicekafka "github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/harness"
	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/traffic"
)

// clusterPart is the argument by which the demo runs its second part: a Kafka
// cluster that Sluice runs, in a network of its own.
const clusterPart = "cluster"

// bootstrap is where clients reach the cluster.
const bootstrap = cluster + "-kafka-bootstrap." + namespace + ".svc:9092"

// runCluster tells the second part in a process of its own: pods need a network of
// theirs, and this process goes on in the machine's.
func (d *demo) runCluster(ctx context.Context) error {
	if missing := clusterMissing(); missing != nil {
		if os.Getenv("CI") == "true" && os.Getenv("DEMO_KAFKA") != "embedded" {
			return missing
		}
		d.chapter("A cluster that Sluice runs is not shown")
		d.answer(missing.Error())
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, clusterPart, strconv.Itoa(d.chapters))
	cmd.Stdout, cmd.Stderr = d.out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the part on a cluster that Sluice runs: %w", err)
	}
	return nil
}

// clusterMissing is what the second part needs and this machine has not.
func clusterMissing() error {
	if os.Getenv("DEMO_KAFKA") == "embedded" {
		return errors.New("DEMO_KAFKA=embedded: an embedded Kafka has no broker processes to scale")
	}
	if err := kafka.Available(); err != nil {
		return err
	}
	return harness.CanIsolate()
}

// runningDemo is the second part.
type runningDemo struct {
	*story
	plane    *harness.ControlPlane
	operator *harness.Operator
	kubectl  *kubectl
	kafka    *kadm.Client
	admin    *sluicekafka.Client
	traffic  *traffic.Traffic
	shown    map[string]bool // Events
}

// prepareCluster has built and downloaded what the second part needs.
func prepareCluster(ctx context.Context) error {
	_, assets := harness.Assets(ctx, os.Stdout, harness.Etcd, harness.KubeAPIServer, harness.KubeControllerManager)
	_, agent := harness.NodeAgentAssets(ctx, os.Stdout)
	_, _, helm := harness.Helm(ctx, os.Stdout)
	_, binary := harness.Binary(ctx)
	_, image := kafka.Image(ctx, kafka.DefaultVersion, os.Stdout)
	return errors.Join(assets, agent, helm, binary, image)
}

// runIsolated is the second part, whose process Isolate moves first.
func runIsolated(ctx context.Context) error {
	if err := harness.Isolate(func() error { return prepareCluster(ctx) }); err != nil {
		return err
	}
	chapters, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return fmt.Errorf("reading how many chapters there were: %w", err)
	}
	return tellCluster(ctx, chapters)
}

func tellCluster(ctx context.Context, chapters int) (err error) {
	d := &runningDemo{story: &story{out: os.Stdout, chapters: chapters}, shown: map[string]bool{}}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, chapter := range []func(context.Context) error{d.start, d.bringUp, d.fill, d.cancelled, d.scaleDown, d.verify} {
		if err := chapter(ctx); err != nil {
			if ctx.Err() == nil {
				d.showStory()
			}
			return err
		}
	}
	return nil
}

func (d *runningDemo) start(ctx context.Context) error {
	d.chapter("A Kubernetes whose pods are processes")
	image, err := kafka.Image(ctx, kafka.DefaultVersion, d.out)
	if err != nil {
		return err
	}
	err = harness.Step(d.out, "  etcd, an API server, the controller manager and two nodes, in a network of their own", func() error {
		if d.plane, err = harness.StartControlPlane(ctx, harness.ControlPlaneOptions{ControllerManager: true, Out: d.out}); err != nil {
			return err
		}
		_, err = d.plane.StartNodes(ctx, harness.NodesOptions{
			Nodes: map[string]map[string]string{
				"node-a": {corev1.LabelTopologyZone: "a"}, "node-b": {corev1.LabelTopologyZone: "b"},
			},
			Images: map[string]harness.Image{kafka.ImageName(kafka.DefaultVersion): {Folder: image, Path: kafka.ImagePath}},
			Env:    harness.JVM(),
			Out:    d.out,
		})
		return err
	})
	if err != nil {
		return err
	}
	err = harness.Step(d.out, "  the chart, and the operator under its roles", func() error {
		installed, err := d.plane.InstallChart(ctx, d.out, nil)
		if err != nil {
			return err
		}
		d.operator, err = installed.StartOperator(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if d.kubectl, err = newKubectl(d.plane.Config, d.story); err != nil {
		return err
	}
	return d.kubectl.createNamespace(ctx, namespace)
}

func (d *runningDemo) bringUp(ctx context.Context) error {
	d.chapter("Five brokers from a Kafka and two pools")
	refusal, _, err := d.kubectl.apply(ctx, "cluster.yaml")
	if err != nil {
		return err
	}
	if refusal != "" {
		return errors.New(refusal)
	}
	start := time.Now()
	d.blank()
	if err := d.await(ctx, d.clusterReady); err != nil {
		return err
	}
	d.say("Ready after %s.", time.Since(start).Round(100*time.Millisecond))
	if err := d.kubectl.show(ctx, "kafka,kafkanodepools"); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		return err
	}
	d.kafka = kadm.NewClient(client)
	d.admin, err = sluicekafka.New(sluicekafka.Config{BootstrapServers: []string{bootstrap}})
	return err
}

func (d *runningDemo) stop() error {
	var errs []error
	if d.kafka != nil {
		d.kafka.Close()
	}
	if d.admin != nil {
		d.admin.Close()
	}
	if d.operator != nil {
		errs = append(errs, d.operator.Stop())
	}
	if d.plane != nil {
		errs = append(errs, d.plane.Stop())
	}
	return errors.Join(errs...)
}

// showStory shows what the operator told and logged.
func (d *runningDemo) showStory() {
	if d.operator == nil {
		return
	}
	raw, _ := os.ReadFile(d.operator.Log)
	const most = 8 << 10
	fmt.Fprintf(os.Stderr, "\nThe end of the operator's log:\n%s\n", raw[max(0, len(raw)-most):])
}
