package integration

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// TestABrokerAsksForACLs holds the brokers of these tests to what tests of missing
// permissions build upon.
func TestABrokerAsksForACLs(t *testing.T) {
	cluster := kafkatest.Start(t, kafka.Options{
		Listeners: []kafka.Listener{{Name: "LOGIN", Mechanisms: []string{"PLAIN"}}},
		Users:     map[string]string{"sluice": "sluice-secret"},
		Authorize: true,
	})
	connect := func(seeds []string, options ...kgo.Opt) *kadm.Client {
		c, err := kgo.NewClient(append(options, kgo.SeedBrokers(seeds...))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return kadm.NewClient(c)
	}
	super := connect(cluster.Bootstrap())
	user := connect(cluster.At("LOGIN"), kgo.SASL(plain.Auth{User: "sluice", Pass: "sluice-secret"}.AsMechanism()))
	if _, err := user.CreateTopic(t.Context(), 1, 1, nil, "acl"); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Fatalf("without an ACL: %v", err)
	}
	acl := kadm.NewACLs().Allow("User:sluice").AllowHosts("*").Clusters().Operations(kmsg.ACLOperationCreate)
	if _, err := super.CreateACLs(t.Context(), acl); err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, func(ctx context.Context) error {
		_, err := user.CreateTopic(ctx, 1, 1, nil, "acl")
		return err
	})
}
