package scaledown_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-kafka/sluice/internal/observed"
	"github.com/sluice-kafka/sluice/internal/scaledown"
)

// glance is one look at broker 3, told in other words than the package's own.
type glance struct {
	at                                 time.Time
	partitions, registration, features bool // were seen
	holds, target                      bool
	fenced, registered                 bool
	answered, cordon                   bool
	low                                bool // the level
}

// glances reads looks from bytes, two for each.
func glances(data []byte) []glance {
	var all []glance
	at := start
	steps := []time.Duration{0, time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 29 * time.Second, 30 * time.Second, -time.Second}
	for ; len(data) >= 2; data = data[2:] {
		a, b := data[0], data[1]
		at = at.Add(steps[a&7])
		// Most looks see everything of a broker that is empty, so that evidence is
		// complete now and then.
		all = append(all, glance{
			at:         at,
			partitions: a>>3&7 != 7, registration: b&15 != 15, features: b&15 != 14,
			holds: a>>3&7 == 6, target: a>>3&7 == 5,
			fenced: b>>6 == 1, registered: b&15 != 13,
			answered: b&15 < 12, cordon: b>>4&3 != 3,
			low: b>>6 == 2,
		})
	}
	return all
}

func (g glance) change(in *scaledown.Input) {
	in.Seen.At = g.at
	for _, c := range []struct {
		when bool
		do   change
	}{
		{g.holds, holds(3)},
		{g.target, target(3)},
		{g.fenced, fenced(3)},
		{!g.registered, unregistered(3)},
		{g.answered && g.cordon, cordoned(3)},
		{!g.answered, silent(3)},
		{g.low, level(29)},
		{!g.partitions, unseenPartitions},
		{!g.registration, unseenRegistration},
		{!g.features, unseenFeatures},
	} {
		if c.when {
			c.do(in)
		}
	}
}

func (g glance) empty() bool { return g.partitions && !g.holds && !g.target }

func (g glance) stopped() bool { return g.registration && (g.fenced || !g.registered) }

func (g glance) effective() bool {
	return g.registration && !g.stopped() && g.answered && g.cordon
}

func (g glance) uncordonable() bool {
	return g.registration && !g.stopped() && !g.effective() && g.features && g.low
}

// proven looks for the evidence in all that was seen, without a memory.
func proven(seen []glance) bool {
	last := seen[len(seen)-1]
	for i := len(seen) - 1; i >= 0; i-- {
		for _, standing := range []struct {
			holds func(glance) bool
			apart time.Duration
		}{{glance.stopped, 30 * time.Second}, {glance.uncordonable, 30 * time.Second}, {glance.effective, 5 * time.Second}} {
			span := seen[i:]
			if last.at.Sub(span[0].at) < standing.apart || !unbroken(span, standing.holds) {
				continue
			}
			if standing.apart == 30*time.Second || armed(seen[:i], span[0].at) {
				return true
			}
		}
	}
	return false
}

// unbroken tells that all of some looks saw the broker empty and standing alike.
func unbroken(span []glance, holds func(glance) bool) bool {
	for i, g := range span {
		if !g.empty() || !holds(g) || i > 0 && g.at.Before(span[i-1].at) {
			return false
		}
	}
	return true
}

// armed tells that looks before a time saw the cordon, without a break until then.
func armed(before []glance, at time.Time) bool {
	for i := len(before) - 1; i >= 0; i-- {
		g := before[i]
		if !g.effective() || g.at.After(at) {
			return false
		}
		if g.at.Before(at) {
			return true
		}
	}
	return false
}

// check has Decide see the looks one by one, and compares what it lets go with what
// they prove. It returns how often the broker was let go.
func check(t *testing.T, all []glance) int {
	t.Helper()
	var memory scaledown.Memory
	released := 0
	for i := range all {
		in := input(removing(3), all[i].change)
		in.Memory = memory
		d := scaledown.Decide(in)
		memory = d.Memory
		free := len(d.Held) == 0
		if free {
			released++
			if !all[i].empty() {
				t.Fatalf("look %d: let go though it was not seen empty: %+v", i, all[i])
			}
		}
		if want := proven(all[:i+1]); free != want {
			t.Fatalf("look %d: let go %t, want %t; looks:\n%+v", i, free, want, all[:i+1])
		}
		if in.Seen.Partitions.Seen() && (len(d.Drain) > 0) != !all[i].empty() {
			t.Fatalf("look %d: drain %v of %+v", i, d.Drain, all[i])
		}
	}
	return released
}

func TestLetsGoWhatIsProvenAndNothingElse(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	released := 0
	for range 4000 {
		data := make([]byte, 40)
		steady := byte(random.IntN(256))
		for i := range data {
			data[i] = byte(random.IntN(256))
			if i%2 == 1 && random.IntN(8) != 0 {
				data[i] = steady
			}
		}
		released += check(t, glances(data))
	}
	if released < 1000 {
		t.Errorf("the broker was let go %d times: too few to say anything", released)
	}
}

func FuzzDecide(f *testing.F) {
	f.Add([]byte{3, 0, 3, 0, 3, 0})
	f.Add([]byte{6, 0x40, 6, 0x40})
	f.Add([]byte{6, 0xb0, 6, 0xb0, 6, 0x30})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 200 {
			t.Skip("long stories are slow to prove")
		}
		check(t, glances(data))
	})
}

// Whatever is seen of the rest of a removal, a broker is judged alone.
func TestBrokersAreJudgedAlone(t *testing.T) {
	t.Parallel()
	const s = time.Second
	var alone, together scaledown.Memory
	for i, see := range []change{cordoned(3), cordoned(3), both(cordoned(3), holds(4)), both(cordoned(3), dead(4))} {
		at := func(in *scaledown.Input) { in.Seen.At = start.Add(time.Duration(i) * 5 * s) }
		a := input(see, at, removing(3))
		b := input(see, at, removing(3, 4))
		a.Memory, b.Memory = alone, together
		da, db := scaledown.Decide(a), scaledown.Decide(b)
		alone, together = da.Memory, db.Memory
		if got, want := awaited(db)[3], awaited(da)[3]; got != want {
			t.Errorf("look %d: broker 3 awaits %q with another, %q alone", i, got, want)
		}
	}
}

func TestOnlineDirectoriesDecideOnTheCordon(t *testing.T) {
	t.Parallel()
	type dir = observed.LogDir
	for name, tc := range map[string]struct {
		dirs []dir
		want bool
	}{
		"all cordoned":                     {dirs: []dir{{Cordoned: true}, {Cordoned: true}}, want: true},
		"one not":                          {dirs: []dir{{Cordoned: true}, {}}},
		"the one that is not is offline":   {dirs: []dir{{Cordoned: true}, {Offline: true}}, want: true},
		"all offline":                      {dirs: []dir{{Offline: true}}},
		"none reported":                    {},
		"one online and not, one offline":  {dirs: []dir{{}, {Offline: true, Cordoned: true}}},
		"only an offline one, once marked": {dirs: []dir{{Offline: true, Cordoned: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := scaledown.Decide(input(removing(3), logDirs(3, tc.dirs...)))
			want := scaledown.AwaitsCordon
			if tc.want {
				want = scaledown.AwaitsSighting
			}
			if got := awaited(d)[3]; got != want {
				t.Errorf("awaits %q, want %q", got, want)
			}
		})
	}
}
