package offline

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// judge says everything that there is to say of one manifest; left is what the
// rules could not know.
func judge(m *manifest, s *set, opts validation.Options) (messages []Message, left *lookup) {
	l := &lookup{set: s, from: m}
	for _, f := range m.faults {
		messages = append(messages, m.message(f))
	}
	if m.object == nil {
		return messages, l
	}
	if m.oldUnsettled {
		messages = append(messages, m.note("it is not settled which of several objects of its name this one updates, so it was judged as a new one: "+
			"give the old one under the same file name"))
	}
	result := l.judge(m.object, m.old, opts)
	for _, f := range slices.Concat(result.Refusals, result.Warnings) {
		messages = append(messages, m.message(f))
	}
	return messages, l
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
		return validation.KafkaTopic(o, was, l.topicFacts(o, was), opts)
	case *apiv1.KafkaRebalance:
		was, _ := old.(*apiv1.KafkaRebalance)
		return validation.KafkaRebalance(o, was, l.rebalanceFacts(o), opts)
	case *apiv1.KafkaConnect:
		was, _ := old.(*apiv1.KafkaConnect)
		return validation.KafkaConnect(o, was, opts)
	case *apiv1.KafkaMirrorMaker2:
		was, _ := old.(*apiv1.KafkaMirrorMaker2)
		return validation.KafkaMirrorMaker2(o, was, opts)
	}
	return validation.Result{}
}

// pair gives each manifest the object that it updates: one of the old files, or
// a live one where no old files are given. Of alternatives it is the one in the
// file of the same relative name.
func pair(manifests []*manifest, olds []content, live liveContent, haveOld bool) {
	byKey := map[key][]*manifest{}
	for _, c := range olds {
		for _, m := range c.manifests {
			byKey[m.key] = append(byKey[m.key], m)
		}
	}
	if !haveOld {
		for _, m := range live.manifests {
			byKey[m.key] = append(byKey[m.key], m)
		}
	}
	for _, m := range manifests {
		candidates := byKey[m.key]
		if len(candidates) > 1 {
			candidates = slices.DeleteFunc(slices.Clone(candidates), func(c *manifest) bool { return c.relative != m.relative })
		}
		switch {
		case m.object == nil:
		case len(candidates) == 1 && candidates[0].object != nil:
			m.old = candidates[0].object
			keepObserved(m.object, m.old)
		case len(candidates) != 1:
			m.oldUnsettled = len(byKey[m.key]) > 0
			forget(m.object)
		}
	}
}

// forget drops the status of a Kafka that would be created, as the API server
// does: an export of a whole cluster must not look as if its pools were new to a
// Kafka that runs. What a topic's file says of the topic counts, for it is what
// the author knew of it.
func forget(object metav1.Object) {
	if k, ok := object.(*apiv1.Kafka); ok {
		k.Status = apiv1.KafkaStatus{}
	}
}

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
		Rule: f.Rule, Path: at, Text: f.Text(), objectLine: m.line(),
	}
}

func (m *manifest) note(text string) Message {
	return Message{
		File: m.file, Line: m.line(), Severity: Note, Kind: m.kind, Namespace: m.namespace, Name: m.name,
		Text: text, objectLine: m.line(),
	}
}

func (m *manifest) asObject() Object {
	return Object{File: m.file, Line: m.line(), Kind: m.kind, Namespace: m.namespace, Name: m.name}
}

// line is that of the object's first field.
func (m *manifest) line() int {
	if m.prefix == "" {
		return m.doc.firstLine()
	}
	return m.doc.lineOf(m.prefix, "")
}
