package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

var (
	start  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	window = Window{MaxSize: 3, Linger: 100 * time.Millisecond}
)

// newTestQueue locks "a1" and "a2" together: by the first letter.
func newTestQueue() (*Queue[string], *testingclock.FakeClock) {
	c := testingclock.NewFakeClock(start)
	return NewQueue(c, func(k string) string { return k[:1] }), c
}

// take is what a worker would get now.
func take(q *Queue[string]) []string {
	b, _, _ := q.tryTake(window)
	return b.Keys
}

func wantKeys(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("batch: %v, want %v", got, want)
	}
}

func TestBatchCloses(t *testing.T) {
	for name, test := range map[string]struct {
		fill func(*Queue[string], *testingclock.FakeClock)
		want []string
	}{
		"not before its first key lingered": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.Add(Change, "a")
				c.Step(99 * time.Millisecond)
			},
		},
		"when its first key lingered, however young the others are": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.Add(Change, "a")
				c.Step(99 * time.Millisecond)
				q.Add(Change, "b")
				c.Step(time.Millisecond)
			},
			want: []string{"a", "b"},
		},
		"at once when it is full": {
			fill: func(q *Queue[string], _ *testingclock.FakeClock) { q.Add(Change, "a", "b", "c", "d") },
			want: []string{"a", "b", "c"},
		},
		"at once for the periodic look, changes first": {
			fill: func(q *Queue[string], _ *testingclock.FakeClock) {
				q.Add(Resync, "a", "b")
				q.Add(Change, "c")
			},
			want: []string{"c", "a"},
		},
		"with a key once, however often it changed": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.Add(Change, "b")
				q.Add(Change, "a", "b", "a")
				q.Add(Resync, "b")
				c.Step(time.Second)
			},
			want: []string{"b", "a"},
		},
		"with a change that overtakes what waits for the periodic look": {
			fill: func(q *Queue[string], _ *testingclock.FakeClock) {
				q.Add(Resync, "a", "b", "c", "d")
				q.Add(Change, "d")
			},
			want: []string{"d", "a"},
		},
		"without a key whose backoff runs": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.Retry("a", Change, 0)
				q.Add(Resync, "a")
				c.Step(999 * time.Millisecond)
			},
		},
		"with a key in backoff that somebody changed": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.Retry("a", Change, time.Hour)
				q.Add(Change, "a")
				c.Step(window.Linger)
			},
			want: []string{"a"},
		},
		"with a key whose delay is over": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.AddAfter("b", Change, 2*time.Second)
				q.AddAfter("a", Change, time.Minute)
				q.AddAfter("a", Change, time.Second)
				c.Step(3 * time.Second)
			},
			want: []string{"a", "b"},
		},
		"not while the queue pauses": {
			fill: func(q *Queue[string], _ *testingclock.FakeClock) {
				q.Add(Resync, "a")
				q.Pause()
			},
		},
		"once the pause is over": {
			fill: func(q *Queue[string], c *testingclock.FakeClock) {
				q.Add(Resync, "a")
				c.Step(q.Pause())
			},
			want: []string{"a"},
		},
		"once the pause is ended": {
			fill: func(q *Queue[string], _ *testingclock.FakeClock) {
				q.Add(Resync, "a")
				q.Pause()
				q.Resume()
			},
			want: []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q, c := newTestQueue()
			test.fill(q, c)
			wantKeys(t, take(q), test.want...)
		})
	}
}

func TestAChangeTakesOnlyAFewOfTheResyncAlong(t *testing.T) {
	q := NewQueue(testingclock.NewFakeClock(start), func(int) string { return "" })
	for k := range 2500 {
		q.Add(Resync, k)
	}
	w := Window{MaxSize: 1000, Linger: time.Hour}
	q.Add(Change, 2000, 2001)
	var got []string
	for range 4 {
		b, _, _ := q.tryTake(w)
		changes := 0
		for _, p := range b.Priorities {
			if p == Change {
				changes++
			}
		}
		got = append(got, fmt.Sprintf("%d with %d changes, %d left", len(b.Keys), changes, b.Left))
		q.Done(b)
	}
	want := []string{"102 with 2 changes, 2398 left", "1000 with 0 changes, 1398 left", "1000 with 0 changes, 398 left", "398 with 0 changes, 0 left"}
	if !slices.Equal(got, want) {
		t.Errorf("batches: %q, want %q", got, want)
	}
	// Changes alone fill a batch.
	for k := range 1500 {
		q.Add(Resync, 5000+k)
		q.Add(Change, k)
	}
	if b, _, _ := q.tryTake(w); len(b.Keys) != 1000 || b.Priorities[999] != Change {
		t.Errorf("%d keys, the last of priority %d", len(b.Keys), b.Priorities[len(b.Priorities)-1])
	}
}

func TestWhatIsInFlightIsSetAside(t *testing.T) {
	q, _ := newTestQueue()
	q.Add(Resync, "a1", "a2", "b1")
	first, _, _ := q.tryTake(window)
	wantKeys(t, first.Keys, "a1", "b1") // a2 stands for the same as a1
	if first.SetAside != 1 {
		t.Errorf("%d set aside, want 1", first.SetAside)
	}
	q.Add(Change, "a1") // changed during its flight
	q.Add(Resync, "c1", "b2")
	second, _, _ := q.tryTake(window)
	wantKeys(t, second.Keys, "c1")
	wantKeys(t, take(q))
	q.Done(first)
	third, _, _ := q.tryTake(window)
	wantKeys(t, third.Keys, "a1", "b2") // the change first; a2 waits for it now
	if third.SetAside != 1 {
		t.Errorf("%d set aside, want 1", third.SetAside)
	}
	q.Done(second)
	q.Done(third)
	wantKeys(t, take(q), "a2")
	if q.Len() != 0 {
		t.Errorf("%d keys left", q.Len())
	}
}

func TestChangeOfWhatWasSetAsideBecomesUrgent(t *testing.T) {
	q, _ := newTestQueue()
	q.Add(Resync, "a1")
	first, _, _ := q.tryTake(window)
	q.Add(Resync, "a2", "b1", "c1", "d1")
	wantKeys(t, take(q), "b1", "c1", "d1")
	q.Add(Change, "a2")
	q.Add(Resync, "e1")
	q.Done(first)
	b, _, _ := q.tryTake(window)
	wantKeys(t, b.Keys, "a2", "e1")
	if b.Priorities[0] != Change || b.Priorities[1] != Resync {
		t.Errorf("priorities: %v", b.Priorities)
	}
}

func TestBackoffDoublesUpToAMinute(t *testing.T) {
	q, c := newTestQueue()
	var got []time.Duration
	for range 8 {
		got = append(got, q.Retry("a", Resync, 0))
		c.Step(time.Hour)
		q.Done(mustTake(t, q))
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
	for i := range want {
		if got[i] != want[i]*time.Second {
			t.Fatalf("backoffs: %v, want %v seconds", got, want)
		}
	}
	q.Forget("a")
	if d := q.Retry("a", Resync, 0); d != time.Second {
		t.Errorf("backoff after Forget: %s", d)
	}
	if d := q.Retry("b", Resync, 5*time.Second); d != 5*time.Second {
		t.Errorf("backoff with a least of 5 s: %s", d)
	}
}

func TestFailuresInARowAreCountedFromTheFirst(t *testing.T) {
	q, c := newTestQueue()
	retry := func() time.Duration {
		d := q.Retry("a", Change, 0)
		c.Step(time.Minute)
		q.Done(mustTake(t, q))
		return d
	}
	retry()
	q.Excuse("a")
	if d := q.Failing("a"); d != 0 {
		t.Errorf("failing for %s after what was no failure", d)
	}
	if second := retry(); second != 2*time.Second {
		t.Errorf("the backoff began anew with %s", second)
	}
	retry()
	if d := q.Failing("a"); d != 2*time.Minute {
		t.Errorf("failing for %s, want 2m0s", d)
	}
	q.Forget("a")
	q.Excuse("a")
	if d := q.Failing("a"); d != 0 {
		t.Errorf("failing for %s after Forget", d)
	}
}

func mustTake(t *testing.T, q *Queue[string]) Batch[string] {
	t.Helper()
	b, _, _ := q.tryTake(window)
	if len(b.Keys) == 0 {
		t.Fatal("no batch")
	}
	return b
}

func TestOldestAgeCountsOnlyWhatCouldBeWorkedOn(t *testing.T) {
	q, c := newTestQueue()
	if age := q.OldestAge(); age != 0 {
		t.Errorf("age of an empty queue: %s", age)
	}
	q.AddAfter("a", Change, time.Minute)
	c.Step(time.Second)
	q.Add(Change, "b")
	c.Step(2 * time.Second)
	if age := q.OldestAge(); age != 2*time.Second {
		t.Errorf("age: %s, want 2s", age)
	}
}

func TestNextWakesUp(t *testing.T) {
	for name, wake := range map[string]func(*Queue[string], *testingclock.FakeClock, Batch[string]){
		"when a batch is full":   func(q *Queue[string], _ *testingclock.FakeClock, _ Batch[string]) { q.Add(Change, "b", "c", "d") },
		"when the other is done": func(q *Queue[string], _ *testingclock.FakeClock, b Batch[string]) { q.Add(Resync, "a2"); q.Done(b) },
		"when the linger has passed": func(q *Queue[string], c *testingclock.FakeClock, _ Batch[string]) {
			q.Add(Change, "b")
			stepWhenWaiting(c, window.Linger)
		},
		"when a delay has passed": func(q *Queue[string], c *testingclock.FakeClock, _ Batch[string]) {
			q.AddAfter("b", Resync, time.Second)
			stepWhenWaiting(c, time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			q, c := newTestQueue()
			q.Add(Resync, "a1")
			flying := mustTake(t, q)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			got := make(chan error, 1)
			go func() {
				b, err := q.Next(ctx, window)
				if err == nil && len(b.Keys) == 0 {
					err = errors.New("empty batch")
				}
				got <- err
			}()
			wake(q, c, flying)
			if err := <-got; err != nil {
				t.Error(err)
			}
		})
	}
}

// stepWhenWaiting moves the clock once somebody waits for it.
func stepWhenWaiting(c *testingclock.FakeClock, d time.Duration) {
	for !c.HasWaiters() {
		<-time.After(time.Millisecond)
	}
	c.Step(d)
}

func TestNextEndsWithItsContext(t *testing.T) {
	q, _ := newTestQueue()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Next(ctx, window); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

// TestNothingIsLostOrDoubled lets several workers take from a queue that fills
// meanwhile.
func TestNothingIsLostOrDoubled(t *testing.T) {
	const keys, workers = 2000, 4
	q, _ := newTestQueue()
	q.lockOf = func(k string) string { return k[:3] }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan string)
	for range workers {
		go func() {
			for {
				b, err := q.Next(ctx, Window{MaxSize: 10})
				if err != nil {
					return
				}
				for _, k := range b.Keys {
					seen <- k
				}
				q.Done(b)
			}
		}()
	}
	go func() {
		for i := range keys {
			q.Add(Priority(i%2), fmt.Sprintf("%04d", i))
		}
	}()
	got := map[string]int{}
	for range keys {
		got[<-seen]++
	}
	if len(got) != keys || q.Len() != 0 {
		t.Errorf("%d different keys of %d, %d left", len(got), keys, q.Len())
	}
}

func TestHeartbeat(t *testing.T) {
	c := testingclock.NewFakeClock(start)
	h := NewHeartbeat(c)
	c.Step(time.Hour)
	if err := h.Check(time.Minute); err != nil {
		t.Errorf("before the first beat: %v", err)
	}
	h.Beat()
	c.Step(time.Minute)
	if err := h.Check(time.Minute); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	c.Step(time.Second)
	if err := h.Check(time.Minute); err == nil || !strings.Contains(err.Error(), "1m1s") {
		t.Errorf("beyond the limit: %v", err)
	}
	h.Wait()
	if err := h.Check(time.Minute); err != nil {
		t.Errorf("while waiting: %v", err)
	}
}
