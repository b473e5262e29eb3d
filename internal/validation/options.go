package validation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

// optionSet are the options of topics or those of brokers.
type optionSet struct {
	find  func(version, name string) (configdef.Option, bool)
	names func() []string
}

var (
	topicOptions  = optionSet{configdef.Topic, configdef.TopicNames}
	brokerOptions = optionSet{configdef.Broker, configdef.BrokerNames}
)

// kafkaVersions are those that may read an object's options, the newest first:
// one where the object's Kafka tells, else all. A fault is one only if all of
// them find it.
type kafkaVersions struct {
	// named is the version that the object's Kafka has; empty where not known.
	named string
	// ofValues judge values, and ofNames tell whether there is an option of a name.
	ofValues, ofNames []string
	// typesOnly tells that another version than those reads the values: ranges
	// may differ there, types hardly do.
	typesOnly bool
}

// allVersions are those that are known, the newest first.
var allVersions = sync.OnceValue(func() []string {
	all := configdef.Versions()
	slices.Reverse(all)
	return all
})

func versionsOf(version string) kafkaVersions {
	all := allVersions()
	v := kafkaVersions{named: version, ofValues: all, ofNames: all}
	_, exact, known := configdef.ReleaseOf(version)
	switch {
	case version == "":
	case !known:
		// What such a version has nobody here can tell.
		v.typesOnly, v.ofNames = true, nil
	case exact:
		v.ofValues, v.ofNames = []string{version}, []string{version}
	default:
		// A later patch may have got an option that another version has.
		v.ofValues = []string{version}
	}
	return v
}

// wrong returns why no version accepts a value; nil where one does, or where none
// knows the option.
func (v kafkaVersions) wrong(set optionSet, name, value string) error {
	var newest error
	for _, version := range v.ofValues {
		option, ok := set.find(version, name)
		if !ok {
			continue
		}
		err := option.Check(value)
		if err == nil || v.typesOnly && !errors.Is(err, configdef.ErrType) {
			return nil
		}
		if newest == nil {
			newest = err
		}
	}
	return newest
}

// unknown tells whether it is certain that there is no option of a name.
func (v kafkaVersions) unknown(set optionSet, name string) bool {
	for _, version := range v.ofNames {
		if _, ok := set.find(version, name); ok {
			return false
		}
	}
	return len(v.ofNames) > 0
}

// absence says that there is no option of a name, and what to write instead.
func (v kafkaVersions) absence(set, other optionSet, name string, suggest bool) string {
	text := fmt.Sprintf("no Kafka from %s to %s has such an option", v.ofNames[len(v.ofNames)-1], v.ofNames[0])
	if len(v.ofNames) == 1 {
		text = "Kafka " + v.ofNames[0] + " has no such option"
		if having := versionsWith(set, name); len(having) > 0 {
			return text + ", only Kafka " + listed(having) + " has: remove it"
		}
	}
	if like := counterpart(set, other, name); like != "" {
		return text + ": write " + like
	}
	if suggest {
		if near, ok := configdef.Nearest(name, set.names()); ok {
			return text + ": write " + near + " if that was meant, or remove it"
		}
	}
	return text + ", and nothing reads it: correct the name, or remove it"
}

func versionsWith(set optionSet, name string) []string {
	return slices.DeleteFunc(configdef.Versions(), func(version string) bool {
		_, ok := set.find(version, name)
		return !ok
	})
}

// counterpart finds the option that a topic calls retention.ms and a broker
// log.retention.ms (org.apache.kafka.server.config.ServerTopicConfigSynonyms in
// Kafka lists them; these are the ones that differ by a prefix).
func counterpart(set, other optionSet, name string) string {
	if len(versionsWith(other, name)) == 0 {
		return ""
	}
	for _, prefix := range []string{"log.cleaner.", "log."} {
		for _, like := range []string{prefix + name, strings.TrimPrefix(name, prefix)} {
			if like != name && len(versionsWith(set, like)) > 0 {
				return like
			}
		}
	}
	return ""
}

// maxSuggested bounds the work for an object of nothing but unknown names; only
// a few warnings are shown.
const maxSuggested = 20

// optionValue renders a value as Kafka gets it.
func optionValue(v apiextensionsv1.JSON) (string, error) {
	return configdef.RenderValue(v.Raw)
}

func topicOptionValues(in topicInput) []Finding {
	versions := in.versions()
	var found []Finding
	config := in.topic.Spec.Config
	for _, key := range optionKeys(config) {
		value, err := optionValue(config[key])
		switch {
		case err == nil:
			err = versions.wrong(topicOptions, key, value)
		case !errors.Is(err, configdef.ErrNumberRange):
			continue // no value at all, which is another rule's
		}
		if err != nil {
			found = append(found, Finding{
				Severity: Refuse, Path: topicConfigPath(key), Element: key, Value: optionText(config[key]), Message: err.Error(),
			})
		}
	}
	return found
}

func topicOptionNames(in topicInput) []Finding {
	versions := in.versions()
	var found []Finding
	for _, key := range optionKeys(in.topic.Spec.Config) {
		if versions.unknown(topicOptions, key) {
			found = append(found, Finding{
				Path: topicConfigPath(key), Element: key, Value: optionText(in.topic.Spec.Config[key]),
				Message: versions.absence(topicOptions, brokerOptions, key, len(found) < maxSuggested),
			})
		}
	}
	return found
}

// NeedsKafka tells whether a topic is judged differently where its Kafka is
// known, so that nobody looks it up in vain.
func NeedsKafka(topic, old *apiv1.KafkaTopic) bool {
	return len(topic.Spec.Config) > 0 || changesReplicas(topic, old)
}

// versions of the Kafka that the topic goes to.
func (in topicInput) versions() kafkaVersions {
	if k := in.facts.Kafka; k != nil {
		if version := runningVersion(k); version != "" {
			return versionsOf(version)
		}
	}
	return versionsOf(in.opts.KafkaVersion)
}

// runningVersion is the version of a Kafka that reads the options of topics: the
// one in use, else the one that is asked for. It is empty where neither is
// known.
func runningVersion(k *apiv1.Kafka) string {
	if k.Status.KafkaVersion != "" {
		return k.Status.KafkaVersion
	}
	return k.Spec.Kafka.Version
}
