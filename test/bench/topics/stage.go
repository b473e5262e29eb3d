package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
)

// patience bounds every wait.
const patience = 10 * time.Minute

// stage is a control plane and a Kafka of one kind, with the sizes that are
// measured in it.
type stage struct {
	options
	out  io.Writer
	real bool

	kafka     testkafka.Kafka
	raw       *kgo.Client
	plane     *harness.ControlPlane
	installed *harness.Installation
	operator  *harness.Operator
	kube      client.WithWatch
	// loaded is the number of topics that are there.
	loaded int
	// turn counts bare calls that any broker answers.
	turn int
	// injected counts changes, so that no two are alike.
	injected int
}

// stages divides the sizes between real brokers and the imitation.
func stages(opts options, out io.Writer) []*stage {
	var all []*stage
	for _, real := range []bool{true, false} {
		s := &stage{options: opts, out: out, real: real}
		s.sizes = nil
		for _, n := range opts.sizes {
			if (n <= opts.realUpTo) == real {
				s.sizes = append(s.sizes, n)
			}
		}
		if len(s.sizes) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func run(ctx context.Context, opts options, out io.Writer) error {
	r := results{options: opts}
	for _, s := range stages(opts, out) {
		measured, err := s.run(ctx)
		r.measured = append(r.measured, measured...)
		if err != nil {
			// What took so long to measure is not lost with the rest.
			if len(r.measured) > 0 {
				r.print(out)
			}
			return err
		}
	}
	r.print(out)
	return nil
}

func (s *stage) run(ctx context.Context) (measured []size, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	for _, n := range s.sizes {
		m, err := s.measure(ctx, n)
		if err != nil {
			return measured, fmt.Errorf("with %d topics: %w", n, err)
		}
		measured = append(measured, m)
	}
	return measured, nil
}

func (s *stage) start(ctx context.Context) (err error) {
	what := "Starting an embedded Kafka in a process of its own"
	if s.real {
		what = fmt.Sprintf("Starting %d Kafka brokers", brokers)
	}
	err = harness.Step(s.out, what, func() error {
		s.kafka, err = startKafka(ctx, s.real, s.out)
		return err
	})
	if err != nil {
		return err
	}
	if s.raw, err = kgo.NewClient(kgo.SeedBrokers(s.kafka.Bootstrap()...), kgo.DisableClientMetrics()); err != nil {
		return err
	}
	// From then on it knows all of them.
	if err := s.raw.Ping(ctx); err != nil {
		return err
	}
	err = harness.Step(s.out, "Starting etcd and a Kubernetes API server, and installing the chart", func() error {
		if s.plane, err = harness.StartControlPlane(ctx, harness.ControlPlaneOptions{Out: s.out}); err != nil {
			return err
		}
		s.installed, err = s.plane.InstallChart(ctx, s.out, s.values())
		return err
	})
	if err != nil {
		return err
	}
	config := rest.CopyConfig(s.plane.Config)
	config.QPS = -1 // the pace is the benchmark's own
	config.WarningHandler = rest.NoWarnings{}
	if s.kube, err = client.NewWithWatch(config, client.Options{Scheme: harness.Scheme()}); err != nil {
		return err
	}
	for _, name := range []string{namespace, bareNamespace} {
		if err := s.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("creating namespace %s: %w", name, err)
		}
	}
	return s.startOperator(ctx)
}

// values of the chart: nothing runs but the topic controller and the webhooks, and
// no resync comes but those that are asked for.
func (s *stage) values() map[string]any {
	return map[string]any{
		"externalClusters": []any{map[string]any{
			"name": cluster, "namespaces": []any{namespace}, "bootstrapServers": s.kafka.Bootstrap(),
		}},
		"controllers": []any{"topic"},
		"topics":      map[string]any{"resyncInterval": "24h"},
		"debug":       map[string]any{"enabled": true},
	}
}

func (s *stage) startOperator(ctx context.Context) (err error) {
	s.operator, err = s.installed.StartOperator(ctx)
	return err
}

// stop stops whatever was started, also after an interrupt.
func (s *stage) stop() error {
	var errs []error
	if s.operator != nil {
		errs = append(errs, s.operator.Stop())
	}
	if s.plane != nil {
		errs = append(errs, s.plane.Stop())
	}
	if s.raw != nil {
		s.raw.Close()
	}
	if s.kafka != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		errs = append(errs, s.kafka.Stop(ctx))
	}
	return errors.Join(errs...)
}

// load creates topics until n are there and in Kafka.
func (s *stage) load(ctx context.Context, n int) error {
	return harness.Step(s.out, fmt.Sprintf("Loading topics up to %d, by %d writers", n, writers), func() error {
		seen, err := s.watch(ctx, ours, "seed")
		if err != nil {
			return err
		}
		defer seen.stop()
		err = each(ctx, s.loaded, n, func(ctx context.Context, i int) error {
			// Beside other work on a small machine admission may not be in time.
			return retry.OnError(retry.DefaultBackoff, apierrors.IsInternalError, func() error {
				return client.IgnoreAlreadyExists(s.kube.Create(ctx, seeded(i)))
			})
		})
		if err != nil {
			return err
		}
		if err := seen.until(ctx, n, ready(1)); err != nil {
			return err
		}
		s.loaded = n
		if err := s.rest(ctx); err != nil {
			return err
		}
		return s.shown(ctx, ours, "seed", n)
	})
}

// profileLooks profiles the operator while it does nothing but look at all topics.
func (s *stage) profileLooks(ctx context.Context, topics int) error {
	if s.profiles == "" {
		return nil
	}
	looking, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.lookWithoutEnd(looking) }()
	err := s.writeProfile(ctx, fmt.Sprintf("look-%d.pprof", topics), "/debug/pprof/profile?seconds=5")
	stop()
	return errors.Join(err, <-ended, s.idle(ctx))
}

// writeProfile keeps a profile where a folder was named.
func (s *stage) writeProfile(ctx context.Context, name, path string) error {
	if s.profiles == "" {
		return nil
	}
	raw, err := s.operator.Ask(ctx, "GET", path)
	if err != nil {
		return fmt.Errorf("taking profile %s: %w", name, err)
	}
	if err := os.MkdirAll(s.profiles, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.profiles, name), raw, 0o644)
}
