package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/sluice-kafka/sluice/test/bench/machine"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

// bar is what the 99th percentile is to stay within, in seconds: the first bound
// of the API server's histogram, so the share within it is exact.
const bar = 0.005

func (r results) print(out io.Writer) {
	fmt.Fprintf(out, "\nAdmission at %d requests a second, %s each, beside %d topics; a Kafka has %d templated\nvolumes and %d pools, a pod %d mounts.\n",
		r.options.rate, r.duration, r.topics, workload.Volumes, workload.Pools, workload.Volumes)
	fmt.Fprintf(out, "Machine: %s.\nLoad generator, API server, etcd and operator share it.\n\n", machine.Describe())
	r.table(out)
	fmt.Fprint(out, `
* interpolated: a histogram knows of each request only its bucket. The API server's
  first ends at 5 ms, so its p50 and p99 tell little below that; what is exact is the
  share within 5 ms. The operator's buckets double from 0.1 ms on.
`)
	for _, row := range r.rows {
		verdict := "MISSED"
		if row.apiServer.Within(bar) >= 0.99 {
			verdict = "met"
		}
		fmt.Fprintf(out, "p99 within 5 ms, %s: %s\n", row.name, verdict)
	}
	fmt.Fprintf(out, "The operator's resident memory: %.1f MiB before the load, %.1f MiB after it.\n\n", mib(r.idle), mib(r.loaded))
	r.figures(out)
}

// table has the figures of the API server under "api", those of the operator's
// own handlers under "op".
func (r results) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "request\tcount\t/s\tapi <= 5 ms\tapi mean\tapi p50 *\tapi p99 *\tapi slowest\top mean\top p50 *\top p99 *\t")
	for _, row := range r.rows {
		s, o := row.apiServer, row.operator
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f%%\t%s\t%s\t%s\t<= %s\t%s\t%s\t%s\t\n", row.name, s.Count, row.rate, 100*s.Within(bar),
			ms(s.Mean()), ms(s.Quantile(0.5)), ms(s.Quantile(0.99)), ms(s.Highest()),
			ms(o.Mean()), ms(o.Quantile(0.5)), ms(o.Quantile(0.99)))
	}
	_ = w.Flush()
	fmt.Fprintln(out, "\nLoad average (1, 5, 15 minutes) before and after each:")
	for _, row := range r.rows {
		fmt.Fprintf(out, "  %s: %s; %s\n", row.name, row.loadBefore, row.loadAfter)
	}
}

// figures prints one figure a line, for programs.
func (r results) figures(out io.Writer) {
	fmt.Fprintf(out, "machine: %s\n", machine.Describe())
	for _, row := range r.rows {
		s, o := row.apiServer, row.operator
		fmt.Fprintf(out, "%s.load-average-before: %s\n%s.load-average-after: %s\n", row.name, row.loadBefore, row.name, row.loadAfter)
		for _, f := range []struct {
			name  string
			value float64
		}{
			{"requests", s.Count},
			{"requests-per-second", row.rate},
			{"apiserver-within-5ms-percent", 100 * s.Within(bar)},
			{"apiserver-mean-ms", 1000 * s.Mean()},
			{"apiserver-p50-ms", 1000 * s.Quantile(0.5)},
			{"apiserver-p99-ms", 1000 * s.Quantile(0.99)},
			{"apiserver-slowest-bucket-ms", 1000 * s.Highest()},
			{"operator-mean-ms", 1000 * o.Mean()},
			{"operator-p50-ms", 1000 * o.Quantile(0.5)},
			{"operator-p99-ms", 1000 * o.Quantile(0.99)},
		} {
			fmt.Fprintf(out, "%s.%s: %.2f\n", row.name, f.name, f.value)
		}
	}
	fmt.Fprintf(out, "operator.rss-idle-mib: %.1f\noperator.rss-loaded-mib: %.1f\n", mib(r.idle), mib(r.loaded))
}

func ms(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "inf"
	}
	return fmt.Sprintf("%.2f ms", 1000*seconds)
}

func mib(bytes float64) float64 { return bytes / (1 << 20) }
