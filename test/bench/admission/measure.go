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
	// memory of the operator, from the Prometheus client's process collector.
	memory = "process_resident_memory_bytes"

	// warmUp is how long requests are sent before those that count: connections
	// are made, and compiled expressions cached.
	warmUp = 2 * time.Second
)

// row is what was measured of one kind of request.
type row struct {
	request
	rate      float64
	apiServer harness.Histogram
	operator  harness.Histogram
	// loadBefore and loadAfter are load averages.
	loadBefore, loadAfter string
}

// results of a run.
type results struct {
	options
	rows []row
	// idle and loaded are the operator's resident memory in bytes, before and
	// after the load.
	idle, loaded float64
}

func (b *bench) measure(ctx context.Context) (results, error) {
	r := results{options: b.options}
	reading, err := b.operator.Metrics(ctx)
	if err != nil {
		return r, err
	}
	r.idle = reading.Sum(memory)
	for _, req := range b.requests() {
		measured, err := b.row(ctx, req)
		if err != nil {
			return r, fmt.Errorf("%s: %w", req.name, err)
		}
		r.rows = append(r.rows, measured)
	}
	if reading, err = b.operator.Metrics(ctx); err != nil {
		return r, err
	}
	r.loaded = reading.Sum(memory)
	return r, nil
}

func (b *bench) row(ctx context.Context, req request) (row, error) {
	out := row{request: req, loadBefore: machine.Load()}
	pace := newPacer(b.rate)
	err := harness.Step(b.out, fmt.Sprintf("Sending %d requests a second for %s: %s", b.rate, b.duration, req.name), func() error {
		if _, err := pace.during(ctx, warmUp, req.send); err != nil {
			return err
		}
		serverBefore, operatorBefore, err := b.read(ctx, req)
		if err != nil {
			return err
		}
		if out.rate, err = pace.during(ctx, b.duration, req.send); err != nil {
			return err
		}
		server, operator, err := b.read(ctx, req)
		if err != nil {
			return err
		}
		out.apiServer, out.operator = server.Since(serverBefore), operator.Since(operatorBefore)
		if out.apiServer.Count == 0 || out.operator.Count == 0 {
			return fmt.Errorf("the API server counted %.0f calls of webhook %s and the operator %.0f requests for a %s: is it registered under that name?",
				out.apiServer.Count, req.webhook, out.operator.Count, req.kind)
		}
		return nil
	})
	out.loadAfter = machine.Load()
	return out, err
}

func (b *bench) read(ctx context.Context, req request) (server, operator harness.Histogram, err error) {
	ofServer, err := b.plane.Metrics(ctx)
	if err != nil {
		return server, operator, err
	}
	ofProcess, err := b.operator.Metrics(ctx)
	if err != nil {
		return server, operator, err
	}
	return ofServer.Histogram(ofAPIServer, "name="+req.webhook, "operation="+strings.ToUpper(req.operation)),
		ofProcess.Histogram(ofOperator, "kind="+req.kind, "operation="+req.operation), nil
}
