package validation

import (
	"regexp"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// reserved are the names of volumes that Strimzi's operator gives to the pods of
// a kind (KafkaCluster, KafkaConnectCluster, AbstractModel and VolumeUtils in
// Strimzi's cluster operator).
type reserved struct {
	always    *regexp.Regexp // on every pod
	sometimes *regexp.Regexp // only with some settings or some versions
}

var (
	reservedKafka = reserved{
		always: regexp.MustCompile(`^(data(-[0-9]+)?|strimzi-tmp|kafka-metrics-and-logging|ready-files)$`),
		// rack-volume: with rack awareness or node ports; kube-api-access: from
		// Strimzi 1.2 on.
		sometimes: regexp.MustCompile(`^(rack-volume|kube-api-access)$`),
	}
	reservedConnect = reserved{
		always: regexp.MustCompile(`^(strimzi-tmp|kafka-connect-configurations)$`),
		// plugin-<name>-<hash>: for every plugin that is mounted as an image.
		sometimes: regexp.MustCompile(`^(rack-volume|kube-api-access|plugin-.+-[0-9a-f]+)$`),
	}
	reservedMirrorMaker2 = reserved{
		always:    regexp.MustCompile(`^(strimzi-tmp|kafka-connect-configurations)$`),
		sometimes: regexp.MustCompile(`^(rack-volume|kube-api-access)$`),
	}
)

// reservedNames is the one table of them, per kind.
var reservedNames = map[string]reserved{
	apiv1.KindKafka:             reservedKafka,
	apiv1.KindKafkaNodePool:     reservedKafka,
	apiv1.KindKafkaConnect:      reservedConnect,
	apiv1.KindKafkaMirrorMaker2: reservedMirrorMaker2,
}

// has tells whether a volume of this name may be on a pod without any template.
func (r reserved) has(name string) bool {
	return r.always.MatchString(name) || r.sometimes.MatchString(name)
}
