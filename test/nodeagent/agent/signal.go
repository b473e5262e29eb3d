//go:build linux

package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// signal remembers that there is something to do, however often it is said.
type signal struct{ c chan struct{} }

func newSignal() *signal { return &signal{c: make(chan struct{}, 1)} }

func (s *signal) set() {
	select {
	case s.c <- struct{}{}:
	default:
	}
}

// retryEvery is how often work is tried again that has failed, or that waits for
// what no event tells of.
const retryEvery = time.Second

// each calls do whenever the signal is set, and again after a while where it
// returned that not all is done.
func (s *signal) each(ctx context.Context, do func(context.Context) (done bool)) error {
	for {
		var again <-chan time.Time
		if !do(ctx) {
			again = time.After(retryEvery)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.c:
		case <-again:
		}
	}
}

// broadcast wakes all who wait on its channel.
type broadcast struct {
	mu sync.Mutex
	c  chan struct{}
}

// next is closed at the next change.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c == nil {
		b.c = make(chan struct{})
	}
	return b.c
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c != nil {
		close(b.c)
		b.c = nil
	}
}

func sortByName[T metav1.Object](all []T) {
	slices.SortFunc(all, func(a, b T) int {
		if c := strings.Compare(a.GetNamespace(), b.GetNamespace()); c != 0 {
			return c
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
}
