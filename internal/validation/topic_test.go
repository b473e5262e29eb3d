package validation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/topicplan"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func TestKafkaTopic(t *testing.T) {
	t.Parallel()
	deleting := func(t *apiv1.KafkaTopic) { t.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	noLabel := func(t *apiv1.KafkaTopic) { t.Labels = nil }
	otherCluster := func(t *apiv1.KafkaTopic) { t.Labels = map[string]string{apiv1.LabelCluster: "other"} }
	annotated := func(name, value string) mod[apiv1.KafkaTopic] {
		return func(t *apiv1.KafkaTopic) {
			if t.Annotations == nil {
				t.Annotations = map[string]string{}
			}
			t.Annotations[name] = value
		}
	}
	for name, tc := range map[string]struct {
		topic, old *apiv1.KafkaTopic
		others     []*apiv1.KafkaTopic
		strict     bool
		want       []string
	}{
		"a plain topic gets no word":  {topic: topic(partitions(12), replicas(3), option("cleanup.policy", `["compact","delete"]`))},
		"an empty name is refused":    {topic: topic(topicName("")), want: []string{"refuse topic-name-illegal spec.topicName"}},
		"a dot alone is refused":      {topic: topic(topicName(".")), want: []string{"refuse topic-name-illegal spec.topicName"}},
		"249 characters are a name":   {topic: topic(topicName(strings.Repeat("a", 249)))},
		"250 characters are too many": {topic: topic(topicName(strings.Repeat("a", 250))), want: []string{"refuse topic-name-illegal spec.topicName"}},
		"metadata.name is judged where no other name is given": {
			topic: topic(resourceName("kafka", strings.Repeat("a", 250))), want: []string{"refuse topic-name-illegal metadata.name"},
		},
		"letters beyond ASCII are refused": {topic: topic(topicName("bestellungen-für-alle")), want: []string{"refuse topic-name-illegal spec.topicName"}},
		"a name of Kafka's own kind is warned of": {
			topic: topic(topicName("__consumer_offsets")), want: []string{"warn topic-name-internal spec.topicName"},
		},
		"no cluster label is warned of": {
			topic: topic(noLabel), want: []string{"warn topic-cluster-label-missing metadata.labels[strimzi.io/cluster]"},
		},
		"a created topic cannot be renamed": {
			old: topic(created("orders", 3)), topic: topic(created("orders", 3), topicName("orders2")),
			want: []string{"refuse topic-renamed spec.topicName"},
		},
		"dropping topicName renames too": {
			old: topic(topicName("o"), created("o", 3)), topic: topic(created("o", 3)),
			want: []string{"refuse topic-renamed metadata.name"},
		},
		"a rename refused before stands in nobody's way": {
			old: topic(created("orders", 3), topicName("orders2")), topic: topic(created("orders", 3), topicName("orders2"), partitions(5)),
		},
		"another wrong name is a new fault": {
			old: topic(created("orders", 3), topicName("orders2")), topic: topic(created("orders", 3), topicName("orders3")),
			want: []string{"refuse topic-renamed spec.topicName"},
		},
		"a renamed topic that is not managed is warned of": {
			old: topic(created("orders", 3)), topic: topic(created("orders", 3), topicName("orders2"), managed("false")),
			want: []string{"warn topic-renamed spec.topicName"},
		},
		"a name that another resource manages is refused": {
			topic: topic(), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"))},
			want: []string{"refuse topic-duplicate metadata.name"},
		},
		"a claim counts by the name that Kafka has": {
			topic: topic(), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("y"), created("orders", 3))},
			want: []string{"refuse topic-duplicate metadata.name"},
		},
		"a refused new name is no claim": {
			topic: topic(topicName("y")), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("y"), created("orders", 3))},
		},
		"handed over: the other is not managed any more": {
			topic: topic(), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"), managed("false"))},
		},
		"the other is on its way out": {
			topic: topic(), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"), deleting)},
		},
		"the same name in another cluster": {
			topic: topic(), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"), otherCluster)},
		},
		"the stored object itself is no other": {topic: topic(partitions(3)), others: []*apiv1.KafkaTopic{topic()}},
		"a conflict from before lets a label change": {
			old: topic(), topic: topic(partitions(4)), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"))},
		},
		"becoming managed beside another manager is refused": {
			old: topic(managed("false")), topic: topic(managed("true")),
			others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"))},
			want:   []string{"refuse topic-duplicate metadata.name"},
		},
		"moving to a cluster where another has the name is refused": {
			old: topic(), topic: topic(otherCluster),
			others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("orders"), otherCluster)},
			want:   []string{"refuse topic-duplicate metadata.name"},
		},
		"false is false in capitals too": {
			topic: topic(partitions(0), managed("False")), want: []string{"warn topic-partitions-range spec.partitions"},
		},
		"managed is true or false": {
			topic: topic(managed("no")), want: []string{"warn topic-annotation-value metadata.annotations[strimzi.io/managed]"},
		},
		"a deletion policy is retain or delete": {
			topic: topic(annotated("sluice.dev/deletion-policy", "keep")),
			want:  []string{"warn topic-annotation-value metadata.annotations[sluice.dev/deletion-policy]"},
		},
		"annotations with their values get no word": {
			topic: topic(annotated("sluice.dev/deletion-policy", "Retain"), annotated("strimzi.io/managed", "true"), annotated("strimzi.io/pause-reconciliation", "True")),
		},
		"an option that is set and left alone": {
			topic: topic(annotated("sluice.dev/unmanaged-config", "Retention.ms , cleanup.policy"), option("retention.ms", "5")),
			want:  []string{"warn topic-option-left-alone spec.config[retention.ms]"},
		},
		"an option that is left alone and is none": {
			topic: topic(annotated("sluice.dev/unmanaged-config", "retention-ms,cleanup.policy")),
			want:  []string{"warn topic-option-left-alone metadata.annotations[sluice.dev/unmanaged-config]"},
		},
		"metrics cannot tell a dot from an underscore": {
			topic: topic(topicName("a_b")), others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("a.b"))},
			want: []string{"refuse topic-metric-collision spec.topicName"},
		},
		"a topic that Kafka has already does not collide": {
			old: topic(topicName("a_b"), created("a_b", 1)), topic: topic(topicName("a_b"), created("a_b", 1), partitions(2)),
			others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("a.b"))},
		},
		"nor does one that becomes managed again": {
			old: topic(topicName("a_b"), created("a_b", 1), managed("false")), topic: topic(topicName("a_b"), created("a_b", 1)),
			others: []*apiv1.KafkaTopic{topic(resourceName("kafka", "x"), topicName("a.b"))},
		},
		"no partitions are refused":       {topic: topic(partitions(0)), want: []string{"refuse topic-partitions-range spec.partitions"}},
		"negative partitions are refused": {topic: topic(partitions(-1)), want: []string{"refuse topic-partitions-range spec.partitions"}},
		"more partitions than Kafka counts are refused": {
			topic: topic(partitions(1 << 31)), want: []string{"refuse topic-partitions-range spec.partitions"},
		},
		"fewer than Kafka has are refused": {
			old: topic(partitions(6), created("orders", 6)), topic: topic(partitions(5), created("orders", 6)),
			want: []string{"refuse topic-partitions-shrink spec.partitions"},
		},
		"back to what Kafka has is fine": {
			old: topic(partitions(120000), created("orders", 6), func(t *apiv1.KafkaTopic) { t.Generation = 2 }), topic: topic(partitions(6)),
		},
		"leaving the number out is no shrink": {
			old: topic(partitions(6), created("orders", 6)), topic: topic(created("orders", 6)),
		},
		"fewer on a topic that is not managed are warned of": {
			old: topic(partitions(6), created("orders", 6)), topic: topic(partitions(5), created("orders", 6), managed("false")),
			want: []string{"warn topic-partitions-shrink spec.partitions"},
		},
		"no replicas are refused":       {topic: topic(replicas(0)), want: []string{"refuse topic-replicas-range spec.replicas"}},
		"32767 replicas are in range":   {topic: topic(replicas(32767))},
		"32768 replicas do not fit":     {topic: topic(replicas(32768)), want: []string{"refuse topic-replicas-range spec.replicas"}},
		"null is no value":              {topic: topic(option("retention.ms", "null")), want: []string{"refuse topic-config-shape spec.config[retention.ms]"}},
		"a map is no value":             {topic: topic(option("a", `{"b":1}`)), want: []string{"refuse topic-config-shape spec.config[a]"}},
		"a list in a list is no value":  {topic: topic(option("a", `["b",["c"]]`)), want: []string{"refuse topic-config-shape spec.config[a]"}},
		"null in a list is no value":    {topic: topic(option("a", `["b",null]`)), want: []string{"refuse topic-config-shape spec.config[a]"}},
		"a list of plain values is one": {topic: topic(option("a", `["b",1,true,1.5]`)), want: []string{"warn topic-option-unknown spec.config[a]"}},
		"the longest text is a value":   {topic: topic(option("a", `"`+strings.Repeat("b", 32767)+`"`)), want: []string{"warn topic-option-unknown spec.config[a]"}},
		"a longer text is none":         {topic: topic(option("a", `"`+strings.Repeat("b", 32768)+`"`)), want: []string{"refuse topic-config-shape spec.config[a]"}},
		"an empty text is a value":      {topic: topic(option("cleanup.policy", `""`))},
		"more in-sync replicas than replicas are warned of": {
			topic: topic(replicas(2), option("min.insync.replicas", `"3"`)), want: []string{"warn topic-min-isr-above-replicas spec.config[min.insync.replicas]"},
		},
		"and refused where that is asked for": {
			strict: true,
			topic:  topic(replicas(2), option("min.insync.replicas", "3")), want: []string{"refuse topic-min-isr-above-replicas spec.config[min.insync.replicas]"},
		},
		"in-sync replicas that are no number are another rule's": {topic: topic(replicas(2), option("min.insync.replicas", `"many"`)), want: []string{"refuse topic-option-value spec.config[min.insync.replicas]"}},
		"all faults come at once, by path": {
			topic: topic(topicName("a b"), partitions(0), replicas(-1), option("x", "null")),
			want: []string{"refuse topic-config-shape spec.config[x]", "refuse topic-partitions-range spec.partitions",
				"refuse topic-replicas-range spec.replicas", "refuse topic-name-illegal spec.topicName"},
		},
		"what is being deleted is never refused": {topic: topic(topicName("a b"), deleting)},
		"an update brings only its own faults": {
			old: topic(topicName("a b"), replicas(0)), topic: topic(topicName("a b"), replicas(-1)),
			want: []string{"refuse topic-replicas-range spec.replicas"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var others []apiv1.KafkaTopic
			for _, o := range tc.others {
				others = append(others, *o)
			}
			r := validation.KafkaTopic(tc.topic, tc.old, topicFacts(tc.topic, others), validation.Options{StrictConfig: tc.strict})
			wantSaid(t, r, tc.want...)
		})
	}
}

func TestTopicDuplicateNamesTheOldest(t *testing.T) {
	t.Parallel()
	at := func(unix int64) mod[apiv1.KafkaTopic] {
		return func(t *apiv1.KafkaTopic) { t.CreationTimestamp = metav1.Unix(unix, 0) }
	}
	others := []apiv1.KafkaTopic{
		*topic(resourceName("kafka", "young"), topicName("orders"), at(20)),
		*topic(resourceName("kafka", "old-b"), topicName("orders"), at(10)),
		*topic(resourceName("kafka", "old-a"), topicName("orders"), at(10)),
	}
	r := validation.KafkaTopic(topic(), nil, topicFacts(topic(), others), validation.Options{})
	if msg := r.Errors().ToAggregate().Error(); !strings.Contains(msg, "kafka/old-a ") {
		t.Errorf("the refusal does not name the oldest, then first by name: %s", msg)
	}
}

func TestOptionsThatTheOperatorMayNotAlter(t *testing.T) {
	t.Parallel()
	alterable, err := topicplan.ParseAlterable("cleanup.policy")
	if err != nil {
		t.Fatal(err)
	}
	ours := kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{"sluice.dev/managed": "true"} })
	judged := topic(option("retention.ms", "5"), option("cleanup.policy", `"compact"`))
	want := []string{"warn topic-option-left-alone spec.config[retention.ms]"}
	for name, tc := range map[string]struct {
		facts validation.TopicFacts
		want  []string
	}{
		"of a cluster that is Sluice's":  {validation.TopicFacts{Kafka: ours}, want},
		"of an external cluster":         {validation.TopicFacts{External: true}, want},
		"of a cluster that Strimzi runs": {validation.TopicFacts{Kafka: kafka()}, nil},
		"of a cluster that is not known": {validation.TopicFacts{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.KafkaTopic(judged, nil, tc.facts, validation.Options{Alterable: alterable}), tc.want...)
		})
	}
}
