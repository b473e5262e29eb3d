package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// The test's own program is the other Kafka, as the command's is.
func TestMain(m *testing.M) {
	serveWhereAsked()
	os.Exit(m.Run())
}

// missing are the figures that are not in the output, each a line of its own.
func missing(out string, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return regexp.MustCompile(`(?m)^` + name + `: -?\d+(\.\d+)?$`).MatchString(out)
	})
}

func TestARunMeasuresAndPrintsEveryFigure(t *testing.T) {
	opts := options{sizes: []int{100}, batch: 100, changes: 3, rounds: 1, memoryWait: time.Second}
	var out strings.Builder
	if err := run(t.Context(), opts, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
	lacks := missing(out.String(),
		"noop_resync_100", "noop_resync_bare_100", "noop_resync_ratio_100", "create_100_100", "create_100_bare_100", "create_100_ratio_100",
		"change_100_ratio_100", "delete_100_ratio_100", "lone_change_p50_ms_100", "lone_change_p99_ms_100",
		"user_change_p50_ms_100", "user_change_p99_ms_100", "rss_mib_100", "start_to_ready_s_100", "start_to_resynced_s_100")
	if len(lacks) > 0 {
		t.Errorf("not printed: %v", lacks)
	}
	for _, exact := range []string{"resync_admin_calls_100: 2", "kube_writes_noop: 0", "resync_log_lines_100: 0"} {
		if !strings.Contains(out.String(), "\n"+exact+"\n") {
			t.Errorf("%q is not printed", exact)
		}
	}
}

func TestTheReportHasTheFiguresThatBarsAreAbout(t *testing.T) {
	of := func(topics int, rss int64) size {
		l := []lives{{create: 6 * time.Second, change: 4 * time.Second, remove: 3 * time.Second}}
		half := []lives{{create: 4 * time.Second, change: 4 * time.Second, remove: 2 * time.Second}}
		return size{
			topics: topics, rss: rss, look: []time.Duration{12 * time.Second}, bareLook: []time.Duration{10 * time.Second},
			adminCalls: float64(topics / 500), lives: l, bareLives: half,
			during: []time.Duration{time.Millisecond * time.Duration(topics/1000)}, loads: map[string]string{"look": "1 2 3"},
		}
	}
	var out strings.Builder
	r := results{options: defaults(), measured: []size{of(1_000, 50<<20), of(10_000, 90<<20), of(50_000, 290<<20)}}
	r.print(&out)
	for name, want := range map[string]string{
		"noop_resync_ratio_10000": "1.20", "resync_admin_calls_10000": "20", "kube_writes_noop": "0", "rss_mib_10000": "90",
		"rss_kib_per_topic": "5.02", "user_change_p99_ms": "10", "create_2000_ratio": "1.50", "change_2000_ratio": "1", "delete_2000_ratio": "1.50",
		"load_average_look_50000": "1 2 3",
	} {
		if !strings.Contains(out.String(), "\n"+name+": "+want+"\n") {
			t.Errorf("%s is not %s", name, want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestSizesAndFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args    []string
		env     string
		want    []int
		wantErr string
	}{
		"nothing is said":          {want: []int{1_000, 10_000, 25_000, 50_000}},
		"the environment":          {env: "10, 20", want: []int{10, 20}},
		"a flag wins":              {args: []string{"-sizes", "30"}, env: "10", want: []int{30}},
		"no number":                {env: "many", wantErr: "numbers"},
		"descending":               {env: "20,10", wantErr: "ascending"},
		"none":                     {env: "0", wantErr: "ascending"},
		"no topics to work on":     {args: []string{"-batch", "0"}, wantErr: "topics to work on"},
		"a part that is not known": {args: []string{"-only", "look,peek"}, wantErr: "want parts of"},
		"a flag that is not known": {args: []string{"-nonsense"}, wantErr: "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(test.args, test.env)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error %v, want one on %q", err, test.wantErr)
				}
				return
			}
			if err != nil || len(got.sizes) != len(test.want) || got.sizes[0] != test.want[0] {
				t.Errorf("sizes %v, error %v, want %v", got.sizes, err, test.want)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for n := range 200 {
		all = append(all, time.Duration(200-n))
	}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 100, 0.99: 198, 1: 200} {
		if got := quantile(all, share); got != want {
			t.Errorf("quantile %v is %d, want %d", share, got, want)
		}
	}
	if got := quantile(nil, 0.99); got != 0 {
		t.Errorf("of nothing: %d", got)
	}
}

func TestBatchesGatherWhatComes(t *testing.T) {
	in := make(chan int, 2*batchSize)
	for n := range batchSize + 5 {
		in <- n
	}
	close(in)
	var sizes []int
	if err := batches(in, func(part []int) error { sizes = append(sizes, len(part)); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2 || sizes[0] != batchSize || sizes[1] != 5 {
		t.Errorf("batches of %v", sizes)
	}
}

func TestWhatIsDoneIsFoundAfterAWatchThatEnded(t *testing.T) {
	of := func(name string, generation, observed int64) apiv1.KafkaTopic {
		kt := apiv1.KafkaTopic{}
		kt.Name, kt.Generation, kt.Status.ObservedGeneration = name, generation, observed
		kt.Status.Conditions = []apiv1.Condition{{Type: apiv1.ConditionReady, Status: "True"}}
		return kt
	}
	there := []apiv1.KafkaTopic{of("new", 1, 1), of("changed", 2, 2), of("behind", 2, 1)}
	for name, test := range map[string]struct {
		goal goal
		want int
	}{
		"those that are ready":               {ready(1), 2},
		"those that are ready at the change": {ready(2), 1},
		"those that are gone":                {nil, 7},
	} {
		if got := len(test.goal.done(there, 10)); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
