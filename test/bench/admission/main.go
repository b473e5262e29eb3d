// Command admission measures what admission costs under load: it starts a real
// API server, the chart and the operator under the chart's roles, stores 10,000
// topics, sends requests at a steady rate, and reads from the API server's own
// metrics how long each webhook took. No Kafka is needed.
//
// It fails where a request is not answered as it should be, never for a figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options of a run.
type options struct {
	topics   int
	rate     int
	duration time.Duration
	// only names the phases to run; all where empty.
	only []string
	// profiles is a folder for profiles; none are taken where empty.
	profiles string
}

// valid bounds what is asked for.
func (o options) valid() error {
	if o.topics < 1 || o.topics > 100_000 || o.rate < 1 || o.rate > 10_000 || o.duration < time.Second || o.duration > time.Hour {
		return errors.New("want 1 to 100000 topics, 1 to 10000 requests a second, for 1s to 1h")
	}
	return nil
}

func main() {
	var opts options
	flag.IntVar(&opts.topics, "topics", 10_000, "topics that the operator's cache holds")
	flag.IntVar(&opts.rate, "rate", 200, "requests a second")
	flag.DurationVar(&opts.duration, "duration", 30*time.Second, "how long each phase lasts")
	flag.StringVar(&opts.profiles, "profiles", "", "folder to write profiles of the API server's and the operator's processor time to, which costs some of it")
	only := flag.String("only", "", "phases to run, with commas between: mixed, topic-create, topic-update, kafka-create, kafka-update, pod-create, and each with bare- before it; all where empty")
	flag.Parse()
	if *only != "" {
		opts.only = strings.Split(*only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, opts)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-admission: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opts options) (err error) {
	if err := opts.valid(); err != nil {
		return err
	}
	b := &bench{options: opts, out: os.Stdout}
	defer func() { err = errors.Join(err, b.stop()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	if err := b.seed(ctx); err != nil {
		return err
	}
	r, err := b.measure(ctx)
	if err != nil {
		return err
	}
	r.print(b.out)
	return nil
}
