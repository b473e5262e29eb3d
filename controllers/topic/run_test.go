package topic

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	toolscache "k8s.io/client-go/tools/cache"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/batch"
)

// await polls for what another goroutine does, with a bound.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

func TestResyncComesInSlicesAtEvenDistances(t *testing.T) {
	e := newEnv(t, func(o *Options) { o.MaxBatchSize = 2; o.ResyncInterval = time.Minute })
	for i := range 5 {
		e.create(aTopic(fmt.Sprintf("t%d", i)))
	}
	e.turn()
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); e.loop.resync(ctx) }()
	var got []string
	for _, step := range []time.Duration{time.Minute, 20 * time.Second, 20 * time.Second, 20 * time.Second} {
		await(t, "the ticker waits", e.clock.HasWaiters)
		e.clock.Step(step)
		await(t, "a slice is queued", func() bool { return e.loop.queue.Len() > 0 })
		b, err := e.loop.queue.Next(ctx, batch.Window{MaxSize: 2, Linger: time.Hour}) // it does not linger
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d from %s", len(b.Keys), b.Keys[0].Name))
		e.loop.queue.Done(b)
	}
	cancel()
	<-ended
	if want := []string{"2 from t0", "2 from t2", "1 from t4", "2 from t0"}; !slices.Equal(got, want) {
		t.Errorf("slices: %v, want %v", got, want)
	}
}

func TestControllerRunsUntilItIsStopped(t *testing.T) {
	e := newEnv(t)
	handler := e.c.handler()
	ready, behind := aTopic("ready"), aTopic("behind")
	for _, kt := range []*kafkav1.KafkaTopic{ready, behind} {
		if err := e.kube.Create(e.ctx, kt); err != nil {
			t.Fatal(err)
		}
	}
	handler.OnAdd(e.get("ready"), true)
	handler.OnAdd(e.get("behind"), true)
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.c.run(ctx) }()
	await(t, "both topics are there", func() bool {
		if e.clock.HasWaiters() {
			e.clock.Step(e.c.opts.MaxBatchLinger)
		}
		return len(e.kafka.Topics()) == 2
	})
	if err := e.c.Healthy(); err != nil {
		t.Errorf("health: %v", err)
	}
	handler.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: ready})
	if e.loop.index.has(keyOf(ready)) {
		t.Error("a resource that is gone is still known")
	}
	cancel()
	<-ended
}

func TestLoopThatDoesNotGetOnIsUnhealthy(t *testing.T) {
	e := newEnv(t)
	if err := e.c.Healthy(); err != nil {
		t.Errorf("a standby: %v", err)
	}
	e.create(aTopic("orders"))
	e.kafka.BeforeCall = func(string, []string) { e.clock.Step(turnLimit) }
	e.loop.hearts[0].Beat()
	if err := e.c.Healthy(); err != nil {
		t.Errorf("at the start of a batch: %v", err)
	}
	e.clock.Step(turnLimit + time.Second)
	if err := e.c.Healthy(); err == nil || !strings.Contains(err.Error(), `"east"`) {
		t.Errorf("after two minutes without getting on: %v", err)
	}
	// Calls that take long each still count as getting on.
	e.turn()
	e.wantReady("orders")
	if err := e.c.Healthy(); err != nil {
		t.Errorf("after a slow batch: %v", err)
	}
}

func TestOptions(t *testing.T) {
	good := Cluster{Name: "east", Namespaces: []string{"ns"}, BootstrapServers: []string{"k:9092"}}
	with := func(edit func(*Cluster)) []Cluster {
		c := good
		edit(&c)
		return []Cluster{c}
	}
	for name, test := range map[string]struct {
		opts    Options
		wantErr string
	}{
		"good ones":                    {opts: Options{UseFinalizers: true, Clusters: []Cluster{good}}},
		"without finalizers":           {opts: Options{Clusters: []Cluster{good}}},
		"a cluster without a name":     {opts: Options{UseFinalizers: true, Clusters: with(func(c *Cluster) { c.Name = "" })}, wantErr: "no name"},
		"a cluster without namespaces": {opts: Options{UseFinalizers: true, Clusters: with(func(c *Cluster) { c.Namespaces = nil })}, wantErr: "no namespaces"},
		"a cluster without servers":    {opts: Options{UseFinalizers: true, Clusters: with(func(c *Cluster) { c.BootstrapServers = nil })}, wantErr: "no bootstrap servers"},
		"a cluster twice":              {opts: Options{UseFinalizers: true, Clusters: []Cluster{good, good}}, wantErr: "given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.opts.complete()
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("error: %v, want one on %q", err, test.wantErr)
				}
				return
			}
			if err != nil || got.MaxBatchSize != 1000 || got.MaxBatchLinger != 100*time.Millisecond || got.ResyncInterval != 2*time.Minute {
				t.Errorf("options: %+v, error %v", got, err)
			}
		})
	}
}

var _ Admin = (*fake.Admin)(nil)
