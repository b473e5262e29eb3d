package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// maxRecords is how many metadata records, and how many partitions, Kafka's
// controller takes in one request. (MAX_RECORDS_PER_USER_OP in Kafka's
// QuorumController and MAX_PARTITIONS_PER_BATCH in its
// ReplicationControlManager.) Above it refuses a whole request with
// POLICY_VIOLATION. The second limit is kept by keeping the first, as each
// partition is a record.
const maxRecords = 10_000

// maxBytes is how long the texts of one request are at most. Kafka's controllers append
// the records of a request at a time, and those of more than 8 MiB (MAX_BATCH_SIZE_BYTES
// in its KafkaRaftClient) not at all: every topic is answered UNKNOWN_SERVER_ERROR (seen
// on 4.3.1). Half of that leaves room for what records have beside their texts.
const maxBytes = 4 << 20

// operation is one kind of call, in words for its errors.
type operation struct {
	verb string
	// needs is the ACL, as in the table "Operations and Resources on
	// Protocols" of Kafka's security documentation.
	needs string
	// noun is of what kind the items are; topics if empty.
	noun string
}

// item names one item in errors.
func (o operation) item(name string) string {
	return fmt.Sprintf("%s %q", cmp.Or(o.noun, "topic"), name)
}

// batch is how one kind of call treats its topics: T is what is asked of one,
// A what is answered.
type batch[T, A any] struct {
	op   operation
	name func(T) string
	// records is the number of metadata records that an item causes; nil where
	// the call is never split.
	records func(T) int
	// bytes is the length of an item's texts, which become its records; nil where
	// they are short.
	bytes func(T) int
	// send makes one request.
	send func(context.Context, []T) (map[string]A, error)
	// failure makes the answer of an error, problem the opposite.
	failure func(error) A
	problem func(A) error
}

// run sends the items in as few requests as Kafka's limits allow and gives
// each an answer. After a request that failed as a whole no other is sent: its
// topics, and those not sent, carry that failure. If none at all was answered
// the failure is the call's.
func (b batch[T, A]) run(ctx context.Context, c *Client, items []T) (map[string]A, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	out := make(map[string]A, len(items))
	var failed error
	answered := len(items) == 0
	for parts := b.split(items); len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		var answers map[string]A
		if failed == nil {
			answers, failed = b.ask(ctx, part)
		}
		switch {
		case failed != nil:
			for _, item := range part {
				out[b.name(item)] = b.failure(fmt.Errorf("%s %s: %w", b.op.verb, b.op.item(b.name(item)), failed))
			}
		case len(part) > 1 && b.refusedWhole(part, answers):
			half := len(part) / 2
			parts = slices.Insert(parts, 0, part[:half], part[half:])
		default:
			answered = true
			maps.Copy(out, answers)
		}
	}
	if !answered {
		return nil, failed
	}
	return out, nil
}

// ask makes one request and gives every item an answer. An answer that says of
// each topic that there is no controller is the failure of the request.
func (b batch[T, A]) ask(ctx context.Context, part []T) (map[string]A, error) {
	answers, err := b.send(ctx, part)
	if err != nil {
		return nil, err
	}
	asked := make(map[string]A, len(part))
	moving := 0
	for _, item := range part {
		name := b.name(item)
		a, ok := answers[name]
		if !ok {
			a = b.failure(fmt.Errorf("%s %s: %w", b.op.verb, b.op.item(name), ErrNotAnswered))
		}
		if err = b.problem(a); errors.Is(err, ErrNotController) {
			moving++
		}
		asked[name] = a
	}
	if moving == len(part) {
		return nil, err
	}
	return asked, nil
}

// split keeps the order and puts as many items into a part as fit. An item
// that is too large on its own is sent alone, for Kafka to refuse.
func (b batch[T, A]) split(items []T) [][]T {
	if b.records == nil {
		if len(items) == 0 {
			return nil
		}
		return [][]T{items}
	}
	var parts [][]T
	start, records, bytes := 0, 0, 0
	for i, item := range items {
		n, long := b.records(item), 0
		if b.bytes != nil {
			long = b.bytes(item)
		}
		if i > start && (records+n > maxRecords || bytes+long > maxBytes) {
			parts = append(parts, items[start:i])
			start, records, bytes = i, 0, 0
		}
		records, bytes = records+n, bytes+long
	}
	if start < len(items) {
		parts = append(parts, items[start:])
	}
	return parts
}

// refusedWhole tells a refused request from refused topics: the limit of a
// managed service may be below Kafka's, and one topic that a policy forbids
// may have taken the rest down with it. Kafka repeats a request's error for
// each of its topics, so answers that differ are verdicts on topics.
func (b batch[T, A]) refusedWhole(part []T, answers map[string]A) bool {
	var first *Error
	for _, item := range part {
		e, ok := errors.AsType[*Error](b.problem(answers[b.name(item)]))
		if !ok || !errors.Is(e, ErrPolicyViolation) {
			return false
		}
		if first == nil {
			first = e
		}
		if *e != *first {
			return false
		}
	}
	return true
}

// itself serves the calls whose items are names or whose answers are errors.
func itself[V any](v V) V { return v }

// distinct drops items of a repeated name and keeps the order.
func distinct[T any](items []T, name func(T) string) []T {
	seen := make(map[string]struct{}, len(items))
	out := make([]T, 0, len(items))
	for _, item := range items {
		if _, ok := seen[name(item)]; !ok {
			seen[name(item)] = struct{}{}
			out = append(out, item)
		}
	}
	return out
}
