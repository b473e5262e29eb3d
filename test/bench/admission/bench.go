package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/bench/workload"
	"github.com/sluice-kafka/sluice/test/harness"
)

const (
	// stored is a Kafka that exists, fresh one of which only the pools do: its
	// creation is tried again and again.
	stored, fresh = "stored", "fresh"

	// cacheTimeout bounds how long the operator may take to see what was stored.
	cacheTimeout = 2 * time.Minute
)

// bench holds the running parts.
type bench struct {
	options
	out      io.Writer
	plane    *harness.ControlPlane
	operator *harness.Operator
	client   client.Client
	load     load
	bare     *bareWebhook
}

func (b *bench) start(ctx context.Context) error {
	var err error
	err = harness.Step(b.out, "Starting etcd and a Kubernetes API server", func() error {
		b.plane, err = harness.StartControlPlane(ctx, harness.ControlPlaneOptions{Out: b.out})
		return err
	})
	if err != nil {
		return err
	}
	err = harness.Step(b.out, "Installing the chart and starting the operator under its roles", func() error {
		installed, err := b.plane.InstallChart(ctx, b.out, nil)
		if err != nil {
			return err
		}
		var extra []string
		if b.profiles != "" {
			extra = append(extra, "--enable-debug")
		}
		b.operator, err = installed.StartOperator(ctx, extra...)
		return err
	})
	if err != nil {
		return err
	}
	config := rest.CopyConfig(b.plane.Config)
	config.QPS = -1 // the pace is the benchmark's own
	config.WarningHandler = rest.NoWarnings{}
	b.client, err = client.New(config, client.Options{Scheme: harness.Scheme()})
	return err
}

// seed stores, through admission, what the judged objects stand beside, and
// waits until the operator knows it.
func (b *bench) seed(ctx context.Context) error {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: workload.Namespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: bareNamespace, Labels: map[string]string{apiv1.LabelAdmission: apiv1.AdmissionDisabled},
		}},
		workload.Kafka(stored),
		within(bareNamespace, workload.Kafka(stored)),
	}
	for _, cluster := range []string{stored, fresh} {
		for _, p := range workload.NodePools(cluster) {
			objects = append(objects, p)
		}
	}
	for n := range min(b.topics, bareTopics) {
		objects = append(objects, within(bareNamespace, workload.Topic(stored, n)))
	}
	for _, o := range objects {
		if err := b.client.Create(ctx, o); err != nil {
			return fmt.Errorf("storing %T %s: %w", o, o.GetName(), err)
		}
	}
	err := harness.Step(b.out, fmt.Sprintf("Storing %d topics, each judged by admission", b.topics), func() error {
		return times(ctx, b.topics, func(ctx context.Context, n int) error {
			return b.client.Create(ctx, workload.Topic(stored, n))
		})
	})
	if err != nil {
		return fmt.Errorf("storing topics: %w", err)
	}
	b.bare = startBareWebhook()
	if err := b.bare.register(ctx, b.client); err != nil {
		return err
	}
	return b.waitKnown(ctx)
}

// waitKnown waits until the operator's cache holds the topics.
func (b *bench) waitKnown(ctx context.Context) error {
	// The last one is known where a second claim on its name is refused.
	twin := workload.Topic(stored, b.topics-1)
	twin.Name = "twin"
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, cacheTimeout, true, func(ctx context.Context) (bool, error) {
		last = b.client.Create(ctx, twin.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(last), nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the operator knows the topics and refuses a second claim on one's name: %w", errors.Join(err, last))
	}
	return nil
}

// stop stops whatever was started, also after an interrupt.
func (b *bench) stop() error {
	var errs []error
	if b.operator != nil {
		errs = append(errs, b.operator.Stop())
	}
	if b.bare != nil {
		b.bare.server.Close()
	}
	if b.plane != nil {
		errs = append(errs, b.plane.Stop())
	}
	return errors.Join(errs...)
}
