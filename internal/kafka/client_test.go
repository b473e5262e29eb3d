package kafka_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// newClient gives a client with a short bound, and its count of requests.
func newClient(t *testing.T, timeout time.Duration, servers ...string) (*kafka.Client, *kafkatest.Calls) {
	t.Helper()
	calls := &kafkatest.Calls{}
	c, err := kafka.New(kafka.Config{BootstrapServers: servers, Timeout: timeout, Observe: calls.Observe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, calls
}

// serve accepts connections on loopback and passes each to a handler until the
// test ends.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	return l.Addr().String()
}

// nobody is an address at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return l.Addr().String()
}

// calls are those about topics, each with one, and their second results.
var calls = map[string]func(context.Context, *kafka.Client) error{
	"DescribeTopics": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.DescribeTopics(ctx, []string{"t"})
		return err
	},
	"DescribeTopicConfigs": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.DescribeTopicConfigs(ctx, []string{"t"})
		return err
	},
	"CreateTopics": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.CreateTopics(ctx, []kafka.NewTopic{{Name: "t", Partitions: 1, ReplicationFactor: 1}})
		return err
	},
	"CreatePartitions": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.CreatePartitions(ctx, []kafka.PartitionGrowth{{Name: "t", Total: 2}})
		return err
	},
	"AlterTopicConfigs": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.AlterTopicConfigs(ctx, []kafka.TopicConfigChange{{Name: "t", Ops: []kafka.ConfigOp{{Name: "retention.ms", Value: "1"}}}})
		return err
	},
	"DeleteTopics": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.DeleteTopics(ctx, []kafka.TopicDeletion{{Name: "t"}})
		return err
	},
}

// clusterCalls are those of the cluster controller; kfake does not serve all.
var clusterCalls = map[string]func(context.Context, *kafka.Client) error{
	"DescribeCluster": func(ctx context.Context, c *kafka.Client) error { _, err := c.DescribeCluster(ctx); return err },
	"Features":        func(ctx context.Context, c *kafka.Client) error { _, err := c.Features(ctx); return err },
	"Quorum":          func(ctx context.Context, c *kafka.Client) error { _, err := c.Quorum(ctx); return err },
	"Partitions":      func(ctx context.Context, c *kafka.Client) error { _, err := c.Partitions(ctx); return err },
	"DefaultConfig":   func(ctx context.Context, c *kafka.Client) error { _, err := c.DefaultConfig(ctx); return err },
	"Reassignments": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.Reassignments(ctx, []string{"t"})
		return err
	},
	"TopicPartitions": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.TopicPartitions(ctx, []string{"t"})
		return err
	},
	"Reassign": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.Reassign(ctx, map[string]map[int32][]int32{"t": {0: {0}}})
		return err
	},
	"MinInSyncReplicas": func(ctx context.Context, c *kafka.Client) error {
		_, err := c.MinInSyncReplicas(ctx, []string{"t"})
		return err
	},
	"AlterDefaultConfig": func(ctx context.Context, c *kafka.Client) error {
		return c.AlterDefaultConfig(ctx, []kafka.ConfigOp{{Name: "retention.ms", Delete: true}})
	},
	"UnregisterBroker":      func(ctx context.Context, c *kafka.Client) error { return c.UnregisterBroker(ctx, 1) },
	"UpdateMetadataVersion": func(ctx context.Context, c *kafka.Client) error { return c.UpdateMetadataVersion(ctx, "4.3-IV0") },
}

// brokerCalls are those that one broker alone answers: it is unreachable,
// whatever keeps it from being found.
var brokerCalls = map[string]func(context.Context, *kafka.Client) error{
	"LogDirs":      func(ctx context.Context, c *kafka.Client) error { _, err := c.LogDirs(ctx, 0); return err },
	"BrokerConfig": func(ctx context.Context, c *kafka.Client) error { _, err := c.BrokerConfig(ctx, 0); return err },
	"AlterBrokerConfig": func(ctx context.Context, c *kafka.Client) error {
		return c.AlterBrokerConfig(ctx, 0, []kafka.ConfigOp{{Name: "retention.ms", Delete: true}})
	},
}

// every has all calls.
func every() map[string]func(context.Context, *kafka.Client) error {
	all := maps.Clone(calls)
	maps.Copy(all, clusterCalls)
	maps.Copy(all, brokerCalls)
	return all
}

func TestEveryCallFailsInTimeAndSaysHow(t *testing.T) {
	tests := map[string]struct {
		server func(*testing.T) string
		want   error
	}{
		"nobody listens": {server: nobody, want: kafka.ErrUnreachable},
		"the connection is closed at once": {
			server: func(t *testing.T) string { return serve(t, func(c net.Conn) { _ = c.Close() }) },
			want:   kafka.ErrUnreachable,
		},
		"nobody answers": {
			server: func(t *testing.T) string { return serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) },
			want:   kafka.ErrTimeout,
		},
		"the host has no name": {
			server: func(*testing.T) string { return "kafka.invalid:9092" },
			want:   kafka.ErrUnreachable,
		},
	}
	const bound = 320 * time.Millisecond
	for name, test := range tests {
		for call, do := range every() {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				want := test.want
				if _, one := brokerCalls[call]; one {
					want = kafka.ErrUnreachable
				}
				server := test.server(t)
				c, _ := newClient(t, bound, server)
				// The bound is the client's: this one only ends a test that
				// would hang.
				ctx, cancel := context.WithTimeout(t.Context(), 10*bound)
				defer cancel()
				err := do(ctx, c)
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				if !kafka.Passing(err) {
					t.Errorf("%v is not passing", err)
				}
				if err != nil && !strings.Contains(err.Error(), server) {
					t.Errorf("%v does not name the cluster", err)
				}
			})
		}
	}
}

func TestNonsenseIsAnError(t *testing.T) {
	server := serve(t, func(c net.Conn) {
		defer func() { _ = c.Close() }()
		_, _ = c.Write([]byte("\x00\x00\x00\x10HTTP/1.1 400 Bad Request\r\n\r\n"))
		_, _ = io.Copy(io.Discard, c)
	})
	for call, do := range every() {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			c, _ := newClient(t, 400*time.Millisecond, server)
			if err := do(t.Context(), c); err == nil {
				t.Error("it took nonsense for an answer")
			}
		})
	}
}

func TestADeadBootstrapServerIsPassedOver(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, nobody(t), embedded.Bootstrap()[0])
	for range 3 {
		for call, do := range calls {
			if err := do(t.Context(), c); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		}
	}
}

func TestACutConnectionIsRetriedAndCounted(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, counted := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	embedded.Fake.ControlKey(kmsg.CreateTopics.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		return nil, errors.New("cut"), true
	})
	created, err := c.CreateTopics(t.Context(), []kafka.NewTopic{{Name: "t", Partitions: 1, ReplicationFactor: 1}})
	if err != nil || created["t"].Err != nil {
		t.Fatalf("%v, %v", err, created)
	}
	if diff := cmp.Diff(map[string]int{"CreateTopics": 2}, counted.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestTheCallersWillIsNotATimeout(t *testing.T) {
	server := serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	for call, do := range every() {
		t.Run(call, func(t *testing.T) {
			c, _ := newClient(t, 10*time.Second, server)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := do(ctx, c); !errors.Is(err, context.Canceled) || errors.Is(err, kafka.ErrTimeout) {
				t.Errorf("cancelled: %v", err)
			}
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := do(ctx, c); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, kafka.ErrTimeout) {
				t.Errorf("deadline: %v", err)
			}
		})
	}
}

func TestAClosedClientSaysSo(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	c.Close()
	for call, do := range every() {
		if err := do(t.Context(), c); !errors.Is(err, kafka.ErrClosed) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestThrottledTopicsSayForHowLong(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	embedded.Fake.ControlKey(kmsg.CreateTopics.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
		resp.ThrottleMillis = 700
		for _, code := range []struct {
			name string
			code int16
		}{{"now", 0}, {"later", kerr.ThrottlingQuotaExceeded.Code}} {
			topic := kmsg.NewCreateTopicsResponseTopic()
			topic.Topic, topic.ErrorCode = code.name, code.code
			resp.Topics = append(resp.Topics, topic)
		}
		return resp, nil, true
	})
	created, err := c.CreateTopics(t.Context(), []kafka.NewTopic{{Name: "now"}, {Name: "later"}})
	if err != nil || created["now"].Err != nil {
		t.Fatalf("%v, %v", err, created)
	}
	late := created["later"].Err
	if !errors.Is(late, kafka.ErrThrottled) || !kafka.Passing(late) || kafka.Wait(late) != 700*time.Millisecond {
		t.Errorf("got %v, to wait %s", late, kafka.Wait(late))
	}
}

func TestEachTopicOfAnEmptyAnswerIsUnknownNotAbsent(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	// The first call makes the client ask for brokers, which is Metadata too.
	if err := calls["CreateTopics"](t.Context(), c); err != nil {
		t.Fatal(err)
	}
	embedded.Fake.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		switch req.Key() {
		case kmsg.Metadata.Int16(), kmsg.DescribeConfigs.Int16():
			embedded.Fake.KeepControl()
			return req.ResponseKind(), nil, true
		}
		return nil, nil, false
	})
	seen, err := c.DescribeTopics(t.Context(), []string{"t"})
	if err != nil || !errors.Is(seen["t"].Err, kafka.ErrNotAnswered) {
		t.Errorf("described: %v, %v", seen, err)
	}
	configs, err := c.DescribeTopicConfigs(t.Context(), []string{"t"})
	if err != nil || !errors.Is(configs["t"].Err, kafka.ErrNotAnswered) {
		t.Errorf("configs: %v, %v", configs, err)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for name, servers := range map[string][]string{
		"no servers":        nil,
		"a port that isn't": {"localhost:kafka"},
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := kafka.New(kafka.Config{BootstrapServers: servers}); err == nil {
				c.Close()
				t.Error("no error")
			}
		})
	}
}
