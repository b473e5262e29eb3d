package validation

import (
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/brokerconfig"
	"github.com/sluice-kafka/sluice/internal/configdef"
)

// brokerVersions are those that read the options of a Kafka.
func (in kafkaInput) brokerVersions() kafkaVersions {
	switch {
	case in.kafka.Spec.Kafka.Version != "":
		return versionsOf(in.kafka.Spec.Kafka.Version)
	case in.opts.KafkaVersion != "":
		return versionsOf(in.opts.KafkaVersion)
	case in.kafka.HandedOver():
		return versionsOf(configdef.Latest())
	default:
		// Another operator has a default of its own.
		return versionsOf("")
	}
}

// usersOptions are the keys of a Kafka's options that reach the broker, each
// with the option's name there. The operator ignores the others, and another
// rule says so.
func (in kafkaInput) usersOptions() []userOption {
	var list []userOption
	owned := brokerconfig.OwnedWith(in.kafka.Spec.Kafka.Listeners)
	for _, key := range optionKeys(in.kafka.Spec.Kafka.Config) {
		if owned.Prefix(key) != "" {
			continue
		}
		o := userOption{key: key, name: brokerconfig.OptionName(key)}
		if _, option, ok := configdef.OfListener(o.name); ok {
			o.name, o.ofListener = option, true
		}
		list = append(list, o)
	}
	return list
}

type userOption struct {
	key, name string
	// ofListener tells that the key gives the option for one listener alone.
	ofListener bool
}

func kafkaOptionValues(in kafkaInput) []Finding {
	versions := in.brokerVersions()
	config := in.kafka.Spec.Kafka.Config
	var found []Finding
	for _, o := range in.usersOptions() {
		value, err := optionValue(config[o.key])
		if err == nil && !configdef.HasPlaceholder(value) {
			err = versions.wrong(brokerOptions, o.name, value)
		}
		if err != nil {
			found = append(found, Finding{
				Severity: Refuse, Path: kafkaConfigPath(o.key), Element: o.key, Value: optionText(config[o.key]), Message: err.Error(),
			})
		}
	}
	return found
}

// pluginPrefixes begin the options of what ships with Kafka or Strimzi and reads
// its own: config providers (KIP-297), the JMX reporter (KIP-606), Cruise
// Control's reporter, and Strimzi's plugins.
var pluginPrefixes = []string{"config.providers", "metrics.jmx.", "cruise.control.metrics.", "client.quota.callback.", "strimzi."}

// remotePrefixes begin the options of the plugins of tiered storage, unless the
// option says otherwise (RemoteLogManagerConfig in Kafka).
var remotePrefixes = map[string]string{
	"remote.log.storage.manager.impl.prefix":  "rsm.config.",
	"remote.log.metadata.manager.impl.prefix": "rlmm.config.",
}

func kafkaOptionNames(in kafkaInput) []Finding {
	versions := in.brokerVersions()
	config := in.kafka.Spec.Kafka.Config
	open := openPrefixes(config)
	plugins := hasPlugins(in.kafka)
	var found []Finding
	compared := 0
	for _, o := range in.usersOptions() {
		if o.ofListener || !versions.unknown(brokerOptions, o.name) || hasPrefix(o.name, open) {
			continue
		}
		compared++
		suggest := compared <= maxSuggested
		if plugins && (!suggest || !nearOption(o.name)) {
			continue // it may well be the plugin's
		}
		found = append(found, Finding{
			Path: kafkaConfigPath(o.key), Element: o.key, Value: optionText(config[o.key]),
			Message: versions.absence(brokerOptions, topicOptions, o.name, suggest),
		})
	}
	return found
}

func nearOption(name string) bool {
	_, near := configdef.Nearest(name, configdef.BrokerNames())
	return near
}

func openPrefixes(config apiv1.Config) []string {
	open := slices.Clone(pluginPrefixes)
	for option, prefix := range remotePrefixes {
		if v, ok := config[option]; ok {
			if text, err := optionValue(v); err == nil && strings.TrimSpace(text) != "" {
				prefix = strings.TrimSpace(text)
			}
		}
		open = append(open, prefix)
	}
	return open
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// hasPlugins tells whether a Kafka loads classes that are not Kafka's own. They
// are given all of the broker's options and read what they like.
func hasPlugins(k *apiv1.Kafka) bool {
	// Strimzi's custom authorizer is named beside the options, and configured
	// among them.
	if customType(k.Spec.Kafka.Authorization) {
		return true
	}
	for key, v := range k.Spec.Kafka.Config {
		option, ok := configdef.Broker(configdef.Latest(), brokerconfig.OptionName(key))
		if !ok {
			continue
		}
		names := option.Type == configdef.Class || strings.HasSuffix(option.Name, ".class.name") || strings.HasSuffix(option.Name, ".class") ||
			slices.Contains([]string{"metric.reporters", "kafka.metrics.reporters", "security.providers"}, option.Name)
		if text, err := optionValue(v); names && err == nil && foreignClass(text) {
			return true
		}
	}
	return false
}

func customType(v *apiextensionsv1.JSON) bool {
	if v == nil {
		return false
	}
	var typed struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(v.Raw, &typed) == nil && typed.Type == "custom"
}

func foreignClass(list string) bool {
	for class := range strings.SplitSeq(list, ",") {
		class = strings.TrimSpace(class)
		if class != "" && !strings.HasPrefix(class, "org.apache.kafka.") {
			return true
		}
	}
	return false
}
