package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestTheMixedPhaseSendsEachKindByItsShare(t *testing.T) {
	t.Parallel()
	sent := map[string]int{}
	p := phase{name: mixed}
	for _, r := range (&bench{}).requests(false) {
		r.send = func(context.Context, int) error { sent[r.name]++; return nil }
		p.requests = append(p.requests, r)
	}
	for n := range 3 * shares {
		if err := p.send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range p.requests {
		if sent[r.name] != 3*r.share || r.share == 0 {
			t.Errorf("%s was sent %d times in three rounds, with a share of %d", r.name, sent[r.name], r.share)
		}
	}
}

func TestOnlyTheNamedPhasesRun(t *testing.T) {
	t.Parallel()
	b := &bench{options: options{only: []string{"pod-create"}}}
	if got := b.phases(); len(got) != 1 || got[0].name != "pod-create" || len(got[0].requests) != 1 {
		t.Errorf("got %+v", got)
	}
	if got := (&bench{}).phases(); len(got) != 12 {
		t.Errorf("got %d phases of 12", len(got))
	}
}

func TestTheFirstFailureEndsTheLoad(t *testing.T) {
	t.Parallel()
	fail := errors.New("refused")
	answered, _, err := new(load).during(t.Context(), time.Hour, 10_000, func(_ context.Context, n int) error {
		if n >= 5 {
			return fail
		}
		return nil
	})
	if !errors.Is(err, fail) || answered < 5 {
		t.Errorf("got %v after %v requests", err, answered)
	}
	err = times(t.Context(), 1_000_000, func(_ context.Context, n int) error {
		if n == 5 {
			return fail
		}
		return nil
	})
	if !errors.Is(err, fail) {
		t.Errorf("got %v", err)
	}
}
