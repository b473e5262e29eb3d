package harness

import (
	"maps"
	"math"
	"slices"
)

// Histogram is what a histogram of seconds counted.
type Histogram struct {
	// Count of the samples, and their Sum in seconds.
	Count, Sum float64
	// atMost counts the samples up to each bound.
	atMost map[float64]float64
}

// Histogram adds up the series of a family that carry all the given labels
// ("name=value").
func (m Metrics) Histogram(family string, labels ...string) Histogram {
	h := Histogram{atMost: map[float64]float64{}}
	for _, s := range m[family].GetMetric() {
		if !hasLabels(s, labels) {
			continue
		}
		h.Count += float64(s.GetHistogram().GetSampleCount())
		h.Sum += s.GetHistogram().GetSampleSum()
		for _, b := range s.GetHistogram().GetBucket() {
			h.atMost[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	return h
}

// Since is what was counted after an earlier reading.
func (h Histogram) Since(earlier Histogram) Histogram {
	out := Histogram{Count: h.Count - earlier.Count, Sum: h.Sum - earlier.Sum, atMost: map[float64]float64{}}
	for bound, n := range h.atMost {
		out.atMost[bound] = n - earlier.atMost[bound]
	}
	return out
}

// Mean in seconds; not a number where nothing was counted.
func (h Histogram) Mean() float64 { return h.Sum / h.Count }

// Within is the share, from 0 to 1, of samples up to a bound; not a number where
// nothing was counted or the bound is none of the histogram's.
func (h Histogram) Within(bound float64) float64 {
	n, ok := h.atMost[bound]
	if !ok {
		return math.NaN()
	}
	return n / h.Count
}

// Quantile in seconds, interpolated in the bucket that it falls into as if the
// samples were spread evenly there, which they are not: it is no more exact than
// the bucket is narrow. Above the highest finite bound it is infinite; not a
// number where nothing was counted.
func (h Histogram) Quantile(q float64) float64 {
	if h.Count == 0 {
		return math.NaN()
	}
	rank, lower, below := q*h.Count, 0.0, 0.0
	for _, bound := range slices.Sorted(maps.Keys(h.atMost)) {
		n := h.atMost[bound]
		if n >= rank && n > below {
			if math.IsInf(bound, 1) {
				return bound
			}
			return lower + (bound-lower)*(rank-below)/(n-below)
		}
		lower, below = bound, n
	}
	return math.Inf(1)
}

// Highest is the bound of the bucket with the slowest sample; infinite above the
// highest finite one, and not a number where nothing was counted.
func (h Histogram) Highest() float64 {
	if h.Count == 0 {
		return math.NaN()
	}
	for _, bound := range slices.Sorted(maps.Keys(h.atMost)) {
		if h.atMost[bound] >= h.Count {
			return bound
		}
	}
	return math.Inf(1)
}
