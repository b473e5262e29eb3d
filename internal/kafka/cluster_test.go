package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/observed"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// answered makes an embedded Kafka answer one API in its own way, and gives what
// it was asked.
func answered[Q kmsg.Request, A kmsg.Response](embedded *testkafka.Embedded, answer func(Q, A)) *[]Q {
	var asked []Q
	var mu sync.Mutex
	var q Q
	embedded.Fake.ControlKey(q.Key(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		embedded.Fake.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, req.(Q))
		resp := req.ResponseKind()
		answer(req.(Q), resp.(A))
		return resp, nil, true
	})
	return &asked
}

func TestDescribeClusterShowsFencedBrokers(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	answered(embedded, func(q *kmsg.DescribeClusterRequest, a *kmsg.DescribeClusterResponse) {
		if !q.IncludeFencedBrokers {
			t.Error("fenced brokers were not asked for")
		}
		a.ClusterID = "id"
		for _, b := range []struct {
			id     int32
			rack   *string
			fenced bool
		}{{id: 7, fenced: true}, {id: 0, rack: kmsg.StringPtr("a")}} {
			broker := kmsg.NewDescribeClusterResponseBroker()
			broker.NodeID, broker.Rack, broker.IsFenced = b.id, b.rack, b.fenced
			a.Brokers = append(a.Brokers, broker)
		}
	})
	got, err := c.DescribeCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := observed.Registration{ClusterID: "id", Brokers: []observed.Broker{{ID: 0, Rack: "a"}, {ID: 7, Fenced: true}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("registration (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"DescribeCluster": 1}, calls.Take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestABrokerThatCannotShowFencedOnesIsAnError(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	answered(embedded, func(_ *kmsg.ApiVersionsRequest, a *kmsg.ApiVersionsResponse) {
		for _, api := range []struct{ key, newest int16 }{{kmsg.ApiVersions.Int16(), 4}, {kmsg.Metadata.Int16(), 12}, {kmsg.DescribeCluster.Int16(), 1}} {
			key := kmsg.NewApiVersionsResponseApiKey()
			key.ApiKey, key.MaxVersion = api.key, api.newest
			a.ApiKeys = append(a.ApiKeys, key)
		}
	})
	_, err := c.DescribeCluster(t.Context())
	if !errors.Is(err, kafka.ErrUnsupportedVersion) || kafka.Passing(err) || !strings.Contains(fmt.Sprint(err), "Kafka 4.0") {
		t.Errorf("got %v", err)
	}
}

func TestFeatures(t *testing.T) {
	level := func(name string, level int16) kmsg.ApiVersionsResponseFinalizedFeature {
		f := kmsg.NewApiVersionsResponseFinalizedFeature()
		f.Name, f.MinVersionLevel, f.MaxVersionLevel = name, level, level
		return f
	}
	for name, test := range map[string]struct {
		finalized []kmsg.ApiVersionsResponseFinalizedFeature
		want      observed.Features
		wantErr   error
	}{
		"a level with a name": {
			finalized: []kmsg.ApiVersionsResponseFinalizedFeature{level("group.version", 1), level("metadata.version", 30)},
			want:      observed.Features{MetadataVersion: "4.3-IV0", MetadataLevel: 30},
		},
		"a level of a newer Kafka": {
			finalized: []kmsg.ApiVersionsResponseFinalizedFeature{level("metadata.version", 999)},
			want:      observed.Features{MetadataVersion: "level 999", MetadataLevel: 999},
		},
		"eligible leader replicas": {
			finalized: []kmsg.ApiVersionsResponseFinalizedFeature{level("eligible.leader.replicas.version", 1), level("metadata.version", 29)},
			want:      observed.Features{MetadataVersion: "4.2-IV1", MetadataLevel: 29, EligibleLeaderReplicas: true},
		},
		"a broker that knows of none yet": {wantErr: kafka.ErrNotAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			embedded := kafkatest.StartEmbedded(t, 1)
			c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
			// The connection is there by then, with the versions that it found.
			if _, err := c.Features(t.Context()); err != nil {
				t.Fatal(err)
			}
			calls.Take()
			answered(embedded, func(_ *kmsg.ApiVersionsRequest, a *kmsg.ApiVersionsResponse) { a.FinalizedFeatures = test.finalized })
			for range 2 {
				got, err := c.Features(t.Context())
				if !errors.Is(err, test.wantErr) {
					t.Fatalf("got error %v, want %v", err, test.wantErr)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("features (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(map[string]int{"ApiVersions": 2}, calls.Take()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpdateMetadataVersion(t *testing.T) {
	for name, test := range map[string]struct {
		version   string
		code      int16
		wantLevel int16 // zero where nothing may be sent
		wantErr   error
	}{
		"raised":              {version: "4.3-IV0", wantLevel: 30},
		"without its IV part": {version: "4.2", wantLevel: 29},
		"refused":             {version: "4.2-IV1", wantLevel: 29, code: kerr.InvalidUpdateVersion.Code, wantErr: kafka.ErrInvalidUpdateVersion},
		"failed":              {version: "4.2-IV1", wantLevel: 29, code: kerr.FeatureUpdateFailed.Code, wantErr: kafka.ErrFeatureUpdateFailed},
		"unknown":             {version: "9.9-IV9", wantErr: kafka.ErrInvalidUpdateVersion},
	} {
		t.Run(name, func(t *testing.T) {
			embedded := kafkatest.StartEmbedded(t, 1)
			c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
			asked := answered(embedded, func(_ *kmsg.UpdateFeaturesRequest, a *kmsg.UpdateFeaturesResponse) { a.ErrorCode = test.code })
			if err := c.UpdateMetadataVersion(t.Context(), test.version); !errors.Is(err, test.wantErr) || err != nil && kafka.Passing(err) {
				t.Errorf("got %v, want %v", err, test.wantErr)
			}
			var got []string
			for _, q := range *asked {
				for _, u := range q.FeatureUpdates {
					got = append(got, fmt.Sprint(u.Feature, u.MaxVersionLevel, u.UpgradeType))
				}
			}
			var want []string
			if test.wantLevel > 0 {
				want = append(want, fmt.Sprint("metadata.version", test.wantLevel, 1))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("updates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnregisterBroker(t *testing.T) {
	for name, test := range map[string]struct {
		code    int16
		wantErr error
	}{
		"registered":     {},
		"not registered": {code: kerr.BrokerIDNotRegistered.Code},
		"not allowed":    {code: kerr.ClusterAuthorizationFailed.Code, wantErr: kafka.ErrAuthorization},
	} {
		t.Run(name, func(t *testing.T) {
			embedded := kafkatest.StartEmbedded(t, 1)
			c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
			serving(embedded, kmsg.UnregisterBroker)
			asked := answered(embedded, func(_ *kmsg.UnregisterBrokerRequest, a *kmsg.UnregisterBrokerResponse) { a.ErrorCode = test.code })
			if err := c.UnregisterBroker(t.Context(), 4); !errors.Is(err, test.wantErr) {
				t.Errorf("got %v, want %v", err, test.wantErr)
			}
			if len(*asked) != 1 || (*asked)[0].BrokerID != 4 {
				t.Errorf("asked %+v", *asked)
			}
		})
	}
}

// serving makes an embedded Kafka say that it serves an API that it lacks, beside
// those that these tests need.
func serving(embedded *testkafka.Embedded, api kmsg.Key) {
	answered(embedded, func(_ *kmsg.ApiVersionsRequest, a *kmsg.ApiVersionsResponse) {
		for _, k := range []kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.DescribeConfigs, api} {
			key := kmsg.NewApiVersionsResponseApiKey()
			key.ApiKey, key.MaxVersion = k.Int16(), kmsg.RequestForKey(k.Int16()).MaxVersion()
			a.ApiKeys = append(a.ApiKeys, key)
		}
	})
}

func TestQuorum(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	serving(embedded, kmsg.DescribeQuorum)
	code := int16(0)
	answered(embedded, func(_ *kmsg.DescribeQuorumRequest, a *kmsg.DescribeQuorumResponse) {
		p := kmsg.NewDescribeQuorumResponseTopicPartition()
		p.LeaderID, p.ErrorCode = 9, code
		for _, v := range []struct {
			id    int32
			since int64
		}{{9, 1_700_000_000_000}, {8, -1}} {
			voter := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
			voter.ReplicaID, voter.LogEndOffset, voter.LastCaughtUpTimestamp, voter.LastFetchTimestamp = v.id, 5, v.since, v.since
			p.CurrentVoters = append(p.CurrentVoters, voter)
		}
		topic := kmsg.NewDescribeQuorumResponseTopic()
		topic.Topic, topic.Partitions = "__cluster_metadata", append(topic.Partitions, p)
		a.Topics = append(a.Topics, topic)
	})
	got, err := c.Quorum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	since := time.UnixMilli(1_700_000_000_000)
	want := observed.Quorum{Leader: 9, Voters: []observed.Voter{{ID: 8, LogEndOffset: 5}, {ID: 9, LogEndOffset: 5, LastCaughtUp: since, LastFetch: since}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quorum (-want +got):\n%s", diff)
	}
	code = kerr.NotController.Code
	if _, err := c.Quorum(t.Context()); !errors.Is(err, kafka.ErrNotController) || !kafka.Passing(err) {
		t.Errorf("an error of the partition: %v", err)
	}
}

// hang is an address that takes connections and never answers.
func hang(t *testing.T) string {
	return serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

// TestOneBrokerFailsAloneAndFast has a cluster list, beside a living broker, one
// that is dead, one that hangs, and leave a third out.
func TestOneBrokerFailsAloneAndFast(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 1)
	listed := map[int32]string{0: embedded.Bootstrap()[0], 1: nobody(t), 2: hang(t)}
	answered(embedded, func(_ *kmsg.MetadataRequest, a *kmsg.MetadataResponse) {
		for id, address := range listed {
			b := kmsg.NewMetadataResponseBroker()
			b.NodeID = id
			b.Host, b.Port = hostPort(t, address)
			a.Brokers = append(a.Brokers, b)
		}
	})
	const bound = 3 * time.Second
	c, _ := newClient(t, bound, embedded.Bootstrap()...)
	ask := map[string]func(context.Context, int32) error{
		"LogDirs":      func(ctx context.Context, id int32) error { _, err := c.LogDirs(ctx, id); return err },
		"BrokerConfig": func(ctx context.Context, id int32) error { _, err := c.BrokerConfig(ctx, id); return err },
		"AlterBrokerConfig": func(ctx context.Context, id int32) error {
			return c.AlterBrokerConfig(ctx, id, []kafka.ConfigOp{{Name: "a", Delete: true}})
		},
	}
	answered(embedded, func(_ *kmsg.DescribeLogDirsRequest, a *kmsg.DescribeLogDirsResponse) {
		a.Dirs = append(a.Dirs, kmsg.NewDescribeLogDirsResponseDir())
	})
	for call, do := range ask {
		for id, state := range []string{"alive", "dead", "hanging", "not listed"} {
			t.Run(call+"/"+state, func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				err := do(t.Context(), int32(id))
				if id == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if !errors.Is(err, kafka.ErrUnreachable) || !kafka.Passing(err) || !strings.Contains(err.Error(), fmt.Sprintf("broker %d", id)) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took > bound/2 {
					t.Errorf("it took %s to say", took)
				}
			})
		}
	}
}

func hostPort(t *testing.T, address string) (string, int32) {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return a.IP.String(), int32(a.Port)
}

func TestOneLivingBrokerAmongManyDeadIsFound(t *testing.T) {
	t.Parallel()
	embedded := kafkatest.StartEmbedded(t, 1)
	var servers []string
	for range 6 {
		servers = append(servers, nobody(t))
	}
	c, _ := newClient(t, 10*time.Second, append(servers, embedded.Bootstrap()...)...)
	for range 3 {
		if _, err := c.Features(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := c.DescribeCluster(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAHostIsResolvedByWhoKnowsIt(t *testing.T) {
	t.Parallel()
	embedded := kafkatest.StartEmbedded(t, 1)
	_, port, _ := net.SplitHostPort(embedded.Bootstrap()[0])
	var asked atomic.Value
	c, err := kafka.New(kafka.Config{
		BootstrapServers: []string{"pod.invalid:" + port},
		Timeout:          10 * time.Second,
		Resolve: func(host string) (string, bool) {
			asked.CompareAndSwap(nil, host)
			return "127.0.0.1", host == "pod.invalid"
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.DescribeCluster(t.Context()); err != nil || asked.Load() != "pod.invalid" {
		t.Errorf("asked for %v: %v", asked.Load(), err)
	}
	// Whom it does not know, DNS may.
	if err := c.SetServers([]string{"localhost:" + port}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DescribeCluster(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServersCanBeReplaced(t *testing.T) {
	t.Parallel()
	embedded := kafkatest.StartEmbedded(t, 1)
	old := nobody(t)
	c, _ := newClient(t, 10*time.Second, old)
	if _, err := c.DescribeCluster(t.Context()); !errors.Is(err, kafka.ErrUnreachable) || !strings.Contains(err.Error(), old) {
		t.Errorf("before: %v", err)
	}
	for name, servers := range map[string][]string{"no brokers": nil, "no port": {"localhost"}, "no number": {"localhost:kafka"}} {
		if err := c.SetServers(servers, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := c.SetServers(embedded.Bootstrap(), []string{"no-port"}); err == nil {
		t.Error("a controller without a port: no error")
	}
	for range 2 {
		if err := c.SetServers(embedded.Bootstrap(), []string{old}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.DescribeCluster(t.Context()); err != nil {
			t.Errorf("after: %v", err)
		}
	}
	if err := c.ClearBrokerConfig(t.Context(), 1, []string{"a"}); !errors.Is(err, kafka.ErrUnreachable) || !strings.Contains(err.Error(), "controllers at "+old) {
		t.Errorf("the new controllers: %v", err)
	}
}
