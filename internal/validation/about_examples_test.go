package validation_test

import (
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// beside are the objects that stand beside the judged one.
type beside struct {
	kafka  *apiv1.Kafka
	pools  []apiv1.KafkaNodePool
	topics []apiv1.KafkaTopic
	seen   *facts.Facts
}

var documents = regexp.MustCompile(`(?m)^---\n`)

func besideOf(t *testing.T, text string) beside {
	t.Helper()
	var b beside
	for _, doc := range documents.Split(text, -1) {
		var meta metav1.TypeMeta
		decode(t, []byte(doc), &meta)
		switch meta.Kind {
		case "":
		case apiv1.KindKafka:
			b.kafka = completed[apiv1.Kafka](t, doc)
		case apiv1.KindKafkaNodePool:
			b.pools = append(b.pools, *completed[apiv1.KafkaNodePool](t, doc))
		case apiv1.KindKafkaTopic:
			b.topics = append(b.topics, *completed[apiv1.KafkaTopic](t, doc))
		case "ConfigMap":
			var cm corev1.ConfigMap
			decode(t, []byte(doc), &cm)
			seen, err := facts.Decode(&cm)
			if err != nil || cm.Name != facts.Name("my-cluster") {
				t.Fatalf("ConfigMap %s: %v", cm.Name, err)
			}
			b.seen = &seen
		default:
			t.Fatalf("nothing is known of kind %s", meta.Kind)
		}
	}
	return b
}

func completed[T any, P interface {
	*T
	metav1.Object
}](t *testing.T, doc string,
) *T {
	t.Helper()
	if doc == "" {
		return nil
	}
	o := P(new(T))
	decode(t, []byte(doc), o)
	o.SetNamespace("kafka")
	if o.GetName() == "" {
		o.SetName("orders")
	}
	return o
}

// labelled belongs to the cluster of the examples, unless it is about just that.
func labelled[T metav1.Object](o T, rule string) T {
	if o.GetLabels() == nil && !slices.Contains([]string{"topic-cluster-label-missing", "pool-cluster-label-missing"}, rule) {
		o.SetLabels(map[string]string{apiv1.LabelCluster: "my-cluster"})
	}
	return o
}

// TestExamplesOfTheCatalogue holds the descriptions to be true.
func TestExamplesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, a := range validation.Catalogue() {
		t.Run(a.Rule, func(t *testing.T) {
			t.Parallel()
			bad, mended := judgeExample(t, a, a.Example), judgeExample(t, a, a.Mended)
			of := func(f validation.Finding) bool { return f.Rule == a.Rule }
			among := bad.Warnings
			if a.Severity == validation.Refuse && !a.Joining {
				among = bad.Refusals
			}
			if !slices.ContainsFunc(among, of) {
				t.Errorf("the example does not give the finding: %v", said(bad))
			}
			if slices.ContainsFunc(slices.Concat(mended.Refusals, mended.Warnings), of) {
				t.Errorf("the mend does not help: %v", said(mended))
			}
			if len(mended.Refusals) > 0 {
				t.Errorf("the mend is refused itself: %v", said(mended))
			}
		})
	}
}

func judgeExample(t *testing.T, a validation.About, doc string) validation.Result {
	t.Helper()
	var meta metav1.TypeMeta
	decode(t, []byte(doc), &meta)
	b := besideOf(t, a.Beside)
	opts := validation.Options{WithoutCertManager: a.WithoutCertManager}
	switch meta.Kind {
	case apiv1.KindKafka:
		obj, old := completed[apiv1.Kafka](t, doc), completed[apiv1.Kafka](t, a.Before)
		templates := map[string]bool{}
		for _, name := range validation.TemplatesOf(obj) {
			templates[name] = false
		}
		return validation.Kafka(obj, old, validation.KafkaFacts{Pools: b.pools, Seen: b.seen, Templates: templates}, opts)
	case apiv1.KindKafkaNodePool:
		obj, old := labelled(completed[apiv1.KafkaNodePool](t, doc), a.Rule), completed[apiv1.KafkaNodePool](t, a.Before)
		known := validation.PoolFacts{Kafka: b.kafka, Pools: b.pools, Seen: b.seen}
		if a.Deleted {
			return validation.KafkaNodePoolDeletion(obj, known)
		}
		if old != nil {
			labelled(old, a.Rule)
			obj.Status = old.Status
		}
		return validation.KafkaNodePool(obj, old, known, opts)
	case apiv1.KindKafkaTopic:
		obj, old := labelled(completed[apiv1.KafkaTopic](t, doc), a.Rule), completed[apiv1.KafkaTopic](t, a.Before)
		if old != nil {
			labelled(old, a.Rule)
			obj.Status, obj.Generation = old.Status, old.Generation
		}
		for i := range b.topics {
			labelled(&b.topics[i], a.Rule)
		}
		known := topicFacts(obj, b.topics)
		known.Kafka = b.kafka
		return validation.KafkaTopic(obj, old, known, opts)
	case apiv1.KindKafkaRebalance:
		return validation.KafkaRebalance(completed[apiv1.KafkaRebalance](t, doc), completed[apiv1.KafkaRebalance](t, a.Before),
			validation.RebalanceFacts{Pools: b.pools, Seen: b.seen}, opts)
	case apiv1.KindKafkaConnect:
		return validation.KafkaConnect(completed[apiv1.KafkaConnect](t, doc), completed[apiv1.KafkaConnect](t, a.Before), opts)
	case apiv1.KindKafkaMirrorMaker2:
		return validation.KafkaMirrorMaker2(completed[apiv1.KafkaMirrorMaker2](t, doc), completed[apiv1.KafkaMirrorMaker2](t, a.Before), opts)
	}
	t.Fatalf("no rules for kind %q", meta.Kind)
	return validation.Result{}
}
