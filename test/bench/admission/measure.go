package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-kafka/sluice/test/bench/machine"
	"github.com/sluice-kafka/sluice/test/harness"
)

const (
	// ofAPIServer is the API server's histogram of what calling a webhook took
	// (k8s.io/apiserver pkg/admission/metrics; observed in dispatcher.go of
	// pkg/admission/plugin/webhook/mutating and …/validating).
	ofAPIServer = "apiserver_admission_webhook_admission_duration_seconds"
	// ofOperator is the operator's histogram of what its handlers took.
	ofOperator = "sluice_admission_request_duration_seconds"
	// memory of the operator, and the time that a process spent on processors,
	// from the Prometheus client's process collector. The latter is the figure
	// that other work on the machine disturbs least.
	memory    = "process_resident_memory_bytes"
	processor = "process_cpu_seconds_total"

	// warmUp is how long requests are sent before those that count: connections
	// are made, and compiled expressions cached.
	warmUp = 2 * time.Second
)

// reading is what was counted so far.
type reading struct {
	apiServer, operator harness.Metrics
}

func (b *bench) read(ctx context.Context) (r reading, err error) {
	if r.apiServer, err = b.plane.Metrics(ctx); err != nil {
		return r, err
	}
	r.operator, err = b.operator.Metrics(ctx)
	return r, err
}

// row is what was measured of one kind of request.
type row struct {
	name      string
	apiServer harness.Histogram
	operator  harness.Histogram // without samples where it is not asked
}

// measured is what was measured of one phase.
type measured struct {
	name string
	rows []row
	// answered requests, and how many of them in a second.
	answered, rate float64
	// apiServerCPU and operatorCPU are seconds of processors a request, for all
	// that the processes do.
	apiServerCPU, operatorCPU float64
	// loadBefore and loadAfter are load averages.
	loadBefore, loadAfter string
}

// results of a run.
type results struct {
	options
	phases []measured
	// idle and loaded are the operator's resident memory in bytes, before and
	// after the load.
	idle, loaded float64
}

func (b *bench) measure(ctx context.Context) (results, error) {
	r := results{options: b.options}
	before, err := b.read(ctx)
	if err != nil {
		return r, err
	}
	r.idle = before.operator.Sum(memory)
	for _, p := range b.phases() {
		m, err := b.phase(ctx, p)
		if err != nil {
			return r, fmt.Errorf("%s: %w", p.name, err)
		}
		r.phases = append(r.phases, m)
	}
	after, err := b.read(ctx)
	if err != nil {
		return r, err
	}
	r.loaded = after.operator.Sum(memory)
	return r, nil
}

func (b *bench) phase(ctx context.Context, p phase) (measured, error) {
	out := measured{name: p.name, loadBefore: machine.Load()}
	what := fmt.Sprintf("Sending %d requests a second for %s: %s", b.rate, b.duration, p.name)
	err := harness.Step(b.out, what, func() error {
		if _, _, err := b.load.during(ctx, warmUp, b.rate, p.send); err != nil {
			return err
		}
		before, err := b.read(ctx)
		if err != nil {
			return err
		}
		err = b.profiling(ctx, p.name, func() (err error) {
			out.answered, out.rate, err = b.load.during(ctx, b.duration, b.rate, p.send)
			return err
		})
		if err != nil {
			return err
		}
		after, err := b.read(ctx)
		if err != nil {
			return err
		}
		out.apiServerCPU = (after.apiServer.Sum(processor) - before.apiServer.Sum(processor)) / out.answered
		out.operatorCPU = (after.operator.Sum(processor) - before.operator.Sum(processor)) / out.answered
		out.rows, err = rows(p, before, after)
		return err
	})
	out.loadAfter = machine.Load()
	return out, err
}

// rows has what both sides counted of each kind of request of a phase.
func rows(p phase, before, after reading) ([]row, error) {
	var out []row
	for _, r := range p.requests {
		name := p.name
		if len(p.requests) > 1 {
			name += "." + r.name
		}
		m := row{name: name, apiServer: since(before.apiServer, after.apiServer, ofAPIServer, "name="+r.webhook, "operation="+r.operation)}
		if r.kind != "" {
			m.operator = since(before.operator, after.operator, ofOperator, "kind="+r.kind, "operation="+strings.ToLower(r.operation))
		}
		if m.apiServer.Count == 0 || r.kind != "" && m.operator.Count == 0 {
			return nil, fmt.Errorf("the API server counted %.0f calls of webhook %s, and the operator %.0f requests of kind %s: do their metrics have other names?",
				m.apiServer.Count, r.webhook, m.operator.Count, r.kind)
		}
		out = append(out, m)
	}
	return out, nil
}

func since(before, after harness.Metrics, family string, labels ...string) harness.Histogram {
	return after.Histogram(family, labels...).Since(before.Histogram(family, labels...))
}
