package offline

import (
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// judge says everything that there is to say of one manifest. Old are the
// objects of which the manifests are updates.
func judge(m *manifest, s *set, old *set, opts validation.Options) []Message {
	var messages []Message
	for _, f := range m.faults {
		messages = append(messages, m.message(f))
	}
	if m.object == nil {
		return messages
	}
	l := &lookup{set: s, from: m}
	was, note := before(m, old)
	if note != "" {
		messages = append(messages, m.note(note))
	}
	result := l.judge(m.object, was, opts)
	for _, f := range slices.Concat(result.Refusals, result.Warnings) {
		messages = append(messages, m.message(f))
	}
	for _, text := range l.notes() {
		messages = append(messages, m.note(text))
	}
	return messages
}

// judge gathers the facts and asks the rules, as the webhook does.
func (l *lookup) judge(object, old metav1.Object, opts validation.Options) validation.Result {
	switch o := object.(type) {
	case *apiv1.Kafka:
		was, _ := old.(*apiv1.Kafka)
		return validation.Kafka(o, was, l.kafkaFacts(o), opts)
	case *apiv1.KafkaNodePool:
		was, _ := old.(*apiv1.KafkaNodePool)
		return validation.KafkaNodePool(o, was, l.poolFacts(o), opts)
	case *apiv1.KafkaTopic:
		was, _ := old.(*apiv1.KafkaTopic)
		return validation.KafkaTopic(o, was, l.topicFacts(o), opts)
	case *apiv1.KafkaConnect:
		was, _ := old.(*apiv1.KafkaConnect)
		return validation.KafkaConnect(o, was, opts)
	case *apiv1.KafkaMirrorMaker2:
		was, _ := old.(*apiv1.KafkaMirrorMaker2)
		return validation.KafkaMirrorMaker2(o, was, opts)
	}
	return validation.Result{}
}

// before returns the object that a manifest is an update of; nil where it would
// be created. Of alternatives it is the one whose file has the same name.
func before(m *manifest, old *set) (object metav1.Object, note string) {
	if old == nil {
		return nil, ""
	}
	candidates := old.byKey[m.key]
	if len(candidates) > 1 {
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(c *manifest) bool { return !sameTail(c.file, m.file) })
	}
	switch {
	case len(candidates) == 1 && candidates[0].object != nil:
		keepObserved(m.object, candidates[0].object)
		return candidates[0].object, ""
	case len(old.byKey[m.key]) > 0:
		return nil, fmt.Sprintf("which of the %d objects of this name it updates is not settled, so it was judged as a new one", len(old.byKey[m.key]))
	}
	return nil, ""
}

// sameTail tells whether two files have the same name in folders of the same
// name, whatever is above these.
func sameTail(a, b string) bool {
	tail := func(s string) string {
		return path.Join(path.Base(path.Dir(s)), path.Base(s))
	}
	return tail(slashed(a)) == tail(slashed(b))
}

func slashed(s string) string { return strings.ReplaceAll(s, "\\", "/") }

// keepObserved gives an update the status and the generation of what it updates:
// the API server takes neither from the user.
func keepObserved(object, old metav1.Object) {
	object.SetGeneration(old.GetGeneration())
	switch o := object.(type) {
	case *apiv1.Kafka:
		o.Status = old.(*apiv1.Kafka).Status
	case *apiv1.KafkaNodePool:
		o.Status = old.(*apiv1.KafkaNodePool).Status
	case *apiv1.KafkaTopic:
		o.Status = old.(*apiv1.KafkaTopic).Status
	case *apiv1.KafkaRebalance:
		o.Status = old.(*apiv1.KafkaRebalance).Status
	case *apiv1.KafkaConnect:
		o.Status = old.(*apiv1.KafkaConnect).Status
	case *apiv1.KafkaMirrorMaker2:
		o.Status = old.(*apiv1.KafkaMirrorMaker2).Status
	}
}

func (m *manifest) message(f validation.Finding) Message {
	severity := Warning
	if f.Severity == validation.Refuse {
		severity = Error
	}
	at := f.Path.String()
	return Message{
		File: m.file, Line: m.doc.lineOf(m.prefix, at), Severity: severity,
		Kind: m.kind, Namespace: m.namespace, Name: m.name,
		Rule: f.Rule, Path: at, Text: f.Text(),
	}
}

func (m *manifest) note(text string) Message {
	return Message{
		File: m.file, Line: m.doc.lineOf(m.prefix, ""), Severity: Note,
		Kind: m.kind, Namespace: m.namespace, Name: m.name, Text: text,
	}
}

func (m *manifest) asObject() Object {
	return Object{File: m.file, Line: m.doc.lineOf(m.prefix, ""), Kind: m.kind, Namespace: m.namespace, Name: m.name}
}
