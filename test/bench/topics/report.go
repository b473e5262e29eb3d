package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/sluice-kafka/sluice/test/bench/machine"
)

// results of a run, by size, ascending.
type results struct {
	options
	sizes []size
}

// figure is one row of a size.
type figure struct {
	// name is without the size; the last size, or that of mainSize, is named
	// without one too where plain is set.
	name  string
	unit  string
	value float64
	bare  float64
	plain string
}

// mainSize is the size that the bars are about.
const mainSize = 10_000

func (r results) print(out io.Writer) {
	fmt.Fprintf(out, "\nMachine: %s.\nLoad generator, Kafka, API server, etcd and operator share it.\n", machine.Describe())
	fmt.Fprintf(out, "A topic has %d partitions, replication factor %d and three options. Times are medians of %d rounds, in turn with\n"+
		"the bare calls; of changes the percentiles of %d. %d writers, batches of %d.\n\n", partitions, replicas, r.rounds, r.changes, writers, batchSize)
	r.table(out)
	fmt.Fprintf(out, "\nmachine: %s\n", machine.Describe())
	for _, m := range r.sizes {
		for _, f := range m.figures(r.batch) {
			fmt.Fprintf(out, "%s_%d: %s\n", f.name, m.topics, number3(f.value))
			if f.bare > 0 {
				fmt.Fprintf(out, "bare_%s_%d: %s\n", f.name, m.topics, number3(f.bare))
				fmt.Fprintf(out, "%s_ratio_%d: %s\n", f.name, m.topics, number3(f.value/f.bare))
			}
		}
		for part, load := range m.loads {
			fmt.Fprintf(out, "load_average_%s_%d: %s\n", part, m.topics, load)
		}
	}
}

func (r results) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "topics\tfigure\toperator\tbare\tratio\tx the size before\t")
	for i, m := range r.sizes {
		for j, f := range m.figures(r.batch) {
			bare, ratio, growth := "", "", ""
			if f.bare > 0 {
				bare, ratio = number3(f.bare), number3(f.value/f.bare)
			}
			if i > 0 && f.value > 0 {
				growth = number3(f.value / r.sizes[i-1].figures(r.batch)[j].value)
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t\n", m.topics, f.name, number3(f.value), bare, ratio, growth)
		}
	}
	_ = w.Flush()
}

func (m size) figures(batch int) []figure {
	of := func(pick func(lives) time.Duration, all []lives) []time.Duration {
		var out []time.Duration
		for _, l := range all {
			out = append(out, pick(l))
		}
		return out
	}
	create := func(l lives) time.Duration { return l.create }
	change := func(l lives) time.Duration { return l.change }
	remove := func(l lives) time.Duration { return l.remove }
	return []figure{
		{name: "noop_resync", value: seconds(median(m.look)), bare: seconds(median(m.bareLook))},
		{name: "resync_admin_calls", value: m.adminCalls},
		{name: "kube_writes_noop", value: m.writes},
		{name: "log_lines_noop", value: m.logLines},
		{name: fmt.Sprintf("create_%d", batch), value: seconds(median(of(create, m.lives))), bare: seconds(median(of(create, m.bareLives)))},
		{name: fmt.Sprintf("change_%d", batch), value: seconds(median(of(change, m.lives))), bare: seconds(median(of(change, m.bareLives)))},
		{name: fmt.Sprintf("delete_%d", batch), value: seconds(median(of(remove, m.lives))), bare: seconds(median(of(remove, m.bareLives)))},
		{name: "change_alone_p50_ms", value: millis(quantile(m.alone, 0.5))},
		{name: "change_alone_p99_ms", value: millis(quantile(m.alone, 0.99))},
		{name: "user_change_p50_ms", value: millis(quantile(m.during, 0.5))},
		{name: "user_change_p99_ms", value: millis(quantile(m.during, 0.99))},
		{name: "rss_mib", value: float64(m.rss) / (1 << 20)},
		{name: "start_to_ready_s", value: seconds(m.start)},
		{name: "start_to_resynced_s", value: seconds(m.resynced)},
	}
}

func seconds(d time.Duration) float64 { return d.Seconds() }
func millis(d time.Duration) float64  { return 1000 * d.Seconds() }

func median(all []time.Duration) time.Duration { return quantile(all, 0.5) }

// quantile is the smallest value that as large a share of all does not exceed.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func number3(v float64) string { return fmt.Sprintf("%.3g", v) }
