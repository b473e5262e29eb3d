// Command topics measures the topic controller: it starts a real API server, the
// chart, the operator under the chart's roles as a process of its own, and a
// Kafka, loads more and more topics, and sets what the operator takes beside what
// a bare loop takes that makes the same calls. Up to 10,000 topics Kafka is three
// real brokers; beyond that an imitation (kfake) in a process of its own, since
// brokers on one machine run out of files and memory maps.
//
// It fails where something does not work, never for a figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options of a run.
type options struct {
	// sizes are the numbers of topics, ascending.
	sizes []int
	// realUpTo is the largest number of topics for which Kafka is real.
	realUpTo int
	// batch is the number of topics that are created, changed and deleted.
	batch int
	// changes is the number of changes injected during resyncs.
	changes int
	// rounds is how often each pair of measurements is taken.
	rounds int
	// memoryWait is how long the lowest memory is looked for.
	memoryWait time.Duration
	// only names the parts to measure; all where empty.
	only []string
	// profiles is a folder for profiles; none are taken where empty.
	profiles string
}

// sizesVariable names the sizes where no flag does.
const sizesVariable = "BENCH_SIZES"

func defaults() options {
	return options{
		sizes: []int{1_000, 10_000, 25_000, 50_000}, realUpTo: 10_000,
		batch: 2_000, changes: 200, rounds: 3, memoryWait: 30 * time.Second,
	}
}

// Parts of what is measured of each size.
const (
	partStart  = "start"
	partLook   = "look"
	partMemory = "memory"
	partChange = "change"
	partLives  = "lives"
)

var parts = []string{partStart, partLook, partMemory, partChange, partLives}

// measures tells whether a part is to be measured.
func (o options) measures(part string) bool { return len(o.only) == 0 || slices.Contains(o.only, part) }

// valid bounds what is asked for.
func (o options) valid() error {
	switch {
	case len(o.sizes) == 0 || !slices.IsSorted(o.sizes) || o.sizes[0] < 1 || o.sizes[len(o.sizes)-1] > 200_000:
		return errors.New("want sizes from 1 to 200000, ascending")
	case slices.ContainsFunc(o.only, func(part string) bool { return !slices.Contains(parts, part) }):
		return fmt.Errorf("want parts of %s", strings.Join(parts, ", "))
	case o.batch < 1 || o.batch > 10_000 || o.changes < 1 || o.rounds < 1:
		return errors.New("want 1 to 10000 topics to work on, and at least one change and one round")
	}
	return nil
}

func parseSizes(text string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("sizes are numbers with commas between: %w", err)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func parse(args []string, env string) (options, error) {
	opts := defaults()
	flags := flag.NewFlagSet("bench-topics", flag.ContinueOnError)
	sizes := flags.String("sizes", env, "numbers of topics to measure with, with commas between; $"+sizesVariable+", else 1000,10000,25000,50000")
	flags.IntVar(&opts.realUpTo, "real-up-to", opts.realUpTo, "largest size for which Kafka is real brokers, which need Java and Maven; 0 for none")
	flags.IntVar(&opts.batch, "batch", opts.batch, "topics to create, change and delete")
	flags.IntVar(&opts.changes, "changes", opts.changes, "changes to make during resyncs")
	flags.IntVar(&opts.rounds, "rounds", opts.rounds, "how often each thing is measured, in turn with its bare counterpart; the median counts")
	flags.DurationVar(&opts.memoryWait, "memory-wait", opts.memoryWait, "how long after a garbage collection the lowest memory is looked for")
	only := flags.String("only", "", "parts to measure, with commas between: "+strings.Join(parts, ", ")+"; all where empty")
	flags.StringVar(&opts.profiles, "profiles", "", "folder to write profiles of the operator to, which costs some of its time")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	if *sizes != "" {
		var err error
		if opts.sizes, err = parseSizes(*sizes); err != nil {
			return opts, err
		}
	}
	if *only != "" {
		opts.only = strings.Split(*only, ",")
	}
	return opts, opts.valid()
}

func main() {
	serveWhereAsked()
	opts, err := parse(os.Args[1:], os.Getenv(sizesVariable))
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = run(ctx, opts, os.Stdout)
		stop()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-topics: %v\n", err)
		os.Exit(1)
	}
}
