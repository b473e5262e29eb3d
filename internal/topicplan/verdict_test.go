package topicplan

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kafkav1 "github.com/sluice-kafka/sluice/api/v1"
)

func claim(name string, edits ...func(*Claim)) Claim {
	c := Claim{Resource: types.NamespacedName{Namespace: "ns", Name: name}, Created: now}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

func TestManager(t *testing.T) {
	older := func(c *Claim) { c.Created = now.Add(-time.Hour) }
	recorded := func(c *Claim) { c.Recorded = true }
	ready := func(c *Claim) { c.Ready = true }
	deleting := func(c *Claim) { c.Deleting = true }
	for name, test := range map[string]struct {
		claims []Claim
		want   string
	}{
		"the oldest, though another is ready":                   {[]Claim{claim("a", ready, recorded), claim("b", older)}, "b"},
		"of the same age the one that was seen to manage":       {[]Claim{claim("a", ready), claim("b", recorded)}, "b"},
		"else the one that is ready":                            {[]Claim{claim("a"), claim("b", ready)}, "b"},
		"else the first by name":                                {[]Claim{claim("b"), claim("a")}, "a"},
		"never one that is being deleted while another stays":   {[]Claim{claim("a", older, recorded, ready, deleting), claim("b")}, "b"},
		"of those being deleted together the same as otherwise": {[]Claim{claim("a", deleting), claim("b", older, deleting)}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if got, ok := Manager(test.claims); !ok || got.Resource.Name != test.want {
					t.Errorf("manager: %s, want %s", got.Resource, test.want)
				}
				slices.Reverse(test.claims)
			}
		})
	}
	if _, ok := Manager(nil); ok {
		t.Error("nobody claims, and yet there is a manager")
	}
}

func TestJudge(t *testing.T) {
	deleted := func(kt *kafkav1.KafkaTopic) { kt.DeletionTimestamp = &metav1.Time{Time: now} }
	finalized := func(kt *kafkav1.KafkaTopic) { kt.Finalizers = []string{"other", kafkav1.FinalizerTopic} }
	annotated := func(name, value string) func(*kafkav1.KafkaTopic) {
		return func(kt *kafkav1.KafkaTopic) { kt.Annotations = map[string]string{name: value} }
	}
	unmanaged, paused := annotated(kafkav1.AnnotationManaged, "false"), annotated(kafkav1.AnnotationPauseReconciliation, "true")
	managing := func(kt *kafkav1.KafkaTopic) { kt.Status.TopicName = "a" }
	finalizedBy := func(manager string) func(*kafkav1.KafkaTopic) {
		return func(kt *kafkav1.KafkaTopic) {
			finalized(kt)
			kt.ManagedFields = []metav1.ManagedFieldsEntry{
				{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{".":{},"v:\"strimzi.io/topic-operator\"":{}}}}`)},
				{Manager: "sluice", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
			}
		}
	}
	renamed := func(kt *kafkav1.KafkaTopic) { kt.Status.TopicName = "before" }
	mine, others := []Claim{claim("a")}, []Claim{claim("a", func(c *Claim) { c.Created = now.Add(time.Hour) }), claim("b")}
	for name, test := range map[string]struct {
		edits      []func(*kafkav1.KafkaTopic)
		unselected bool
		gone       bool
		claims     []Claim
		want       Action
		wantReason string
	}{
		"one that manages its topic is reconciled":        {claims: mine, want: Reconcile},
		"one that is not selected is released":            {unselected: true, want: Release},
		"one that is deleted deletes its topic":           {edits: []func(*kafkav1.KafkaTopic){managing, deleted, finalized}, claims: mine, want: Delete},
		"one that is deleted though paused deletes it":    {edits: []func(*kafkav1.KafkaTopic){managing, paused, deleted, finalized}, claims: mine, want: Delete},
		"one whose finalizer is ours deletes its topic":   {edits: []func(*kafkav1.KafkaTopic){deleted, finalizedBy("sluice")}, claims: mine, want: Delete},
		"one that was seen to manage deletes its topic":   {edits: []func(*kafkav1.KafkaTopic){deleted, finalizedBy("kubectl")}, claims: []Claim{claim("a", func(c *Claim) { c.Recorded = true })}, want: Delete},
		"one that never managed its topic is released":    {edits: []func(*kafkav1.KafkaTopic){deleted, finalizedBy("kubectl")}, claims: mine, want: Release},
		"nor does that another did help it":               {edits: []func(*kafkav1.KafkaTopic){deleted, finalizedBy("kubectl")}, claims: []Claim{claim("a"), claim("b", func(c *Claim) { c.Recorded, c.Deleting, c.Created = true, true, now.Add(time.Hour) })}, want: Release},
		"one that is deleted though renamed deletes it":   {edits: []func(*kafkav1.KafkaTopic){renamed, deleted, finalized}, claims: mine, want: Delete},
		"one that another manages is only released":       {edits: []func(*kafkav1.KafkaTopic){deleted, finalized}, claims: others, want: Release},
		"one that is deleted and unmanaged is released":   {edits: []func(*kafkav1.KafkaTopic){unmanaged, deleted, finalized}, want: Release},
		"one whose topic is retained is released":         {edits: []func(*kafkav1.KafkaTopic){annotated(kafkav1.AnnotationDeletionPolicy, "retain"), deleted, finalized}, claims: mine, want: Release},
		"one that is deleted without our finalizer rests": {edits: []func(*kafkav1.KafkaTopic){deleted}, claims: mine, want: Nothing},
		"of two deleted together each may delete it":      {edits: []func(*kafkav1.KafkaTopic){managing, deleted, finalized}, claims: []Claim{claim("a", func(c *Claim) { c.Deleting, c.Created = true, now.Add(time.Hour) }), claim("b", func(c *Claim) { c.Deleting = true })}, want: Delete},
		"one that is gone deletes its topic":              {edits: []func(*kafkav1.KafkaTopic){managing}, gone: true, want: Delete},
		"one that is gone and was seen to manage as well": {gone: true, claims: []Claim{claim("a", func(c *Claim) { c.Recorded, c.Deleting = true, true })}, want: Delete},
		"one that is gone and never managed leaves it":    {edits: []func(*kafkav1.KafkaTopic){finalizedBy("kubectl")}, gone: true, want: Release},
		"one that is gone and was unmanaged leaves it":    {edits: []func(*kafkav1.KafkaTopic){managing, unmanaged}, gone: true, want: Release},
		"one that is gone and retains it leaves it":       {edits: []func(*kafkav1.KafkaTopic){managing, annotated(kafkav1.AnnotationDeletionPolicy, "retain")}, gone: true, want: Release},
		"one that is gone though paused deletes it":       {edits: []func(*kafkav1.KafkaTopic){managing, paused}, gone: true, want: Delete},
		"one that is gone leaves it to whoever claims it": {edits: []func(*kafkav1.KafkaTopic){managing}, gone: true, claims: []Claim{claim("b")}, want: Release},
		"but not to one that is being deleted as well":    {edits: []func(*kafkav1.KafkaTopic){managing}, gone: true, claims: []Claim{claim("b", func(c *Claim) { c.Deleting = true })}, want: Delete},
		"one that is unmanaged says so":                   {edits: []func(*kafkav1.KafkaTopic){unmanaged}, claims: others, want: Unmanaged},
		"one that is paused is not told of a conflict":    {edits: []func(*kafkav1.KafkaTopic){paused}, claims: others, want: Pause},
		"one that was renamed is refused":                 {edits: []func(*kafkav1.KafkaTopic){renamed}, claims: mine, want: Refuse, wantReason: kafkav1.ReasonNotSupported},
		"one whose name another manages is refused":       {claims: others, want: Refuse, wantReason: kafkav1.ReasonResourceConflict},
	} {
		t.Run(name, func(t *testing.T) {
			kt := &kafkav1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
			for _, edit := range test.edits {
				edit(kt)
			}
			got := Judge(Subject{Topic: kt, Selected: !test.unselected, Gone: test.gone, Claims: test.claims})
			if got.Action != test.want || got.Problem.Reason != test.wantReason || got.Reason == "" {
				t.Errorf("verdict: %+v, want action %d", got, test.want)
			}
		})
	}
}
