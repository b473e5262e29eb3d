package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
)

// sized is an item "name:records".
type sized struct {
	name    string
	records int
	bytes   int
}

func sizes(records ...int) []sized {
	var out []sized
	for i, n := range records {
		out = append(out, sized{name: fmt.Sprintf("t%d", i), records: n})
	}
	return out
}

func TestSplitByLength(t *testing.T) {
	for name, test := range map[string]struct {
		bytes []int
		want  []int
	}{
		"all fit":                    {bytes: []int{maxBytes / 2, maxBytes / 2}, want: []int{2}},
		"one byte more":              {bytes: []int{maxBytes / 2, maxBytes/2 + 1, 1}, want: []int{1, 2}},
		"too long alone, goes alone": {bytes: []int{1, maxBytes + 1, 1}, want: []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := batch[sized, error]{records: func(s sized) int { return s.records }, bytes: func(s sized) int { return s.bytes }}
			items := sizes(make([]int, len(test.bytes))...)
			for i := range items {
				items[i].bytes = test.bytes[i]
			}
			var got []int
			for _, part := range b.split(items) {
				got = append(got, len(part))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("parts, -want +got:\n%s", diff)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	tests := map[string]struct {
		records []int
		want    string
	}{
		"nothing":                           {},
		"all fit":                           {records: []int{1, 2, 3}, want: "t0 t1 t2"},
		"the limit itself fits":             {records: []int{4000, 6000}, want: "t0 t1"},
		"one above the limit":               {records: []int{4000, 6001}, want: "t0|t1"},
		"order is kept, room is not hunted": {records: []int{6000, 6000, 4000, 1}, want: "t0|t1 t2|t3"},
		"too large alone goes alone":        {records: []int{1, 20000, 1}, want: "t0|t1|t2"},
		"too large at the end":              {records: []int{1, 20000}, want: "t0|t1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := batch[sized, error]{records: func(s sized) int { return s.records }}
			var parts []string
			for _, part := range b.split(sizes(test.records...)) {
				var names []string
				for _, item := range part {
					names = append(names, item.name)
				}
				parts = append(parts, strings.Join(names, " "))
			}
			if got := strings.Join(parts, "|"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// recorder is a batch whose requests are answered by a function.
type recorder struct {
	requests []string
	answer   func(names []string) (map[string]error, error)
}

func (r *recorder) batch() batch[sized, error] {
	return batch[sized, error]{
		op:      operation{verb: "try"},
		name:    func(s sized) string { return s.name },
		records: func(s sized) int { return s.records },
		send: func(_ context.Context, items []sized) (map[string]error, error) {
			var names []string
			for _, item := range items {
				names = append(names, item.name)
			}
			r.requests = append(r.requests, strings.Join(names, " "))
			return r.answer(names)
		},
		failure: itself[error],
		problem: itself[error],
	}
}

func code(c int16, message string) error {
	return operation{verb: "try"}.topicError("t", answer{code: c, message: &message})
}

// all answers every name alike.
func all(names []string, err error) map[string]error {
	out := map[string]error{}
	for _, name := range names {
		out[name] = err
	}
	return out
}

func TestRun(t *testing.T) {
	violation := kerr.PolicyViolation.Code
	tests := map[string]struct {
		records []int
		answer  func(names []string) (map[string]error, error)
		// wantErrs by topic; a topic that is not here has none.
		wantErrs     map[string]error
		wantErr      error
		wantRequests []string
	}{
		"one request for what fits": {
			records:      []int{1, 1, 1},
			answer:       func(names []string) (map[string]error, error) { return all(names, nil), nil },
			wantRequests: []string{"t0 t1 t2"},
		},
		"a refused request is halved until the offender is alone": {
			records: []int{1, 1, 1, 1, 1, 1, 1, 1},
			answer: func(names []string) (map[string]error, error) {
				if slices.Contains(names, "t5") {
					return all(names, code(violation, "no")), nil
				}
				return all(names, nil), nil
			},
			wantErrs:     map[string]error{"t5": ErrPolicyViolation},
			wantRequests: []string{"t0 t1 t2 t3 t4 t5 t6 t7", "t0 t1 t2 t3", "t4 t5 t6 t7", "t4 t5", "t4", "t5", "t6 t7"},
		},
		"verdicts that differ are the topics' own": {
			records: []int{1, 1},
			answer: func(_ []string) (map[string]error, error) {
				return map[string]error{"t0": code(violation, "t0 must not"), "t1": code(violation, "t1 must not")}, nil
			},
			wantErrs:     map[string]error{"t0": ErrPolicyViolation, "t1": ErrPolicyViolation},
			wantRequests: []string{"t0 t1"},
		},
		"one topic's refusal beside a success is its own": {
			records: []int{1, 1},
			answer: func(_ []string) (map[string]error, error) {
				return map[string]error{"t0": code(violation, "no"), "t1": nil}, nil
			},
			wantErrs:     map[string]error{"t0": ErrPolicyViolation},
			wantRequests: []string{"t0 t1"},
		},
		"other errors are never halved": {
			records: []int{1, 1},
			answer: func(names []string) (map[string]error, error) {
				return all(names, code(kerr.InvalidConfig.Code, "no")), nil
			},
			wantErrs:     map[string]error{"t0": ErrInvalidConfig, "t1": ErrInvalidConfig},
			wantRequests: []string{"t0 t1"},
		},
		"a part that failed fails alone, and nothing is sent after it": {
			records: []int{10000, 10000, 10000},
			answer: func(names []string) (map[string]error, error) {
				if names[0] == "t1" {
					return nil, ErrUnreachable
				}
				return all(names, nil), nil
			},
			wantErrs:     map[string]error{"t1": ErrUnreachable, "t2": ErrUnreachable},
			wantRequests: []string{"t0", "t1"},
		},
		"with no answer at all the failure is the call's": {
			records:      []int{10000, 10000},
			answer:       func([]string) (map[string]error, error) { return nil, ErrUnreachable },
			wantErr:      ErrUnreachable,
			wantRequests: []string{"t0"},
		},
		"a half that failed leaves the other's answers": {
			records: []int{1, 1},
			answer: func(names []string) (map[string]error, error) {
				switch {
				case len(names) == 2:
					return all(names, code(violation, "too much")), nil
				case names[0] == "t1":
					return nil, ErrTimeout
				}
				return all(names, nil), nil
			},
			wantErrs:     map[string]error{"t1": ErrTimeout},
			wantRequests: []string{"t0 t1", "t0", "t1"},
		},
		"a topic that the answer lacks is not taken for done": {
			records:      []int{1, 1},
			answer:       func([]string) (map[string]error, error) { return map[string]error{"t1": nil, "t9": nil}, nil },
			wantErrs:     map[string]error{"t0": ErrNotAnswered},
			wantRequests: []string{"t0 t1"},
		},
		"no controller is a failure of the call": {
			records: []int{1, 1},
			answer: func(names []string) (map[string]error, error) {
				return all(names, code(kerr.NotController.Code, "")), nil
			},
			wantErr:      ErrNotController,
			wantRequests: []string{"t0 t1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := &recorder{answer: test.answer}
			got, err := r.batch().run(t.Context(), &Client{timeout: time.Minute}, sizes(test.records...))
			if diff := cmp.Diff(test.wantRequests, r.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if !errors.Is(err, test.wantErr) {
				t.Fatalf("got error %v, want %v", err, test.wantErr)
			}
			if test.wantErr != nil {
				if got != nil {
					t.Errorf("answers beside the call's failure: %v", got)
				}
				return
			}
			if len(got) != len(test.records) {
				t.Errorf("%d answers for %d topics", len(got), len(test.records))
			}
			for topic, err := range got {
				if !errors.Is(err, test.wantErrs[topic]) {
					t.Errorf("%s: got %v, want %v", topic, err, test.wantErrs[topic])
				}
			}
		})
	}
}
