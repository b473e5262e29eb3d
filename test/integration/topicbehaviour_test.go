package integration

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/policy"
)

// everyVersion tells whether what takes long is to be run as well.
func everyVersion() bool { return os.Getenv("SLUICE_KAFKA_VERSIONS") == "all" }

// topicVersions are the versions of Kafka that topics are kept on: the default one,
// and all with SLUICE_KAFKA_VERSIONS=all.
func topicVersions() []string {
	if everyVersion() {
		return testkafka.Versions()
	}
	return []string{testkafka.DefaultVersion}
}

// TestTopicBehaviour tries what befalls topics beside their own life, on one API
// server and one Kafka for each version, in this order.
func TestTopicBehaviour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		run    func(*topicEnv)
		labels map[string]string
		// long is what takes minutes: it runs with SLUICE_KAFKA_VERSIONS=all alone.
		long bool
	}{
		{name: "strangers", run: topicsThatStrangersTouch},
		{name: "states", run: topicsThatAreLeftAlone},
		{name: "policy", run: topicsUnderAPolicy},
		{name: "quota", run: topicsUnderAQuota},
		{name: "haste", run: topicsInHaste},
		{name: "restart", run: topicsThroughARestart},
		{name: "undeletable", run: topicsThatKafkaKeeps},
		{name: "thousands", run: thousandsOfTopics, long: true},
		{name: "options", run: topicsWithManyOptions},
		// It installs the chart anew, with a table for itself.
		{name: "permissions", run: topicsWithoutARight},
		// It leaves much in the broker.
		{name: "partitions", run: topicsWithManyPartitions},
	}
	var namespaces []any
	for _, test := range tests {
		namespaces = append(namespaces, test.name)
	}
	for _, version := range topicVersions() {
		t.Run(version, func(t *testing.T) {
			kafka := testkafka.Options{
				Version: version, Heap: "512m", Authorize: true,
				Listeners: []testkafka.Listener{{Name: loginListener, Mechanisms: []string{"PLAIN"}}},
				Users:     map[string]string{topicUser: topicPassword},
			}
			if policy.Available() == nil {
				classes := t.TempDir()
				if err := policy.Compile(t.Context(), version, classes); err != nil {
					t.Fatal(err)
				}
				kafka.ClassPath = []string{classes}
				kafka.Config = map[string]string{"create.topic.policy.class.name": policy.Class}
			}
			in, cluster := topicPartsOn(t, kafka, harness.ControlPlaneOptions{}, namespaces...)
			for _, test := range tests {
				if test.long && !everyVersion() {
					t.Logf("%s: left to `make test-all`", test.name)
					continue
				}
				t.Run(test.name, func(t *testing.T) { test.run(newTopicEnv(t, in, cluster, test.name, test.labels)) })
			}
		})
	}
}

// oneBatch makes what is applied within ten seconds a single batch, or as soon as it
// is full.
const oneBatch = "--max-batch-linger=10s"

// table writes a table of clusters with this one alone, in the namespace of the test.
func (e *topicEnv) table(bootstrap ...string) string {
	e.Helper()
	raw, err := yaml.Marshal([]options.ExternalCluster{{Name: topicCluster, Namespaces: []string{e.namespace}, BootstrapServers: bootstrap}})
	if err != nil {
		e.Fatal(err)
	}
	path := filepath.Join(e.TempDir(), "clusters.yaml")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		e.Fatal(err)
	}
	return "--external-clusters=" + path
}

// until waits until a check passes, and fails the test with what it last said.
func (e *topicEnv) until(check func(context.Context) error) {
	e.Helper()
	var last error
	err := wait.PollUntilContextTimeout(e.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		e.Fatalf("not reached: %v (%v)", last, err)
	}
}

// create applies the i-th resource.
func (e *topicEnv) create(i int, spec apiv1.KafkaTopicSpec) {
	e.Helper()
	if err := e.kube.Create(e.Context(), e.topic(i, spec)); err != nil {
		e.Fatal(err)
	}
}

// change patches the i-th resource.
func (e *topicEnv) change(i int, patch string) {
	e.Helper()
	if err := e.patch(e.Context(), i, patch); err != nil {
		e.Fatal(err)
	}
}

func (e *topicEnv) annotate(i int, annotation, value string) {
	e.Helper()
	e.change(i, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, annotation, value))
}

func (e *topicEnv) delete(is ...int) {
	e.Helper()
	for _, i := range is {
		if err := e.kube.Delete(e.Context(), e.topic(i, apiv1.KafkaTopicSpec{})); err != nil {
			e.Fatal(err)
		}
	}
}

// get is the i-th resource, nil if there is none.
func (e *topicEnv) get(i int) *apiv1.KafkaTopic {
	e.Helper()
	name := e.topic(i, apiv1.KafkaTopicSpec{}).Name
	list := e.list()
	at := slices.IndexFunc(list, func(kt apiv1.KafkaTopic) bool { return kt.Name == name })
	if at < 0 {
		return nil
	}
	return &list[at]
}

// ready fails unless the i-th resource is, with the topic that Kafka has.
func (e *topicEnv) ready(i int) error {
	e.Helper()
	kt := e.get(i)
	if kt == nil || !isReady(kt) {
		return fmt.Errorf("topic %d is not ready: %+v", i, kt)
	}
	if id := e.id(i); id == "" || kt.Status.TopicID != id {
		return fmt.Errorf("topic %d has the ID %q in its status and %q in Kafka", i, kt.Status.TopicID, id)
	}
	return nil
}

// says fails unless the main condition of the i-th resource has this type, or is not
// Ready for this reason.
func (e *topicEnv) says(i int, typeOrReason string) error {
	e.Helper()
	kt := e.get(i)
	if kt == nil || kt.Status.ObservedGeneration != kt.Generation || len(kt.Status.Conditions) == 0 {
		return fmt.Errorf("topic %d says nothing yet: %+v", i, kt)
	}
	c := kt.Status.Conditions[0]
	if c.Type != typeOrReason && (c.Status != "False" || c.Reason != typeOrReason) {
		return fmt.Errorf("topic %d says %+v, want %s", i, c, typeOrReason)
	}
	return nil
}

// id is that of the i-th topic in Kafka in the form of a status, empty if there is
// none.
func (e *topicEnv) id(i int) string {
	e.Helper()
	detail, ok := e.details()[e.inKafka(i)]
	if !ok {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(detail.ID[:])
}

// partitions fails unless the i-th topic has as many in Kafka.
func (e *topicEnv) partitions(i, want int) error {
	e.Helper()
	if got := len(e.details()[e.inKafka(i)].Partitions); got != want {
		return fmt.Errorf("topic %d has %d partitions, want %d", i, got, want)
	}
	return nil
}

// set fails unless exactly these options are set on the i-th topic in Kafka.
func (e *topicEnv) set(ctx context.Context, i int, want map[string]string) error {
	configs, err := e.admin.DescribeTopicConfigs(ctx, e.inKafka(i))
	if err != nil {
		return err
	}
	config, err := configs.On(e.inKafka(i), nil)
	if err != nil {
		return err
	}
	got := map[string]string{}
	for _, c := range config.Configs {
		if c.Source.String() == "DYNAMIC_TOPIC_CONFIG" {
			got[c.Key] = c.MaybeValue()
		}
	}
	if !maps.Equal(want, got) {
		return fmt.Errorf("topic %d: options (-want +got):\n%s", i, cmp.Diff(want, got))
	}
	return nil
}

// alter sets options of the i-th topic as somebody else would.
func (e *topicEnv) alter(i int, options map[string]string) {
	e.Helper()
	var alterations []kadm.AlterConfig
	for name, value := range options {
		alterations = append(alterations, kadm.AlterConfig{Name: name, Value: &value})
	}
	got, err := e.admin.AlterTopicConfigs(e.Context(), alterations, e.inKafka(i))
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range got {
		if r.Err != nil {
			e.Fatal(r.Err)
		}
	}
}

// batches waits until as many more were worked on.
func (e *topicEnv) batches(n float64) {
	e.Helper()
	e.waitMetric(metricBatches, e.metrics().sum(metricBatches)+n)
}

// calls counts the Admin calls of an API since an earlier reading.
func (e *topicEnv) callsOf(api string, before reading) float64 {
	e.Helper()
	return e.settled().sum(metricAdminCalls, "api="+api) - before.sum(metricAdminCalls, "api="+api)
}

// told waits until an Event on the cluster, in the namespace of the test, has this
// reason and says this.
func (e *topicEnv) told(reason, part string) {
	e.Helper()
	e.until(func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := e.kube.List(ctx, &events, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason == reason && event.Regarding.Name == topicCluster && strings.Contains(event.Note, part) {
				return nil
			}
		}
		return fmt.Errorf("no Event with the reason %s says %q: %+v", reason, part, events.Items)
	})
}
