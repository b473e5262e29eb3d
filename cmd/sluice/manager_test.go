package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/options"
)

func TestCacheForgetsTheLastAppliedCopyAlone(t *testing.T) {
	topic := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
		Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "other": "kept"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "sluice"}},
	}}
	out, err := dropLastApplied(topic)
	if err != nil {
		t.Fatal(err)
	}
	got := out.(*apiv1.KafkaTopic)
	if len(got.Annotations) != 1 || got.Annotations["other"] != "kept" || len(got.ManagedFields) != 1 {
		t.Fatalf("left %v and %v", got.Annotations, got.ManagedFields)
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "a/b", Obj: topic}
	if out, err := dropLastApplied(tombstone); err != nil || out != any(tombstone) {
		t.Fatalf("a tombstone became %v, %v", out, err)
	}
}

func TestBothModesKeepTopicsSmall(t *testing.T) {
	for mode, transform := range map[string]cache.TransformFunc{
		"operator":   managerOptions(options.Default(), nil, logr.Discard()).Cache.DefaultTransform,
		"topic-only": topicOnlyManager(options.DefaultTopicOnly(), logr.Discard()).Cache.DefaultTransform,
	} {
		out, err := transform(&apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{
			Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: "{}"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}},
		}})
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if got := out.(*apiv1.KafkaTopic); len(got.Annotations)+len(got.ManagedFields) > 0 {
			t.Errorf("%s: kept %v and %v", mode, got.Annotations, got.ManagedFields)
		}
	}
}

// stagedCache gives its answers in turn.
type stagedCache struct{ answers []bool }

func (c *stagedCache) WaitForCacheSync(context.Context) bool {
	answer := c.answers[0]
	c.answers = c.answers[1:]
	return answer
}

func TestReadinessStaysOnceTheCachesWereSynced(t *testing.T) {
	check := cachesSynced(&stagedCache{answers: []bool{false, true, false}})
	req := httptest.NewRequest("GET", "/readyz", nil)
	for i, want := range []error{errNotSynced, nil, nil} {
		if err := check(req); !errors.Is(err, want) {
			t.Fatalf("probe %d: %v, want %v", i, err, want)
		}
	}
}
