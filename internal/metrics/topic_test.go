package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

type queue struct{ length int }

func (q *queue) Len() int                 { return q.length }
func (q *queue) OldestAge() time.Duration { return 1500 * time.Millisecond }

func TestTopicMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m := NewTopic(reg)
	q := &queue{}
	m.WatchQueue("west", q)
	m.WatchQueue("east", q)
	m.WatchTopics("east", func() map[string]int { return map[string]int{"paused": 1, "ready": 4} })
	m.Batch("east", 7, 1500, time.Second)
	m.Reconciled("east", Reconciliations{Successful: 5, Failed: 2, Retried: 3, Locked: 1})
	m.AdminObserver("east")("Metadata", time.Second, nil)
	m.AdminCall("east", "Metadata", time.Second, errors.New("cut"))
	m.KubernetesWrite("east", WriteStatus, time.Second, nil)
	m.Reachable("east", true)
	m.Reachable("east", false)
	q.length = 3 // read when metrics are
	want := `
# HELP sluice_topic_batches_total Batches of topics that were worked on.
# TYPE sluice_topic_batches_total counter
sluice_topic_batches_total{cluster="east"} 1
# HELP sluice_topic_cluster_reachable 1 if the last call to the Kafka cluster was answered, else 0.
# TYPE sluice_topic_cluster_reachable gauge
sluice_topic_cluster_reachable{cluster="east"} 0
# HELP sluice_topic_oldest_key_age_seconds How long the topic that has waited longest has waited.
# TYPE sluice_topic_oldest_key_age_seconds gauge
sluice_topic_oldest_key_age_seconds{cluster="east"} 1.5
sluice_topic_oldest_key_age_seconds{cluster="west"} 1.5
# HELP sluice_topic_queue_length Topics that wait to be worked on, those with a delay among them.
# TYPE sluice_topic_queue_length gauge
sluice_topic_queue_length{cluster="east"} 3
sluice_topic_queue_length{cluster="west"} 3
# HELP sluice_topic_reconciliations_locked_total Topics that were set aside because the same topic was being worked on.
# TYPE sluice_topic_reconciliations_locked_total counter
sluice_topic_reconciliations_locked_total{cluster="east"} 1
# HELP sluice_topic_reconciliations_total Reconciliations of single topics, by result (successful, failed; retried where it is tried again soon); their sum is the total.
# TYPE sluice_topic_reconciliations_total counter
sluice_topic_reconciliations_total{cluster="east",result="failed"} 2
sluice_topic_reconciliations_total{cluster="east",result="retried"} 3
sluice_topic_reconciliations_total{cluster="east",result="successful"} 5
# HELP sluice_topic_resources KafkaTopics of the cluster, by state (deleting, unmanaged, paused, pending, ready, not_ready).
# TYPE sluice_topic_resources gauge
sluice_topic_resources{cluster="east",state="paused"} 1
sluice_topic_resources{cluster="east",state="ready"} 4
`
	err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sluice_topic_batches_total", "sluice_topic_cluster_reachable",
		"sluice_topic_oldest_key_age_seconds", "sluice_topic_queue_length",
		"sluice_topic_reconciliations_locked_total", "sluice_topic_reconciliations_total", "sluice_topic_resources")
	if err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(reg, "sluice_topic_admin_call_duration_seconds"); err != nil || n != 2 {
		t.Errorf("%d series of Admin calls, want one a result (%v)", n, err)
	}
	for _, name := range []string{"sluice_topic_batch_size", "sluice_topic_batch_queue_length", "sluice_topic_batch_duration_seconds"} {
		if n, err := testutil.GatherAndCount(reg, name); err != nil || n != 1 {
			t.Errorf("%d series of %s, want one (%v)", n, name, err)
		}
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}
