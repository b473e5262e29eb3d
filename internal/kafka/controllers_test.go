package kafka_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// controller is a controller that answers from a function of the options to be
// deleted, and records what it was asked.
type controller struct {
	address string
	mu      sync.Mutex
	asked   []string
}

func startController(t *testing.T, answer func(options []string) int16) *controller {
	t.Helper()
	embedded := kafkatest.StartEmbedded(t, 1)
	c := &controller{address: embedded.Bootstrap()[0]}
	// A controller serves no Metadata.
	embedded.Fake.ControlKey(kmsg.Metadata.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		embedded.Fake.KeepControl()
		return nil, errors.New("a controller was asked for Metadata"), true
	})
	answered(embedded, func(q *kmsg.IncrementalAlterConfigsRequest, a *kmsg.IncrementalAlterConfigsResponse) {
		c.mu.Lock()
		defer c.mu.Unlock()
		var options []string
		for _, option := range q.Resources[0].Configs {
			if option.Op != kmsg.IncrementalAlterConfigOpDelete || option.Value != nil {
				t.Errorf("%s is not deleted: %v", option.Name, option.Op)
			}
			options = append(options, option.Name)
		}
		c.asked = append(c.asked, q.Resources[0].ResourceName+": "+strings.Join(options, " "))
		r := kmsg.NewIncrementalAlterConfigsResponseResource()
		r.ResourceType, r.ResourceName, r.ErrorCode = q.Resources[0].ResourceType, q.Resources[0].ResourceName, answer(options)
		a.Resources = append(a.Resources, r)
	})
	return c
}

func (c *controller) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// clearing gives a client of these controllers, whose brokers are gone.
func clearing(t *testing.T, controllers ...string) (*kafka.Client, *kafkatest.Calls) {
	t.Helper()
	calls := &kafkatest.Calls{}
	c, err := kafka.New(kafka.Config{BootstrapServers: []string{nobody(t)}, Controllers: controllers, Timeout: 3 * time.Second, Observe: calls.Observe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, calls
}

func TestClearBrokerConfig(t *testing.T) {
	refuses := func(code int16, bad ...string) func([]string) int16 {
		return func(options []string) int16 {
			if slices.ContainsFunc(options, func(o string) bool { return slices.Contains(bad, o) }) {
				return code
			}
			return 0
		}
	}
	for name, test := range map[string]struct {
		options []string
		answer  func([]string) int16
		asked   []string
		refused []string
		wantErr error
	}{
		"all at once": {
			options: []string{"a", "cordoned.log.dirs"},
			answer:  refuses(0),
			asked:   []string{"5: a cordoned.log.dirs"},
		},
		"a refused one is found and named": {
			options: []string{"a", "bad", "b"},
			answer:  refuses(kerr.InvalidConfig.Code, "bad"),
			asked:   []string{"5: a bad b", "5: a", "5: bad", "5: b"},
			refused: []string{"bad"},
			wantErr: kafka.ErrInvalidConfig,
		},
		"one that is alone is not asked for again": {
			options: []string{"bad"},
			answer:  refuses(kerr.InvalidRequest.Code, "bad"),
			asked:   []string{"5: bad"},
			refused: []string{"bad"},
			wantErr: kafka.ErrInvalidRequest,
		},
		"what cannot be set needs no clearing": {
			options: []string{"a", "min.insync.replicas", "cordoned.log.dirs"},
			answer:  refuses(kerr.InvalidConfig.Code, "min.insync.replicas", "cordoned.log.dirs"),
			asked:   []string{"5: a min.insync.replicas cordoned.log.dirs", "5: a", "5: min.insync.replicas", "5: cordoned.log.dirs"},
		},
		"a broker that is not registered": {
			options: []string{"a", "b"},
			answer:  refuses(kerr.BrokerIDNotRegistered.Code, "a"),
			asked:   []string{"5: a b"},
			wantErr: kafka.ErrBrokerNotRegistered,
		},
		"no right to it": {
			options: []string{"a", "b"},
			answer:  refuses(kerr.ClusterAuthorizationFailed.Code, "a"),
			asked:   []string{"5: a b"},
			wantErr: kafka.ErrAuthorization,
		},
	} {
		t.Run(name, func(t *testing.T) {
			active := startController(t, test.answer)
			c, calls := clearing(t, active.address)
			err := c.ClearBrokerConfig(t.Context(), 5, test.options)
			if !errors.Is(err, test.wantErr) {
				t.Errorf("got %v, want %v", err, test.wantErr)
			}
			var refused []string
			if e, ok := errors.AsType[*kafka.RefusedOptionsError](err); ok {
				for option := range e.Options {
					refused = append(refused, option)
				}
				if e.Broker != 5 || !strings.Contains(e.Error(), test.refused[0]) || kafka.Passing(err) {
					t.Errorf("it says %v", e)
				}
			}
			if diff := cmp.Diff(test.refused, refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, active.take()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]int{"IncrementalAlterConfigs": len(test.asked)}, calls.Take()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheActiveControllerIsFound(t *testing.T) {
	t.Parallel()
	passive := startController(t, func([]string) int16 { return kerr.NotController.Code })
	active := startController(t, func([]string) int16 { return 0 })
	for name, first := range map[string]string{"behind one that is passive": passive.address, "behind one that is dead": nobody(t), "behind one that hangs": hang(t)} {
		t.Run(name, func(t *testing.T) {
			c, _ := clearing(t, first, active.address)
			if err := c.ClearBrokerConfig(t.Context(), 5, []string{"a"}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("after an election", func(t *testing.T) {
		elections := 0
		late := startController(t, func([]string) int16 {
			if elections++; elections < 3 {
				return kerr.NotController.Code
			}
			return 0
		})
		c, _ := clearing(t, passive.address, late.address)
		if err := c.ClearBrokerConfig(t.Context(), 5, []string{"a"}); err != nil {
			t.Error(err)
		}
	})
}

func TestNoActiveController(t *testing.T) {
	t.Parallel()
	passive := startController(t, func([]string) int16 { return kerr.NotController.Code })
	for name, test := range map[string]struct {
		controllers []string
		want        error
		text        string
	}{
		"all are passive": {controllers: []string{passive.address}, want: kafka.ErrNotController, text: passive.address},
		"all are dead":    {controllers: []string{nobody(t), nobody(t)}, want: kafka.ErrUnreachable},
		"all hang":        {controllers: []string{hang(t)}, want: kafka.ErrUnreachable},
		"none is known":   {text: "host:port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := clearing(t, test.controllers...)
			err := c.ClearBrokerConfig(t.Context(), 5, []string{"a"})
			if test.want != nil && (!errors.Is(err, test.want) || !kafka.Passing(err)) || err == nil || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
