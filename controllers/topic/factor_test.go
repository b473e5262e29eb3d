package topic

import (
	"strings"
	"testing"
	"time"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
)

func TestAFactorThatFitsWhenABrokerIsBackIsNotCalledWrong(t *testing.T) {
	for name, test := range map[string]struct {
		brokers int
		// refused is for how long, and wrong whether that is said.
		refused time.Duration
		wrong   bool
	}{
		"as many are registered, one is restarted":   {3, 20 * time.Second, false},
		"as many are registered, and none will come": {3, 3 * time.Minute, true},
		"fewer are registered":                       {2, time.Second, true},
		"nobody can tell how many are":               {0, 20 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.create(aTopic("grown"))
			e.turn()
			three := e.kafka.Topics()["grown"]
			three.Replicas = 3
			e.kafka.SetTopic("grown", three)
			e.kafka.Brokers = test.brokers
			e.kafka.TopicErrs[fake.CreateTopics+" new"] = fake.ErrInvalidFactor
			e.kafka.TopicErrs[fake.CreatePartitions+" grown"] = fake.ErrInvalidFactor
			e.create(aTopic("new", replicas(3)))
			e.change("grown", partitions(2))
			e.turn()
			for range int(test.refused / time.Second) {
				e.clock.Step(time.Second)
				e.turn()
			}
			for _, kt := range []string{"new", "grown"} {
				if test.wrong {
					if message := e.wantReason(kt, kafkav1.ReasonKafkaError); !strings.Contains(message, "INVALID_REPLICATION_FACTOR (38)") {
						t.Errorf("message %q does not carry Kafka's code", message)
					}
				} else if c := mainCondition(e.get(kt)); c.Status == "False" {
					t.Errorf("%s was reported wrong: %+v", kt, c)
				}
			}
			if n := count(e.kafka.Calls(), fake.DescribeCluster); n > 10 {
				t.Errorf("the brokers were counted %d times, want at most once a try", n)
			}
			e.kafka.Reset()
			e.clock.Step(time.Minute)
			e.resync()
			e.wantReady("new", "grown")
		})
	}
}
