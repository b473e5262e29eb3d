package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/sluice-kafka/sluice/test/bench/machine"
)

// results of a run.
type results struct {
	options
	// measured of each size, ascending.
	measured []size
}

// figure is one measurement of a size. Where it has a bare counterpart, both are
// in seconds.
type figure struct {
	part, name  string
	value, bare float64
}

// mainSize is the size that figures without one in their name are of; the largest
// where it is not among those that were measured.
const mainSize = 10_000

func (r results) main() size {
	for _, m := range r.measured {
		if m.topics == mainSize {
			return m
		}
	}
	return r.measured[len(r.measured)-1]
}

func (r results) print(out io.Writer) {
	fmt.Fprintf(out, "\nMachine: %s.\nKafka, the API server, etcd, the operator and whoever applies topics share it.\n", machine.Describe())
	fmt.Fprintf(out, "A topic has %d partitions, replication factor %d and three options. Times are in seconds, medians of %d rounds (looks: %d) in\n"+
		"turn with the bare calls; of single changes the percentiles of %d. %d writers, batches of %d.\n", partitions, replicas, r.rounds, lookRounds*r.rounds, r.changes, writers, batchSize)
	for _, m := range r.measured {
		fmt.Fprintf(out, "%d topics: %s.\n", m.topics, m.kafka)
	}
	fmt.Fprintln(out)
	r.table(out)
	fmt.Fprintln(out)
	r.lines(out)
}

func (r results) table(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "topics\tfigure\toperator\tbare\tratio\ttimes that of the size before\t")
	for i, m := range r.measured {
		for j, f := range r.figures(m) {
			bare, ratio, growth := "", "", ""
			if f.bare > 0 {
				bare, ratio = short(f.bare), short(f.value/f.bare)
			}
			if i > 0 {
				if before := r.figures(r.measured[i-1])[j].value; before > 0 {
					growth = short(f.value / before)
				}
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t\n", m.topics, f.name, short(f.value), bare, ratio, growth)
		}
		if i > 0 && r.measures(partMemory) {
			fmt.Fprintf(w, "%d\trss_kib_per_topic since %d\t%s\t\t\t\t\n", m.topics, r.measured[i-1].topics, short(growth(r.measured[i-1], m)))
		}
	}
	_ = w.Flush()
}

// lines prints one figure a line, for programs.
func (r results) lines(out io.Writer) {
	line := func(name string, value any) { fmt.Fprintf(out, "%s: %v\n", name, value) }
	line("machine", machine.Describe())
	for _, m := range r.measured {
		for _, part := range slices.Sorted(maps.Keys(m.loads)) {
			line(fmt.Sprintf("load_average_%s_%d", part, m.topics), m.loads[part])
		}
		for _, f := range r.figures(m) {
			line(fmt.Sprintf("%s_%d", f.name, m.topics), short(f.value))
			if f.bare > 0 {
				line(fmt.Sprintf("%s_bare_%d", f.name, m.topics), short(f.bare))
				line(fmt.Sprintf("%s_ratio_%d", f.name, m.topics), short(f.value/f.bare))
			}
		}
	}
	for _, f := range r.figures(r.main()) {
		if f.bare > 0 {
			line(f.name+"_ratio", short(f.value/f.bare))
		}
	}
	if r.measures(partLook) {
		writes := 0.0
		for _, m := range r.measured {
			writes = max(writes, m.writes)
		}
		line("kube_writes_noop", short(writes))
	}
	if r.measures(partChange) {
		line("user_change_p99_ms", short(millis(quantile(r.main().during, 0.99))))
	}
	if last := len(r.measured) - 1; last > 0 && r.measures(partMemory) {
		line("rss_kib_per_topic", short(growth(r.measured[0], r.measured[last])))
	}
}

// growth is the memory of each topic that one size has more than another, in KiB.
func growth(small, large size) float64 {
	return float64(large.rss-small.rss) / (1 << 10) / float64(large.topics-small.topics)
}

func (r results) figures(m size) []figure {
	of := func(name string, pick func(lives) time.Duration) figure {
		return figure{part: partLives, name: fmt.Sprintf("%s_%d", name, r.batch), value: medianOf(m.lives, pick), bare: medianOf(m.bareLives, pick)}
	}
	var all []figure
	for _, f := range []figure{
		{part: partLook, name: "noop_resync", value: median(m.look), bare: median(m.bareLook)},
		{part: partLook, name: "resync_admin_calls", value: m.adminCalls},
		{part: partLook, name: "resync_kube_writes", value: m.writes},
		{part: partLook, name: "resync_log_lines", value: m.logLines},
		of("create", func(l lives) time.Duration { return l.create }),
		of("change", func(l lives) time.Duration { return l.change }),
		of("delete", func(l lives) time.Duration { return l.remove }),
		{part: partChange, name: "lone_change_p50_ms", value: millis(quantile(m.alone, 0.5))},
		{part: partChange, name: "lone_change_p99_ms", value: millis(quantile(m.alone, 0.99))},
		{part: partChange, name: "user_change_p50_ms", value: millis(quantile(m.during, 0.5))},
		{part: partChange, name: "user_change_p99_ms", value: millis(quantile(m.during, 0.99))},
		{part: partMemory, name: "rss_mib", value: float64(m.rss) / (1 << 20)},
		{part: partStart, name: "start_to_ready_s", value: m.start.Seconds()},
		{part: partStart, name: "start_to_resynced_s", value: m.resynced.Seconds()},
	} {
		if r.measures(f.part) {
			all = append(all, f)
		}
	}
	return all
}

func medianOf(all []lives, pick func(lives) time.Duration) float64 {
	var times []time.Duration
	for _, l := range all {
		times = append(times, pick(l))
	}
	return median(times)
}

func median(all []time.Duration) float64 { return quantile(all, 0.5).Seconds() }

func millis(d time.Duration) float64 { return 1000 * d.Seconds() }

// quantile is the smallest of all that at least such a share does not exceed.
func quantile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// short has three digits, without an exponent.
func short(v float64) string {
	switch {
	case v >= 100 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}
