package offline_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-kafka/sluice/internal/offline"
)

type steps struct {
	total atomic.Int64
	done  atomic.Int64
}

func (s *steps) Start(n int) { s.total.Store(int64(n)) }
func (s *steps) Step()       { s.done.Add(1) }

// TestManyFiles holds a run over a large repository to seconds: ten times of
// what it takes, since machines differ, and far from what a step that looks at
// all pairs would take.
func TestManyFiles(t *testing.T) {
	const n = 10_000
	progress := &steps{}
	begin := time.Now()
	report, err := offline.Run(t.Context(), offline.Request{Files: manyTopics(t, n), Progress: progress})
	took := time.Since(begin)
	if err != nil || len(report.Objects) != n || report.Count(offline.Error) != n/100 {
		t.Fatalf("judged %d objects with %d errors, %v", len(report.Objects), report.Count(offline.Error), err)
	}
	if progress.total.Load() != 2*n || progress.done.Load() != 2*n {
		t.Errorf("progress went to %d of %d", progress.done.Load(), progress.total.Load())
	}
	if took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	t.Logf("%d manifests took %s", n, took)
}

func manyTopics(tb testing.TB, n int) []offline.File {
	tb.Helper()
	list := map[string]string{"kafka.yaml": kafka("creds"), "pool.yaml": pool}
	for i := range n - 2 {
		text := topic(fmt.Sprintf("topic-%d", i), fmt.Sprintf("topic-%d", i)) + "  partitions: 3\n  config:\n    retention.ms: 7200000\n"
		if i < n/100 {
			text += "  replicas: 0\n"
		}
		list[fmt.Sprintf("topics/%05d.yaml", i)] = text
	}
	files, err := offline.Folder(texts(list), true, func(s string) string { return s })
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// BenchmarkRun reports the time for one manifest among a thousand.
func BenchmarkRun(b *testing.B) {
	files := manyTopics(b, 1000)
	for b.Loop() {
		if _, err := offline.Run(b.Context(), offline.Request{Files: files}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/manifest")
}
