package validation

import (
	"encoding/json"
	"regexp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

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

// ofSluice are the names that only Sluice's own pods use.
var ofSluice = regexp.MustCompile(`^sluice-`)

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

// secretVolumes are the names of volumes that Strimzi before 1.2 gives to the
// Secrets of a connection: that of the Secret and, in a MirrorMaker 2, the alias
// of the connection's cluster before it (createTrustedCertificatesVolumes and
// configureClientAuthenticationVolumes in its cluster operator).
func secretVolumes(spec apiv1.ConnectSpec) map[string]bool {
	names := map[string]bool{}
	addSecrets(names, "", decoded(spec.TLS))
	addSecrets(names, "", decoded(spec.Authentication))
	addCluster(names, decoded(spec.Target))
	mirrors, _ := decoded(spec.Mirrors).([]any)
	for _, m := range mirrors {
		if mirror, ok := m.(map[string]any); ok {
			addCluster(names, mirror["source"])
		}
	}
	return names
}

// decoded returns nil for what is absent.
func decoded(j *apiextensionsv1.JSON) any {
	if j == nil {
		return nil
	}
	var v any
	if json.Unmarshal(j.Raw, &v) != nil {
		return nil
	}
	return v
}

func addCluster(names map[string]bool, v any) {
	cluster, ok := v.(map[string]any)
	if !ok {
		return
	}
	if alias, ok := cluster["alias"].(string); ok {
		addSecrets(names, alias+"-", cluster["tls"])
		addSecrets(names, alias+"-", cluster["authentication"])
	}
}

// addSecrets adds every secretName at any depth of v.
func addSecrets(names map[string]bool, prefix string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			addSecrets(names, prefix, item)
		}
	case map[string]any:
		for key, value := range v {
			if name, ok := value.(string); ok && key == "secretName" && name != "" {
				names[prefix+name] = true
				continue
			}
			addSecrets(names, prefix, value)
		}
	}
}
