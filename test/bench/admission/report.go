package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/sluice-kafka/sluice/test/bench/machine"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// bar is what the 99th percentile is to stay within, in seconds: the first bound
// of the API server's histogram, so the share within it is exact.
const bar = 0.005

// keptUp is the share of the wanted rate below which a phase measures a queue.
const keptUp = 0.95

func (r results) print(out io.Writer) {
	fmt.Fprintf(out, "\nAdmission at %d requests a second, %s each phase, beside %d topics; a Kafka has %d templated\nvolumes and %d pools, a pod %d mounts.\n",
		r.rate, r.duration, r.topics, workload.Volumes, workload.Pools, workload.Volumes)
	fmt.Fprintf(out, "Machine: %s.\nLoad generator, API server, etcd and operator share it.\n\n", machine.Describe())
	r.requestTable(out)
	fmt.Fprint(out, `
api: the API server's calls of the webhook; op: the operator's own handlers.
bare: the same requests where Sluice is switched off and a webhook that says yes to
everything is called in its place: what any webhook costs on this machine.
* interpolated: a histogram knows of each request only its bucket. The API server's
  first ends at 5 ms, so its p50 and p99 tell little below that; what is exact is the
  share within 5 ms. The operator's buckets double from 0.1 ms on.

`)
	r.phaseTable(out)
	fmt.Fprintln(out)
	r.verdicts(out)
	fmt.Fprintf(out, "The operator's resident memory: %.1f MiB before the load, %.1f MiB after it.\n\n", mib(r.idle), mib(r.loaded))
	r.figures(out)
}

// verdicts sets Sluice's webhooks beside the bare one: where that misses the bar
// too, the machine does.
func (r results) verdicts(out io.Writer) {
	within := map[string]float64{}
	for _, p := range r.phases {
		for _, row := range p.rows {
			within[row.name] = row.apiServer.Within(bar)
		}
	}
	for _, p := range r.phases {
		if strings.HasPrefix(p.name, barePrefix) {
			continue
		}
		for _, row := range p.rows {
			verdict, share := "MISSED", within[row.name]
			if share >= 0.99 {
				verdict = "met"
			}
			fmt.Fprintf(out, "p99 within 5 ms, %s: %s, %.2f%% are", row.name, verdict, 100*share)
			if bare, ok := within[barePrefix+row.name]; ok {
				fmt.Fprintf(out, ", %.2f%% of a bare webhook", 100*bare)
			}
			if p.rate < keptUp*float64(r.rate) {
				fmt.Fprintf(out, "; in a queue, for the machine carries %.0f a second", p.rate)
			}
			fmt.Fprintln(out)
		}
	}
}

func (r results) requestTable(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "request\tcount\tapi <= 5 ms\tapi mean\tapi p50 *\tapi p99 *\tapi slowest <=\top mean\top p50 *\top p99 *\top slowest <=\t")
	for _, p := range r.phases {
		for _, row := range p.rows {
			s, o := row.apiServer, row.operator
			fmt.Fprintf(w, "%s\t%.0f\t%.2f%%\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", row.name, s.Count, 100*s.Within(bar),
				ms(s.Mean()), ms(s.Quantile(0.5)), ms(s.Quantile(0.99)), ms(s.Highest()),
				ms(o.Mean()), ms(o.Quantile(0.5)), ms(o.Quantile(0.99)), ms(o.Highest()))
		}
	}
	_ = w.Flush()
}

// phaseTable is of whole phases: processors' time is what a process spends on all
// that it does.
func (r results) phaseTable(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "phase\tanswered\ta second\tapi CPU a request\top CPU a request\tload average before\tand after\t")
	for _, p := range r.phases {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t\n", p.name, p.answered, p.rate, ms(p.apiServerCPU), ms(p.operatorCPU), p.loadBefore, p.loadAfter)
	}
	_ = w.Flush()
}

// figures prints one figure a line, for programs.
func (r results) figures(out io.Writer) {
	figure := func(of, name string, value float64) { fmt.Fprintf(out, "%s.%s: %.2f\n", of, name, value) }
	fmt.Fprintf(out, "machine: %s\n", machine.Describe())
	for _, p := range r.phases {
		fmt.Fprintf(out, "%s.load-average-before: %s\n%s.load-average-after: %s\n", p.name, p.loadBefore, p.name, p.loadAfter)
		figure(p.name, "requests-per-second", p.rate)
		figure(p.name, "apiserver-cpu-per-request-ms", 1000*p.apiServerCPU)
		figure(p.name, "operator-cpu-per-request-ms", 1000*p.operatorCPU)
		for _, row := range p.rows {
			s, o := row.apiServer, row.operator
			figure(row.name, "requests", s.Count)
			figure(row.name, "apiserver-within-5ms-percent", 100*s.Within(bar))
			figure(row.name, "apiserver-mean-ms", 1000*s.Mean())
			figure(row.name, "apiserver-p50-ms", 1000*s.Quantile(0.5))
			figure(row.name, "apiserver-p99-ms", 1000*s.Quantile(0.99))
			figure(row.name, "apiserver-slowest-bucket-ms", 1000*s.Highest())
			if o.Count == 0 {
				continue
			}
			figure(row.name, "operator-mean-ms", 1000*o.Mean())
			figure(row.name, "operator-p50-ms", 1000*o.Quantile(0.5))
			figure(row.name, "operator-p99-ms", 1000*o.Quantile(0.99))
		}
	}
	figure("operator", "rss-idle-mib", mib(r.idle))
	figure("operator", "rss-loaded-mib", mib(r.loaded))
}

func ms(seconds float64) string {
	switch {
	case math.IsInf(seconds, 1):
		return "inf"
	case math.IsNaN(seconds):
		return "-"
	}
	return fmt.Sprintf("%.2f ms", 1000*seconds)
}

func mib(bytes float64) float64 { return bytes / (1 << 20) }
