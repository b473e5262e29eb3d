package topic

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/openapi"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/batch"
	"github.com/sluice-kafka/sluice/internal/topicplan"
)

// Names of the status fields that Strimzi's CRD does not have. It has replicasChange
// in every release that serves the version v1: the field is from 0.41, v1 from 0.49
// (Strimzi's CHANGELOG).
const (
	fieldPartitions = "partitions"
	fieldReplicas   = "replicas"
)

const (
	// schemaInterval is how often the schema is read without a doubt: a CRD may
	// have been replaced by one that keeps more.
	schemaInterval = 10 * time.Minute
	// schemaLimit bounds one reading.
	schemaLimit = 30 * time.Second
)

// documents lists the API server's OpenAPI v3 documents by path. Every
// authenticated account may read them, by the role system:discovery.
type documents interface {
	PathsWithContext(ctx context.Context) (map[string]openapi.GroupVersionWithContext, error)
}

// statusSchema follows which fields of a topic's status the API server keeps. It drops
// what the schema of the CRD does not name, and the CRD may be Strimzi's: a field
// that never sticks would be written again at every look.
type statusSchema struct {
	documents documents
	clock     clock.Clock
	doubts    chan struct{}
	// location of the document that was read last; it holds a hash of its
	// content. Used by one goroutine at a time.
	location string
	failures int

	mu     sync.Mutex
	fields topicplan.Kept
}

func newStatusSchema(d documents, c clock.Clock) *statusSchema {
	return &statusSchema{documents: d, clock: c, doubts: make(chan struct{}, 1)}
}

func (s *statusSchema) kept() topicplan.Kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fields
}

// doubt lets the schema be read again soon, since an answer lacked what was
// written.
func (s *statusSchema) doubt() {
	select {
	case s.doubts <- struct{}{}:
	default: // it is going to be read
	}
}

// follow reads the schema again after pause, then from time to time and when in
// doubt, until ctx is done.
func (s *statusSchema) follow(ctx context.Context, pause time.Duration) {
	for {
		timer := s.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.doubts:
			timer.Stop()
		case <-timer.C():
		}
		pause = s.look(ctx)
	}
}

// look reads the schema and returns how long to wait before the next time. What
// was known stays where it cannot be read.
func (s *statusSchema) look(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, schemaLimit)
	defer cancel()
	log := ctrl.LoggerFrom(ctx).WithValues("controller", "topic")
	fields, fresh, err := s.read(ctx)
	if err != nil {
		pause := batch.Backoff(s.failures)
		s.failures++
		log.Error(err, "Failed to read the schema of KafkaTopics: trying again, and writing no more of the status than all schemas have until it is known",
			"pause", pause.String())
		return pause
	}
	s.failures = 0
	if fresh {
		log.Info("Read the schema of KafkaTopics", "keepsStatusPartitions", fields.Partitions, "keepsStatusReplicas", fields.Replicas)
		s.mu.Lock()
		s.fields = fields
		s.mu.Unlock()
	}
	return schemaInterval
}

// read answers false if the document is the one that was read before.
func (s *statusSchema) read(ctx context.Context) (topicplan.Kept, bool, error) {
	paths, err := s.documents.PathsWithContext(ctx)
	if err != nil {
		return topicplan.Kept{}, false, fmt.Errorf("listing the API server's OpenAPI documents: %w", err)
	}
	path := "apis/" + kafkav1.GroupVersion.String()
	document, ok := paths[path]
	if !ok {
		return topicplan.Kept{}, false, fmt.Errorf("the API server has no OpenAPI document for %s: are the CRDs installed?", path)
	}
	location := document.ServerRelativeURL()
	if location == s.location {
		return topicplan.Kept{}, false, nil
	}
	raw, err := document.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return topicplan.Kept{}, false, fmt.Errorf("reading the API server's OpenAPI document for %s: %w", path, err)
	}
	kept, err := keptBy(raw)
	if err != nil {
		return topicplan.Kept{}, false, fmt.Errorf("reading the API server's OpenAPI document for %s: %w", path, err)
	}
	s.location = location
	return kept, true, nil
}

// node is as much of a schema as decides whether a field is kept: see "Field
// pruning" in Kubernetes' documentation of CustomResourceDefinitions.
type node struct {
	Type       string          `json:"type"`
	Properties map[string]node `json:"properties"`
	Preserve   bool            `json:"x-kubernetes-preserve-unknown-fields"`
	Kinds      []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// keptBy finds the schema of KafkaTopics in an OpenAPI document.
func keptBy(document []byte) (topicplan.Kept, error) {
	var d struct {
		Components struct {
			Schemas map[string]node `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return topicplan.Kept{}, fmt.Errorf("decoding it: %w", err)
	}
	for _, n := range d.Components.Schemas {
		if !n.is(kafkav1.KindKafkaTopic) {
			continue
		}
		status, ok := n.Properties["status"]
		if !ok {
			status = node{Preserve: n.Preserve}
		}
		return topicplan.Kept{Partitions: status.keeps(fieldPartitions), Replicas: status.keeps(fieldReplicas)}, nil
	}
	return topicplan.Kept{}, fmt.Errorf("it does not describe the kind %s", kafkav1.KindKafkaTopic)
}

func (n node) is(kind string) bool {
	for _, k := range n.Kinds {
		if k.Group == kafkav1.GroupVersion.Group && k.Version == kafkav1.GroupVersion.Version && k.Kind == kind {
			return true
		}
	}
	return false
}

// keeps tells whether a whole number survives in a field. One of another type
// would have the whole write refused.
func (n node) keeps(field string) bool {
	if f, ok := n.Properties[field]; ok {
		return f.Type == "integer" || f.Type == "number" || f.Type == "" && f.Preserve
	}
	return n.Preserve
}
