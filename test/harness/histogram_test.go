package harness

import (
	"math"
	"strings"
	"testing"
)

func histogram(t *testing.T, text string) Histogram {
	t.Helper()
	m, err := parseMetrics(strings.NewReader("# TYPE d histogram\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Histogram("d", "name=a")
}

const (
	earlier = `d_bucket{name="a",op="x",le="1"} 4
d_bucket{name="a",op="x",le="2"} 4
d_bucket{name="a",op="x",le="+Inf"} 5
d_sum{name="a",op="x"} 9
d_count{name="a",op="x"} 5
`
	later = `d_bucket{name="a",op="x",le="1"} 54
d_bucket{name="a",op="x",le="2"} 84
d_bucket{name="a",op="x",le="+Inf"} 85
d_sum{name="a",op="x"} 109
d_count{name="a",op="x"} 85
d_bucket{name="a",op="y",le="1"} 0
d_bucket{name="a",op="y",le="2"} 20
d_bucket{name="a",op="y",le="+Inf"} 20
d_sum{name="a",op="y"} 30
d_count{name="a",op="y"} 20
d_bucket{name="b",op="x",le="1"} 1000
d_bucket{name="b",op="x",le="2"} 1000
d_bucket{name="b",op="x",le="+Inf"} 1000
d_sum{name="b",op="x"} 1
d_count{name="b",op="x"} 1000
`
)

func TestHistogramSinceAnEarlierReading(t *testing.T) {
	t.Parallel()
	h := histogram(t, later).Since(histogram(t, earlier))
	overflow := histogram(t, later).Since(Histogram{})
	for name, tc := range map[string]struct{ got, want float64 }{
		"samples of all series with the label": {h.Count, 100},
		"mean":                                 {h.Mean(), 1.3},
		"half fall into the first bucket":      {h.Within(1), 0.5},
		"the middle of the first bucket":       {h.Quantile(0.25), 0.5},
		"the end of the first bucket":          {h.Quantile(0.5), 1},
		"within the second bucket":             {h.Quantile(0.75), 1.5},
		"the slowest is in the second":         {h.Highest(), 2},
		"the slowest is above every bound":     {overflow.Highest(), math.Inf(1)},
		"a quantile above every bound":         {overflow.Quantile(1), math.Inf(1)},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %v, want %v", name, tc.got, tc.want)
		}
	}
}

func TestHistogramOfNothingHasNoFigures(t *testing.T) {
	t.Parallel()
	h := Metrics{}.Histogram("d", "name=a")
	for name, got := range map[string]float64{
		"mean": h.Mean(), "share": h.Within(1), "quantile": h.Quantile(0.99), "highest": h.Highest(),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s: got %v, want no number", name, got)
		}
	}
}
