package topic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/openapi"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/controllers/topic/fake"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// served plays an API server whose schema of the status names some optional
// fields: it publishes the schema and drops the other fields.
type served struct {
	fields []string
	// err, if set, fails each reading of the document.
	err   error
	reads int
}

func newServed(fields ...string) *served { return &served{fields: fields} }

func (s *served) PathsWithContext(context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	return map[string]openapi.GroupVersionWithContext{"apis/kafka.strimzi.io/v1": s}, nil
}

func (s *served) ServerRelativeURL() string {
	return fmt.Sprintf("/openapi/v3/apis/kafka.strimzi.io/v1?hash=%v", s.fields)
}

func (s *served) SchemaWithContext(context.Context, string) ([]byte, error) {
	s.reads++
	if s.err != nil {
		return nil, s.err
	}
	properties := map[string]any{"conditions": map[string]any{"type": "array"}}
	for _, f := range s.fields {
		properties[f] = map[string]any{"type": "integer"}
	}
	return json.Marshal(map[string]any{"components": map[string]any{"schemas": map[string]any{
		"io.strimzi.kafka.v1.KafkaTopicList": map[string]any{"type": "object"},
		"io.strimzi.kafka.v1.KafkaTopic": map[string]any{
			"x-kubernetes-group-version-kind": []any{map[string]any{"group": "kafka.strimzi.io", "version": "v1", "kind": "KafkaTopic"}},
			"properties":                      map[string]any{"status": map[string]any{"type": "object", "properties": properties}},
		},
	}}})
}

// prune drops from a written status what the schema does not name, as the API
// server does before it answers.
func (s *served) prune(ctx context.Context, c client.Client, kt *kafkav1.KafkaTopic) error {
	pruned := kt.DeepCopy()
	if !slices.Contains(s.fields, fieldPartitions) {
		pruned.Status.Partitions = 0
	}
	if !slices.Contains(s.fields, fieldReplicas) {
		pruned.Status.Replicas = 0
	}
	if pruned.Status.Partitions == kt.Status.Partitions && pruned.Status.Replicas == kt.Status.Replicas {
		return nil
	}
	if err := c.Status().Update(ctx, pruned); err != nil {
		return err
	}
	*kt = *pruned
	return nil
}

func TestAFieldThatTheSchemaLacksIsNeitherWrittenNorMissed(t *testing.T) {
	e := newEnv(t)
	e.served.fields = []string{"replicas"}
	e.restart()
	e.create(aTopic("orders", partitions(3), replicas(2)))
	e.turn()
	e.wantReady("orders")
	if s := e.get("orders").Status; s.Partitions != 0 || s.Replicas != 2 {
		t.Errorf("status: %+v, want the replicas and not the partitions", s)
	}
	e.takeWrites()
	e.wantCalls(e.resync(), fake.DescribeTopics, fake.DescribeConfigs)
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none", w)
	}
}

func TestASchemaThatCannotBeReadLeavesTheOptionalFieldsAsTheyAre(t *testing.T) {
	e := newEnv(t)
	e.create(aTopic("orders", partitions(3)))
	e.turn()
	e.served.err = errors.New("the API server is busy")
	e.restart()
	e.change("orders", partitions(4))
	e.takeWrites()
	e.turn()
	e.wantReady("orders")
	if got := e.get("orders").Status.Partitions; got != 3 {
		t.Errorf("partitions in the status: %d, want the 3 that was there", got)
	}
	// It is read again, and the status completed at the next look.
	e.served.err = nil
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); e.c.schema.follow(ctx, time.Second) }()
	await(t, "the next reading is waited for", e.clock.HasWaiters)
	e.clock.Step(time.Second)
	await(t, "the schema is known", func() bool { return e.c.schema.kept().Partitions })
	cancel()
	<-ended
	e.clock.Step(time.Hour)
	e.resync()
	if got := e.get("orders").Status.Partitions; got != 4 {
		t.Errorf("partitions in the status: %d, want 4", got)
	}
}

func TestAnAnswerThatLacksWhatWasWrittenHasTheSchemaReadAgain(t *testing.T) {
	e := newEnv(t)
	e.served.fields = nil // the CRD is replaced after the schema was read
	e.create(aTopic("orders", partitions(3)))
	e.turn()
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); e.c.schema.follow(ctx, time.Hour) }()
	await(t, "the schema is read again", func() bool { return e.c.schema.kept() == topicplan.Kept{} })
	cancel()
	<-ended
	e.takeWrites()
	e.resync()
	if w := e.takeWrites(); len(w) > 0 {
		t.Errorf("writes: %v, want none", w)
	}
}

func TestAnUnchangedSchemaIsNotDownloadedAgain(t *testing.T) {
	e := newEnv(t)
	before := e.served.reads
	if pause := e.c.schema.look(e.ctx); pause != schemaInterval {
		t.Errorf("next look after %s, want %s", pause, schemaInterval)
	}
	if e.served.reads != before {
		t.Error("the document was downloaded though its hash is the same")
	}
}

func TestReadingsThatFailAreTriedAgainEverMoreSlowly(t *testing.T) {
	e := newEnv(t)
	e.served.err, e.served.fields = errors.New("the API server is busy"), nil
	var pauses []time.Duration
	for range 3 {
		pauses = append(pauses, e.c.schema.look(e.ctx))
	}
	if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}; !slices.Equal(pauses, want) {
		t.Errorf("pauses: %v, want %v", pauses, want)
	}
	if want := (topicplan.Kept{Partitions: true, Replicas: true}); e.c.schema.kept() != want {
		t.Error("what was known is forgotten")
	}
}

func TestKeptFields(t *testing.T) {
	const kind = `"x-kubernetes-group-version-kind":[{"group":"kafka.strimzi.io","version":"v1","kind":"KafkaTopic"}]`
	both := topicplan.Kept{Partitions: true, Replicas: true}
	tests := map[string]struct {
		topic   string
		want    topicplan.Kept
		wantErr bool
	}{
		"named":                            {topic: `{` + kind + `,"properties":{"status":{"properties":{"partitions":{"type":"integer"},"replicas":{"type":"integer"}}}}}`, want: both},
		"one is not named":                 {topic: `{` + kind + `,"properties":{"status":{"properties":{"partitions":{"type":"integer"}}}}}`, want: topicplan.Kept{Partitions: true}},
		"unknown fields are preserved":     {topic: `{` + kind + `,"properties":{"status":{"x-kubernetes-preserve-unknown-fields":true}}}`, want: both},
		"the whole object is preserved":    {topic: `{` + kind + `,"x-kubernetes-preserve-unknown-fields":true}`, want: both},
		"preserved around but not within":  {topic: `{` + kind + `,"x-kubernetes-preserve-unknown-fields":true,"properties":{"status":{"type":"object"}}}`},
		"named with another type":          {topic: `{` + kind + `,"properties":{"status":{"x-kubernetes-preserve-unknown-fields":true,"properties":{"partitions":{"type":"string"}}}}}`, want: topicplan.Kept{Replicas: true}},
		"no status at all":                 {topic: `{` + kind + `}`},
		"another version of the kind only": {topic: `{"x-kubernetes-group-version-kind":[{"group":"kafka.strimzi.io","version":"v1beta2","kind":"KafkaTopic"}]}`, wantErr: true},
		"not a schema":                     {topic: `3`, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := keptBy([]byte(`{"components":{"schemas":{"a":{},"t":` + tc.topic + `}}}`))
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("got %+v and the error %v, want %+v, an error: %v", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
