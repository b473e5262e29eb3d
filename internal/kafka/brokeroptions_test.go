package kafka_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

func TestBrokerOptionsAreThoseAskedForAndNotObserved(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 3)
	c, calls := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	got, err := c.BrokerOptions(t.Context(), []string{"min.insync.replicas", "no.such.option"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"min.insync.replicas": "1"}, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if counted := calls.Take(); len(counted) > 0 {
		t.Errorf("observed: %v, want nothing", counted)
	}
}

func TestBrokerOptionsAreReadOfTheNextBrokerThatLives(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 3)
	c, _ := newClient(t, 6*time.Second, embedded.Bootstrap()...)
	var asked []string
	embedded.Fake.ControlKey(kmsg.DescribeConfigs.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		embedded.Fake.KeepControl()
		broker := req.(*kmsg.DescribeConfigsRequest).Resources[0].ResourceName
		asked = append(asked, broker)
		if broker == "0" {
			return nil, errors.New("cut"), true // closes the connection
		}
		return nil, nil, false
	})
	got, err := c.BrokerOptions(t.Context(), []string{"min.insync.replicas"})
	if err != nil || got["min.insync.replicas"] != "1" {
		t.Errorf("got %v, %v after asking %v", got, err, asked)
	}
	if len(asked) == 0 || asked[0] != "0" || asked[len(asked)-1] != "1" {
		t.Errorf("asked %v, want broker 0 and then 1", asked)
	}
}

func TestBrokerOptionsThatMayNotBeReadNameTheRight(t *testing.T) {
	embedded := kafkatest.StartEmbedded(t, 3)
	c, _ := newClient(t, 10*time.Second, embedded.Bootstrap()...)
	asked := answered(embedded, func(q *kmsg.DescribeConfigsRequest, a *kmsg.DescribeConfigsResponse) {
		r := kmsg.NewDescribeConfigsResponseResource()
		r.ResourceName, r.ErrorCode = q.Resources[0].ResourceName, kerr.ClusterAuthorizationFailed.Code
		a.Resources = append(a.Resources, r)
	})
	_, err := c.BrokerOptions(t.Context(), []string{"min.insync.replicas"})
	if !errors.Is(err, kafka.ErrAuthorization) || kafka.Passing(err) || !strings.Contains(err.Error(), "DESCRIBE_CONFIGS on the cluster") {
		t.Errorf("got %v", err)
	}
	if len(*asked) != 1 {
		t.Errorf("asked %d brokers, want one: the others would say the same", len(*asked))
	}
}
