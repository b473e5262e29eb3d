package validation_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func TestTopicOptions(t *testing.T) {
	t.Parallel()
	value := func(key string) []string { return []string{"refuse topic-option-value spec.config[" + key + "]"} }
	unknown := func(key string) []string { return []string{"warn topic-option-unknown spec.config[" + key + "]"} }
	for name, tc := range map[string]struct {
		topic, old *apiv1.KafkaTopic
		version    string // of the topic's Kafka
		assumed    string // where that is not known
		want       []string
		text       string
	}{
		"a duration is no number":                   {topic: topic(option("retention.ms", `"7d"`)), want: value("retention.ms"), text: "write 604800000"},
		"a policy with a typo":                      {topic: topic(option("cleanup.policy", `"compacted"`)), want: value("cleanup.policy"), text: "write compact"},
		"a list is judged item by item":             {topic: topic(option("cleanup.policy", `["compact","remove"]`)), want: value("cleanup.policy"), text: `"remove" is none of compact, delete`},
		"a list of what there is":                   {topic: topic(option("cleanup.policy", `["compact","delete"]`))},
		"blanks and capitals as Kafka takes them":   {topic: topic(option("preallocate", `" TRUE "`), option("retention.ms", `" 0100 "`))},
		"a JSON number":                             {topic: topic(option("retention.ms", "604800000"))},
		"a JSON number with an exponent":            {topic: topic(option("retention.ms", "1.0E+3"))},
		"a JSON number that is none for Kafka":      {topic: topic(option("retention.ms", "0.5")), want: value("retention.ms")},
		"a JSON number that would fill the memory":  {topic: topic(option("retention.ms", "1e999999999")), want: value("retention.ms"), text: "digits"},
		"a JSON boolean":                            {topic: topic(option("preallocate", "true"))},
		"a JSON boolean where a number belongs":     {topic: topic(option("retention.ms", "true")), want: value("retention.ms")},
		"a placeholder is replaced by nobody here":  {topic: topic(option("retention.ms", `"${env:RETENTION}"`)), want: value("retention.ms")},
		"out of range":                              {topic: topic(option("min.insync.replicas", "0")), want: value("min.insync.replicas"), text: "from 1 to 2147483647"},
		"right in some version":                     {topic: topic(option("segment.bytes", "1000"))},
		"but not in the topic's":                    {topic: topic(option("segment.bytes", "1000")), version: "4.3.1", want: value("segment.bytes"), text: "from 1048576"},
		"nor in the assumed one":                    {topic: topic(option("segment.bytes", "1000")), assumed: "4.3.1", want: value("segment.bytes")},
		"the topic's own version counts first":      {topic: topic(option("segment.bytes", "1000")), version: "4.0.0", assumed: "4.3.1"},
		"of a version that nobody knows, the type":  {topic: topic(option("retention.ms", `"7d"`)), version: "3.9.1", want: value("retention.ms")},
		"but not the range":                         {topic: topic(option("segment.bytes", "0"), option("cleanup.policy", `"other"`)), version: "5.0.0"},
		"no such option in any version":             {topic: topic(option("retention.hours", "7")), want: unknown("retention.hours"), text: "no Kafka from 4.0.2 to 4.4.0 has such an option"},
		"a typo in a name":                          {topic: topic(option("retention.m", "7")), want: unknown("retention.m"), text: "write retention.ms if that was meant"},
		"a name in another case":                    {topic: topic(option("Retention.MS", "7")), want: unknown("Retention.MS"), text: "write retention.ms"},
		"blanks around a name stay":                 {topic: topic(option(" retention.ms", "7")), want: unknown(" retention.ms"), text: "write retention.ms"},
		"a broker's name":                           {topic: topic(option("log.retention.ms", "7")), want: unknown("log.retention.ms"), text: "write retention.ms"},
		"a broker's name of the cleaner":            {topic: topic(option("log.cleaner.delete.retention.ms", "7")), want: unknown("log.cleaner.delete.retention.ms"), text: "write delete.retention.ms"},
		"an option of another version":              {topic: topic(option("remote.copy.lag.ms", "7")), version: "4.3.1", want: unknown("remote.copy.lag.ms"), text: "only Kafka 4.4.0 has"},
		"an option of some version":                 {topic: topic(option("remote.copy.lag.ms", "7"))},
		"a later patch may have it":                 {topic: topic(option("max.decompressed.message.bytes", "7")), version: "4.3.2"},
		"the newest patch here has not":             {topic: topic(option("max.decompressed.message.bytes", "7")), version: "4.3.1", want: unknown("max.decompressed.message.bytes")},
		"what an unknown version has nobody knows":  {topic: topic(option("retention.hours", "7")), version: "5.0.0"},
		"an option without a value is one fault":    {topic: topic(option("retention.hours", "null")), want: []string{"refuse topic-config-shape spec.config[retention.hours]"}},
		"one from before stays until it is changed": {old: topic(option("retention.ms", `"7d"`)), topic: topic(option("retention.ms", `"7d"`), partitions(3))},
		"a changed one is refused":                  {old: topic(option("retention.ms", `"7d"`)), topic: topic(option("retention.ms", `"8d"`)), want: value("retention.ms")},
		"of a topic that is not managed":            {topic: topic(managed("false"), option("retention.ms", `"7d"`)), want: []string{"warn topic-option-value spec.config[retention.ms]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var facts validation.TopicFacts
			if tc.version != "" {
				facts.Kafka = kafka(kafkaVersion(tc.version))
			}
			r := validation.KafkaTopic(tc.topic, tc.old, facts, validation.Options{KafkaVersion: tc.assumed})
			wantSaid(t, r, tc.want...)
			wantText(t, r, tc.text)
		})
	}
}

// wantText wants a text in what is said.
func wantText(t *testing.T, r validation.Result, text string) {
	t.Helper()
	said := strings.Join(r.WarningTexts(), "\n")
	if err := r.Errors().ToAggregate(); err != nil {
		said += err.Error()
	}
	if !strings.Contains(said, text) {
		t.Errorf("it says %q, want %q", said, text)
	}
}

func kafkaVersion(version string) mod[apiv1.Kafka] {
	return func(k *apiv1.Kafka) { k.Spec.Kafka.Version = version }
}

func metadataVersion(version string) mod[apiv1.Kafka] {
	return func(k *apiv1.Kafka) { k.Spec.Kafka.MetadataVersion = version }
}

func runBySluice(k *apiv1.Kafka) {
	k.Annotations = map[string]string{apiv1.AnnotationSluiceManaged: "true"}
}

func TestBrokerOptions(t *testing.T) {
	t.Parallel()
	listener := func(k *apiv1.Kafka) {
		k.Spec.Kafka.Listeners = []apiv1.KafkaListener{{Name: "plain", Port: 9092}}
	}
	value := func(key string) []string { return []string{"refuse kafka-option-value spec.kafka.config[" + key + "]"} }
	unknown := func(key string) []string {
		return []string{"warn kafka-option-unknown spec.kafka.config[" + key + "]"}
	}
	reporter := brokerOption("metric.reporters", `"com.example.Reporter"`)
	for name, tc := range map[string]struct {
		kafka *apiv1.Kafka
		want  []string
		text  string
	}{
		"no number":                                   {kafka: kafka(brokerOption("num.partitions", `"abc"`)), want: value("num.partitions"), text: "a whole number from 1 to 2147483647"},
		"a number as text":                            {kafka: kafka(brokerOption("num.partitions", `" 3 "`))},
		"out of range":                                {kafka: kafka(brokerOption("num.partitions", "0")), want: value("num.partitions")},
		"a map is no value":                           {kafka: kafka(brokerOption("num.partitions", `{"a":1}`)), want: value("num.partitions")},
		"null is no value, of whatever option":        {kafka: kafka(brokerOption("some.plugin", "null")), want: value("some.plugin")},
		"a list":                                      {kafka: kafka(brokerOption("log.cleanup.policy", `["compact","delete"]`))},
		"a value from a config provider":              {kafka: kafka(brokerOption("num.partitions", `"${env:PARTITIONS}"`), brokerOption("log.retention.ms", `"${secrets:ns/name:key}"`))},
		"a dollar alone makes no placeholder":         {kafka: kafka(brokerOption("num.partitions", `"${PARTITIONS}"`)), want: value("num.partitions")},
		"blanks around a name vanish":                 {kafka: kafka(brokerOption(" num.partitions ", `"abc"`)), want: value(" num.partitions ")},
		"what is ignored has no wrong value":          {kafka: kafka(brokerOption("node.id", `"abc"`)), want: []string{"warn kafka-option-owned spec.kafka.config[node.id]"}},
		"an option of a declared listener":            {kafka: kafka(listener, brokerOption("listener.name.plain-9092.max.connections", `"many"`)), want: value("listener.name.plain-9092.max.connections")},
		"right for a declared listener":               {kafka: kafka(listener, brokerOption("listener.name.plain-9092.max.connections", "10"))},
		"right in another version":                    {kafka: kafka(brokerOption("num.replica.fetchers", "0"))},
		"wrong in the cluster's":                      {kafka: kafka(kafkaVersion("4.2.0"), brokerOption("num.replica.fetchers", "0")), want: value("num.replica.fetchers")},
		"wrong in the newest, which Sluice would run": {kafka: kafka(runBySluice, brokerOption("num.replica.fetchers", "0")), want: value("num.replica.fetchers")},
		"no such option":                              {kafka: kafka(brokerOption("num.partition", "3")), want: unknown("num.partition"), text: "write num.partitions if that was meant"},
		"a topic's name":                              {kafka: kafka(brokerOption("retention.ms", "3")), want: unknown("retention.ms"), text: "write log.retention.ms"},
		"nothing like any option":                     {kafka: kafka(kafkaVersion("4.3.1"), brokerOption("no.such.option", "3")), want: unknown("no.such.option"), text: "Kafka 4.3.1 has no such option, and nothing reads it"},
		"an option that came later":                   {kafka: kafka(kafkaVersion("4.0.0"), brokerOption("max.decompressed.message.bytes", "1000")), want: unknown("max.decompressed.message.bytes"), text: "only Kafka 4.2.2, 4.4.0 has"},
		"an exception that Kafka does not know":       {kafka: kafka(brokerOption("zookeeper.connection.timeout.ms", "6000")), want: unknown("zookeeper.connection.timeout.ms")},
		"config providers are open":                   {kafka: kafka(brokerOption("config.providers", `"env"`), brokerOption("config.providers.env.class", `"org.apache.kafka.common.config.provider.EnvVarConfigProvider"`))},
		"tiered storage is open":                      {kafka: kafka(brokerOption("rsm.config.chunk.size", "1"), brokerOption("rlmm.config.x", "1"))},
		"under a prefix of its own too":               {kafka: kafka(brokerOption("remote.log.storage.manager.impl.prefix", `"my.rsm."`), brokerOption("my.rsm.chunk.size", "1"))},
		"and then not under the default":              {kafka: kafka(brokerOption("remote.log.storage.manager.impl.prefix", `"my.rsm."`), brokerOption("rsm.config.chunk.size", "1")), want: unknown("rsm.config.chunk.size")},
		"Cruise Control's reporter is open":           {kafka: kafka(brokerOption("cruise.control.metrics.reporter.metrics.reporting.interval.ms", "1"))},
		"a plugin reads what it likes":                {kafka: kafka(reporter, brokerOption("example.url", `"http://x"`))},
		"but a typo is likely all the same":           {kafka: kafka(reporter, brokerOption("num.partition", "3")), want: unknown("num.partition")},
		"Kafka's own class is no plugin":              {kafka: kafka(brokerOption("metric.reporters", `"org.apache.kafka.common.metrics.JmxReporter"`), brokerOption("example.url", `"x"`)), want: unknown("example.url")},
		"a custom authorizer is a plugin": {kafka: kafka(brokerOption("example.url", `"x"`), func(k *apiv1.Kafka) {
			k.Spec.Kafka.Authorization = &apiextensionsv1.JSON{Raw: []byte(`{"type":"custom","authorizerClass":"com.example.Authorizer"}`)}
		})},
		"a simple one is not": {kafka: kafka(brokerOption("example.url", `"x"`), func(k *apiv1.Kafka) {
			k.Spec.Kafka.Authorization = &apiextensionsv1.JSON{Raw: []byte(`{"type":"simple"}`)}
		}), want: unknown("example.url")},
		"a policy's class is a plugin":                  {kafka: kafka(brokerOption("create.topic.policy.class.name", `"com.example.Policy"`), brokerOption("example.url", `"x"`))},
		"a version that nobody knows may have anything": {kafka: kafka(kafkaVersion("3.9.1"), brokerOption("no.such.option", "3")), want: []string{"warn kafka-version-unknown spec.kafka.version"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := validation.Kafka(tc.kafka, nil, validation.KafkaFacts{}, validation.Options{})
			wantSaid(t, r, tc.want...)
			wantText(t, r, tc.text)
		})
	}
}

func TestKafkaVersions(t *testing.T) {
	t.Parallel()
	const metadataAt, versionAt = "kafka-metadata-version spec.kafka.metadataVersion", "kafka-version-unknown spec.kafka.version"
	for name, tc := range map[string]struct {
		kafka, old *apiv1.Kafka
		want       []string
		text       string
	}{
		"a known version":                         {kafka: kafka(kafkaVersion("4.3.1"), runBySluice)},
		"another patch of it":                     {kafka: kafka(kafkaVersion("4.3.0"), runBySluice)},
		"an unknown version on our cluster":       {kafka: kafka(kafkaVersion("3.9.1"), runBySluice), want: []string{"refuse " + versionAt}, text: "write one of 4.0.2, 4.1.2"},
		"an unknown version elsewhere":            {kafka: kafka(kafkaVersion("3.9.1")), want: []string{"warn " + versionAt}},
		"a version without its patch":             {kafka: kafka(kafkaVersion("4.3"), runBySluice), want: []string{"refuse " + versionAt}},
		"handing over what cannot be run":         {old: kafka(kafkaVersion("3.9.1")), kafka: kafka(kafkaVersion("3.9.1"), runBySluice), want: []string{"refuse " + versionAt}},
		"an unknown version from before":          {old: kafka(kafkaVersion("3.9.1"), runBySluice), kafka: kafka(kafkaVersion("3.9.1"), runBySluice, brokerOption("num.partitions", "3"))},
		"the newest metadata version":             {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("4.3-IV0"))},
		"a minor version stands for its newest":   {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("4.3"))},
		"an older metadata version":               {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("3.9-IV0"))},
		"above the version":                       {kafka: kafka(kafkaVersion("4.2.1"), metadataVersion("4.3-IV0")), want: []string{"refuse " + metadataAt}, text: "4.2-IV1 at most"},
		"above it within its minor version":       {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("4.3-IV1")), want: []string{"refuse " + metadataAt}},
		"above the newest, which is ours":         {kafka: kafka(metadataVersion("4.5-IV0"), runBySluice), want: []string{"refuse " + metadataAt}},
		"above the newest, elsewhere":             {kafka: kafka(metadataVersion("4.5-IV0"))},
		"older than the version can read":         {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("3.2-IV0")), want: []string{"refuse " + metadataAt}, text: "from 3.3-IV3 to 4.3-IV0"},
		"one that never was":                      {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("4.2-IV7")), want: []string{"refuse " + metadataAt}},
		"of the wrong form":                       {kafka: kafka(kafkaVersion("4.3.1"), metadataVersion("4.3.1")), want: []string{"refuse " + metadataAt}, text: "as in 4.3-IV0"},
		"of the wrong form, without a version":    {kafka: kafka(metadataVersion("latest")), want: []string{"refuse " + metadataAt}, text: "as in 4.4-IV2"},
		"above a version that nobody knows":       {kafka: kafka(kafkaVersion("3.8.1"), metadataVersion("3.9-IV0")), want: []string{"refuse " + metadataAt, "warn " + versionAt}, text: "write 3.8 or an older one"},
		"not above a version that nobody knows":   {kafka: kafka(kafkaVersion("5.0.0"), metadataVersion("5.0-IV3")), want: []string{"warn " + versionAt}},
		"a version that is none":                  {kafka: kafka(kafkaVersion("newest"), metadataVersion("5.0-IV3")), want: []string{"warn " + versionAt}},
		"taking the version back below it":        {old: kafka(kafkaVersion("4.3.1"), metadataVersion("4.3-IV0")), kafka: kafka(kafkaVersion("4.2.1"), metadataVersion("4.3-IV0")), want: []string{"refuse " + metadataAt}},
		"a metadata fault from before stays":      {old: kafka(kafkaVersion("4.2.1"), metadataVersion("4.3-IV0")), kafka: kafka(kafkaVersion("4.2.1"), metadataVersion("4.3-IV0"), runBySluice)},
		"an old metadata version of a new Kafka":  {kafka: kafka(kafkaVersion("4.4.0"), metadataVersion("4.0-IV3"), runBySluice)},
		"a version with a vendor's ending passes": {kafka: kafka(kafkaVersion("4.0.0.redhat-00001"), metadataVersion("4.0-IV3")), want: []string{"warn " + versionAt}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := validation.Kafka(tc.kafka, tc.old, validation.KafkaFacts{}, validation.Options{})
			wantSaid(t, r, tc.want...)
			wantText(t, r, tc.text)
		})
	}
}

// TestTheVersionInUseCounts: an upgrade that is asked for is not yet done.
func TestTheVersionInUseCounts(t *testing.T) {
	t.Parallel()
	small := topic(option("segment.bytes", "1000"))
	upgrading := kafka(kafkaVersion("4.3.1"), func(k *apiv1.Kafka) { k.Status.KafkaVersion = "4.0.2" })
	wantSaid(t, validation.KafkaTopic(small, nil, validation.TopicFacts{Kafka: upgrading}, validation.Options{}))
	wantSaid(t, validation.KafkaTopic(small, nil, validation.TopicFacts{Kafka: kafka()}, validation.Options{KafkaVersion: "4.3.1"}),
		"refuse topic-option-value spec.config[segment.bytes]")
}

// TestManyUnknownOptionsTakeBoundedTime gives options by the thousand that are
// like none there is.
func TestManyUnknownOptionsTakeBoundedTime(t *testing.T) {
	t.Parallel()
	const n = 10_000
	k, plugged := kafka(), kafka(brokerOption("metric.reporters", `"com.example.Reporter"`))
	one := withOption(nil, "x", "1")["x"]
	k.Spec.Kafka.Config = apiv1.Config{}
	for i := range n {
		key := "offsets.topic.replication.factor.of.the.cluster." + strconv.Itoa(i)
		k.Spec.Kafka.Config[key], plugged.Spec.Kafka.Config[key] = one, one
	}
	start := time.Now()
	if r := validation.Kafka(k, nil, validation.KafkaFacts{}, validation.Options{}); len(r.Warnings) != n {
		t.Errorf("got %d warnings", len(r.Warnings))
	}
	if r := validation.Kafka(plugged, nil, validation.KafkaFacts{}, validation.Options{}); len(r.Warnings) != 0 {
		t.Errorf("got %d warnings beside a plugin", len(r.Warnings))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
