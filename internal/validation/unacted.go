package validation

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// unacted is a field of Strimzi's API that Sluice knows and does not act on. On
// a cluster that Sluice runs, nobody else does.
type unacted[T any] struct {
	path  *field.Path
	given func(T) bool
	// instead says what is so without it.
	instead string
}

func there(j *apiextensionsv1.JSON) bool { return j != nil }

// unactedOfKafka is the one table of them for a Kafka; listeners and templates
// have their own.
var unactedOfKafka = func() []unacted[*apiv1.Kafka] {
	kafka := func(name string, of func(apiv1.KafkaClusterSpec) *apiextensionsv1.JSON, instead string) unacted[*apiv1.Kafka] {
		return unacted[*apiv1.Kafka]{
			field.NewPath("spec", "kafka", name), func(k *apiv1.Kafka) bool { return there(of(k.Spec.Kafka)) }, instead,
		}
	}
	spec := func(name string, given func(apiv1.KafkaSpec) bool, instead string) unacted[*apiv1.Kafka] {
		return unacted[*apiv1.Kafka]{field.NewPath("spec", name), func(k *apiv1.Kafka) bool { return given(k.Spec) }, instead}
	}
	return []unacted[*apiv1.Kafka]{
		kafka("authorization", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.Authorization }, "clients may do everything"),
		kafka("brokerRackInitImage", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.BrokerRackInitImage }, "the rack is read without that container"),
		kafka("jmxOptions", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.JMXOptions }, "there is no JMX port"),
		kafka("metricsConfig", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.MetricsConfig }, "the nodes export no metrics"),
		kafka("logging", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.Logging }, "the nodes log as their image does"),
		kafka("livenessProbe", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.LivenessProbe }, "the nodes are probed as Sluice sees fit"),
		kafka("readinessProbe", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.ReadinessProbe }, "the nodes are probed as Sluice sees fit"),
		kafka("tieredStorage", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.TieredStorage }, "all data stays on the nodes' disks"),
		kafka("quotas", func(s apiv1.KafkaClusterSpec) *apiextensionsv1.JSON { return s.Quotas }, "there are no quotas"),
		{field.NewPath("spec", "kafka", "rack", "envVarName"), func(k *apiv1.Kafka) bool {
			return k.Spec.Kafka.Rack != nil && there(k.Spec.Kafka.Rack.EnvVarName)
		}, "brokers have the rack that topologyKey names, or none"},
		{field.NewPath("spec", "entityOperator", "topicOperator"), func(k *apiv1.Kafka) bool {
			return k.Spec.EntityOperator != nil && there(k.Spec.EntityOperator.TopicOperator)
		}, "no such operator is started, and Sluice leaves the topics to it"},
		{field.NewPath("spec", "entityOperator", "userOperator"), func(k *apiv1.Kafka) bool {
			return k.Spec.EntityOperator != nil && there(k.Spec.EntityOperator.UserOperator)
		}, "users are not managed"},
		spec("clusterCa", func(s apiv1.KafkaSpec) bool { return there(s.ClusterCA) }, "cert-manager makes the certificates"),
		spec("clientsCa", func(s apiv1.KafkaSpec) bool { return there(s.ClientsCA) }, "no certificates are made for users"),
		spec("maintenanceTimeWindows", func(s apiv1.KafkaSpec) bool { return there(s.MaintenanceTimeWindows) }, "certificates are renewed at any time"),
		spec("kafkaExporter", func(s apiv1.KafkaSpec) bool { return s.KafkaExporter != nil }, "it is not started"),
	}
}()

// unactedOfListener has paths below a listener.
var unactedOfListener = []unacted[apiv1.KafkaListener]{
	{field.NewPath("type"), func(l apiv1.KafkaListener) bool { return l.Type != apiv1.ListenerInternal }, "only internal listeners are opened, and not this one"},
	{field.NewPath("tls"), func(l apiv1.KafkaListener) bool { return l.TLS }, "only plain listeners are opened, and not this one"},
	{field.NewPath("authentication"), func(l apiv1.KafkaListener) bool { return there(l.Authentication) }, "the listener is not opened, for it would let everyone in"},
	{field.NewPath("configuration"), func(l apiv1.KafkaListener) bool { return there(l.Configuration) }, "the listener is as it is without"},
	{field.NewPath("networkPolicyPeers"), func(l apiv1.KafkaListener) bool { return there(l.NetworkPolicyPeers) }, "everyone may connect"},
}

// unactedOfTemplate has paths below the template of a Kafka or a pool.
var unactedOfTemplate = func() []unacted[*apiv1.KafkaTemplate] {
	part := func(name string, of func(*apiv1.KafkaTemplate) *apiextensionsv1.JSON) unacted[*apiv1.KafkaTemplate] {
		return unacted[*apiv1.KafkaTemplate]{
			field.NewPath(name), func(t *apiv1.KafkaTemplate) bool { return there(of(t)) }, "no such object is made",
		}
	}
	return []unacted[*apiv1.KafkaTemplate]{
		{field.NewPath("initContainer"), func(t *apiv1.KafkaTemplate) bool { return t.InitContainer != nil }, "there is no such container"},
		{field.NewPath("podDisruptionBudget", "maxUnavailable"), func(t *apiv1.KafkaTemplate) bool {
			return t.PodDisruptionBudget != nil && there(t.PodDisruptionBudget.MaxUnavailable)
		}, "one pod may be evicted at a time"},
		part("serviceAccount", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.ServiceAccount }),
		part("podSet", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.PodSet }),
		part("externalBootstrapService", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.ExternalBootstrapService }),
		part("perPodService", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.PerPodService }),
		part("externalBootstrapRoute", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.ExternalBootstrapRoute }),
		part("perPodRoute", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.PerPodRoute }),
		part("externalBootstrapIngress", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.ExternalBootstrapIngress }),
		part("perPodIngress", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.PerPodIngress }),
		part("clusterCaCert", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.ClusterCACert }),
		part("jmxSecret", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.JMXSecret }),
		part("clusterRoleBinding", func(t *apiv1.KafkaTemplate) *apiextensionsv1.JSON { return t.ClusterRoleBinding }),
	}
}()

// withoutEffect reports what is given of a table, below base.
func withoutEffect[T any](table []unacted[T], obj T, element string, base *field.Path) []Finding {
	var found []Finding
	for _, u := range table {
		if !u.given(obj) {
			continue
		}
		path := u.path
		if base != nil {
			path = base.Child(u.path.String())
		}
		found = append(found, Finding{
			Path: path, Element: element + " " + u.path.String(), Value: "given",
			Message: fmt.Sprintf("Sluice, which runs this cluster, does not act on this field: %s; remove it", u.instead),
		})
	}
	return found
}

func kafkaFieldsWithoutEffect(in kafkaInput) []Finding {
	if !in.kafka.HandedOver() {
		return nil
	}
	found := withoutEffect(unactedOfKafka, in.kafka, "", nil)
	for i, l := range in.kafka.Spec.Kafka.Listeners {
		found = append(found, withoutEffect(unactedOfListener, l, l.Name, listenersPath().Index(i))...)
	}
	if t := in.kafka.Spec.Kafka.Template; t != nil {
		found = append(found, withoutEffect(unactedOfTemplate, t, "template", field.NewPath("spec", "kafka", "template"))...)
	}
	return found
}

func poolFieldsWithoutEffect(in poolInput) []Finding {
	t := in.pool.Spec.Template
	if !in.facts.Kafka.HandedOver() || t == nil {
		return nil
	}
	return withoutEffect(unactedOfTemplate, t, "template", field.NewPath("spec", "template"))
}
