package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	client "github.com/sluice-kafka/sluice/internal/kafka"
)

// Traits are what a Kafka has that an imitation may lack.
type Traits struct {
	// NormalisesValues: "0.50" is read back as "0.5".
	NormalisesValues bool
	// ChecksOptions: an unknown option or a bad value is refused.
	ChecksOptions bool
	// KnowsAutoCreate: auto.create.topics.enable is among the options of a broker.
	KnowsAutoCreate bool
	// RefusesSameCount: adding no partition is an error.
	RefusesSameCount bool
	// TellsDefaults: the answer to a creation has the options that were not given.
	TellsDefaults bool
}

// Real are the traits of Apache Kafka, Fake those of kfake.
var (
	Real = Traits{NormalisesValues: true, ChecksOptions: true, KnowsAutoCreate: true, RefusesSameCount: true, TellsDefaults: true}
	Fake = Traits{}
)

// Contract checks that the client's calls about topics keep their promises against the
// cluster, which must have fewer than 100 brokers. Its topics begin with
// "contract".
func Contract(t *testing.T, bootstrap []string, traits Traits) {
	s := newSuite(t, bootstrap, traits)
	t.Run("a mixed batch is created and described", s.createMixed)
	t.Run("a bad topic fails alone at creation", s.createBad)
	t.Run("unknown topics are told from known ones", s.describeUnknown)
	t.Run("values are read as Kafka keeps them", s.values)
	t.Run("options are set and deleted topic by topic", s.alter)
	if traits.ChecksOptions {
		t.Run("a bad option changes nothing on its topic", s.alterBad)
	}
	t.Run("partitions grow topic by topic", s.grow)
	t.Run("topics are deleted one by one", s.delete)
	t.Run("options in effect at the brokers are read", s.brokerOptions)
	t.Run("nothing asked is nothing sent", s.nothing)
	t.Run("a cluster has an ID that stays", s.identity)
}

// Calls counts requests by the name of their API.
type Calls struct {
	mu     sync.Mutex
	counts map[string]int
}

// Observe is for the client's configuration.
func (c *Calls) Observe(api string, _ time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[api]++
}

// Take returns the counts since the last Take.
func (c *Calls) Take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = nil
	return counts
}

type suite struct {
	client *client.Client
	traits Traits
	calls  *Calls
}

func newSuite(t *testing.T, bootstrap []string, traits Traits) *suite {
	t.Helper()
	s := &suite{traits: traits, calls: &Calls{}}
	var err error
	if s.client, err = client.New(client.Config{BootstrapServers: bootstrap, Observe: s.calls.Observe}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	return s
}

// wantCalls fails the test unless exactly these requests were sent since the
// last look.
func (s *suite) wantCalls(t *testing.T, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, s.calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// create makes topics of one partition that later steps need.
func (s *suite) create(t *testing.T, names ...string) {
	t.Helper()
	var topics []client.NewTopic
	for _, name := range names {
		topics = append(topics, client.NewTopic{Name: name, Partitions: 1, ReplicationFactor: 1})
	}
	created, err := s.client.CreateTopics(t.Context(), topics)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range created {
		if c.Err != nil {
			t.Fatalf("creating %s: %v", name, c.Err)
		}
	}
	s.shown(t, names...)
	s.calls.Take()
}

// shown waits until metadata has caught up with our own creation.
func (s *suite) shown(t *testing.T, names ...string) {
	t.Helper()
	Eventually(t, func(ctx context.Context) error {
		seen, err := s.client.DescribeTopics(ctx, names)
		if err != nil {
			return err
		}
		for _, name := range names {
			if seen[name].Err != nil {
				return seen[name].Err
			}
		}
		return nil
	})
}

// Eventually repeats a check until it passes, and fails the test if it does not
// within half a minute.
func Eventually(tb testing.TB, check func(context.Context) error) {
	tb.Helper()
	var last error
	err := wait.PollUntilContextTimeout(tb.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		tb.Fatalf("not reached: %v (%v)", last, err)
	}
}

// wantErrors fails the test unless each name has the error that is wanted.
func wantErrors(t *testing.T, got, want map[string]error) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d answers, want %d: %v", len(got), len(want), got)
	}
	for name, w := range want {
		g, ok := got[name]
		switch {
		case !ok:
			t.Errorf("%s: no answer", name)
		case !errors.Is(g, w):
			t.Errorf("%s: got error %v, want %v", name, g, w)
		case g != nil && (!strings.Contains(g.Error(), name) || !isKafkas(g)):
			t.Errorf("%s: the error does not name the topic and carry Kafka's own: %v", name, g)
		}
	}
}

func isKafkas(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Code != 0 && e.Name != "" && e.Message != ""
}

func createErrors(created map[string]client.CreatedTopic) map[string]error {
	out := map[string]error{}
	for name, c := range created {
		out[name] = c.Err
	}
	return out
}

func partitionIDs(d client.TopicDescription) []int32 {
	ids := []int32{}
	for _, p := range d.Partitions {
		ids = append(ids, p.ID)
	}
	return ids
}

// wantReplicas fails the test unless each partition has that many.
func wantReplicas(t *testing.T, name string, d client.TopicDescription, rf int) {
	t.Helper()
	for _, p := range d.Partitions {
		if len(p.Replicas) != rf || len(slices.Compact(slices.Sorted(slices.Values(p.Replicas)))) != rf {
			t.Errorf("%s-%d: replicas %v, want %d different ones", name, p.ID, p.Replicas, rf)
		}
	}
}

// wantEntry fails the test unless the option is so.
func wantEntry(t *testing.T, c client.TopicConfig, option, value string, dynamic bool) {
	t.Helper()
	e, ok := c.Entries[option]
	if !ok {
		t.Errorf("%s: not described", option)
		return
	}
	if got, want := fmt.Sprintf("%q dynamic=%t", e.Value, e.Dynamic), fmt.Sprintf("%q dynamic=%t", value, dynamic); got != want {
		t.Errorf("%s: got %s, want %s", option, got, want)
	}
}
