package batch

import "time"

type place int

const (
	inReady place = iota
	inDelayed
	inAside
)

// item is a key that waits.
type item[K comparable] struct {
	key      K
	priority Priority
	seq      uint64
	// since is when the item became ready, or will.
	since time.Time
	place place
	index int // in its heap
}

func byPriority[K comparable](a, b *item[K]) bool {
	if a.priority != b.priority {
		return a.priority < b.priority
	}
	return a.seq < b.seq
}

func byDue[K comparable](a, b *item[K]) bool {
	if !a.since.Equal(b.since) {
		return a.since.Before(b.since)
	}
	return a.seq < b.seq
}

// itemHeap is a container/heap of items.
type itemHeap[K comparable] struct {
	items  []*item[K]
	before func(a, b *item[K]) bool
}

func (h *itemHeap[K]) Len() int           { return len(h.items) }
func (h *itemHeap[K]) Less(i, j int) bool { return h.before(h.items[i], h.items[j]) }

func (h *itemHeap[K]) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].index, h.items[j].index = i, j
}

func (h *itemHeap[K]) Push(x any) {
	it := x.(*item[K])
	it.index = len(h.items)
	h.items = append(h.items, it)
}

func (h *itemHeap[K]) Pop() any {
	last := len(h.items) - 1
	it := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	return it
}
