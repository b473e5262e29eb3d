package validation_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func listeners(list ...apiv1.KafkaListener) mod[apiv1.Kafka] {
	return func(k *apiv1.Kafka) { k.Spec.Kafka.Listeners = list }
}

func listener(name string, port int64) apiv1.KafkaListener {
	return apiv1.KafkaListener{Name: name, Port: port, Type: apiv1.ListenerInternal}
}

func TestListeners(t *testing.T) {
	t.Parallel()
	tls := listener("tls", 9093)
	tls.TLS = true
	odd := listener("plain", 9092)
	odd.Type = "clusterip"
	at := func(i, field string) string { return "spec.kafka.listeners[" + i + "]." + field }
	for name, tc := range map[string]struct {
		kafka, old *apiv1.Kafka
		without    bool // cert-manager
		want       []string
	}{
		"two that differ":                       {kafka: kafka(listeners(listener("plain", 9092), listener("other", 9094)))},
		"capitals":                              {kafka: kafka(listeners(listener("Plain", 9092))), want: []string{"refuse kafka-listener-name " + at("0", "name")}},
		"twelve letters":                        {kafka: kafka(listeners(listener("abcdefghijkl", 9092))), want: []string{"refuse kafka-listener-name " + at("0", "name")}},
		"no name":                               {kafka: kafka(listeners(listener("", 9092))), want: []string{"refuse kafka-listener-name " + at("0", "name")}},
		"a name twice":                          {kafka: kafka(listeners(listener("a", 9092), listener("b", 9093), listener("a", 9094))), want: []string{"refuse kafka-listener-duplicate " + at("2", "name")}},
		"a port twice":                          {kafka: kafka(listeners(listener("a", 9092), listener("b", 9092))), want: []string{"refuse kafka-listener-duplicate " + at("1", "port")}},
		"a low port":                            {kafka: kafka(listeners(listener("a", 80))), want: []string{"refuse kafka-listener-port " + at("0", "port")}},
		"the control plane's":                   {kafka: kafka(listeners(listener("a", 9090))), want: []string{"refuse kafka-listener-port " + at("0", "port")}},
		"the metrics'":                          {kafka: kafka(listeners(listener("a", 9404))), want: []string{"refuse kafka-listener-port " + at("0", "port")}},
		"JMX's":                                 {kafka: kafka(listeners(listener("a", 9999))), want: []string{"refuse kafka-listener-port " + at("0", "port")}},
		"above all ports":                       {kafka: kafka(listeners(listener("a", 70000))), want: []string{"refuse kafka-listener-port " + at("0", "port")}},
		"no such type":                          {kafka: kafka(listeners(odd)), want: []string{"refuse kafka-listener-type-unknown " + at("0", "type")}},
		"TLS, run by Sluice":                    {kafka: kafka(bySluice, listeners(tls)), without: true, want: []string{"refuse kafka-listener-tls-without-cert-manager " + at("0", "tls")}},
		"TLS, and nothing is known":             {kafka: kafka(bySluice, listeners(tls)), want: []string{"warn kafka-field-without-effect " + at("0", "tls")}},
		"TLS, run by Strimzi":                   {kafka: kafka(listeners(tls)), without: true},
		"an old collision, the other way round": {old: kafka(listeners(listener("a", 9092), listener("b", 9092))), kafka: kafka(listeners(listener("b", 9092), listener("a", 9092)))},
		"an old fault, in another place":        {old: kafka(listeners(listener("A", 9092), listener("b", 9093))), kafka: kafka(listeners(listener("b", 9093), listener("A", 9092)))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := validation.Options{WithoutCertManager: tc.without}
			wantSaid(t, validation.Kafka(tc.kafka, tc.old, validation.KafkaFacts{}, opts), tc.want...)
		})
	}
}

func TestKafkaAnnotations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		annotation, value string
		wrong             bool
	}{
		"handed over":                      {annotation: apiv1.AnnotationSluiceManaged, value: "true"},
		"not handed over":                  {annotation: apiv1.AnnotationSluiceManaged, value: "false"},
		"a yes, which hands nothing over":  {annotation: apiv1.AnnotationSluiceManaged, value: "yes", wrong: true},
		"topics, in another case":          {annotation: apiv1.AnnotationSluiceTopics, value: "True", wrong: true},
		"an empty value":                   {annotation: apiv1.AnnotationSluiceTopics, wrong: true},
		"the builtin engine":               {annotation: apiv1.AnnotationRebalanceEngine, value: apiv1.EngineBuiltin},
		"Cruise Control":                   {annotation: apiv1.AnnotationRebalanceEngine, value: apiv1.EngineCruiseControl},
		"an engine that there is not":      {annotation: apiv1.AnnotationRebalanceEngine, value: "built-in", wrong: true},
		"restarts for volumes, misspelt":   {annotation: apiv1.AnnotationRollVolumes, value: "ture", wrong: true},
		"what somebody else's values mean": {annotation: "example.com/managed", value: "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{tc.annotation: tc.value} })
			var want []string
			if tc.wrong {
				want = []string{"warn kafka-annotation-value metadata.annotations[" + tc.annotation + "]"}
			}
			wantSaid(t, validation.Kafka(k, nil, validation.KafkaFacts{}, validation.Options{}), want...)
		})
	}
}

func cordon(text string, mods ...mod[apiv1.Kafka]) *apiv1.Kafka {
	return kafka(append([]mod[apiv1.Kafka]{bySluice, func(k *apiv1.Kafka) { k.Annotations[apiv1.AnnotationCordon] = text }}, mods...)...)
}

func TestCordonByHand(t *testing.T) {
	t.Parallel()
	const at = " metadata.annotations[sluice.dev/cordon]"
	version := func(v string) mod[apiv1.Kafka] { return func(k *apiv1.Kafka) { k.Spec.Kafka.Version = v } }
	draining := seen(2, 0, 1, 2, 3)
	draining.Brokers[0].Draining = true
	for name, tc := range map[string]struct {
		kafka, old *apiv1.Kafka
		known      validation.KafkaFacts
		want       []string
	}{
		"plain IDs":                            {kafka: cordon("3,4")},
		"a list":                               {kafka: cordon("[3, 4-6]")},
		"nothing":                              {kafka: cordon("")},
		"a word":                               {kafka: cordon("3, four"), want: []string{"refuse kafka-cordon-unreadable" + at}},
		"a word, where Sluice does not run it": {kafka: kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{apiv1.AnnotationCordon: "x"} }), want: []string{"refuse kafka-cordon-unreadable" + at}},
		"a word from before":                   {old: cordon("x"), kafka: cordon("x", brokerOption("num.partitions", "3"))},
		"known brokers":                        {kafka: cordon("3"), known: validation.KafkaFacts{Seen: seen(3, 0, 1, 2, 3)}},
		"an unknown one":                       {kafka: cordon("7"), known: validation.KafkaFacts{Seen: seen(3, 0, 1, 2, 3)}, want: []string{"warn kafka-cordon-unknown-broker" + at}},
		"billions of them":                     {kafka: cordon("[0-2147483647]"), known: validation.KafkaFacts{Seen: seen(1, 0)}, want: []string{"warn kafka-cordon-too-many" + at, "warn kafka-cordon-unknown-broker" + at}},
		"one that is in no pool":               {kafka: cordon("7"), known: validation.KafkaFacts{AllPools: true, Pools: []apiv1.KafkaNodePool{*pool("a", 2, nodeIDs(0, 1))}}, want: []string{"warn kafka-cordon-unknown-broker" + at}},
		"while pools may be missing":           {kafka: cordon("7"), known: validation.KafkaFacts{Pools: []apiv1.KafkaNodePool{*pool("a", 2, nodeIDs(0, 1))}}},
		"too many":                             {kafka: cordon("2,3"), known: validation.KafkaFacts{Seen: seen(3, 0, 1, 2, 3)}, want: []string{"warn kafka-cordon-too-many" + at}},
		"too many beside those that drain":     {kafka: cordon("2,3"), known: validation.KafkaFacts{Seen: draining}, want: []string{"warn kafka-cordon-too-many" + at}},
		"just enough are left":                 {kafka: cordon("2,3"), known: validation.KafkaFacts{Seen: seen(2, 0, 1, 2, 3)}},
		"an old Kafka":                         {kafka: cordon("3", version("4.2.2")), want: []string{"warn kafka-cordon-without-effect" + at}},
		"one that can":                         {kafka: cordon("3", version("4.3.0"))},
		"one of no known version":              {kafka: cordon("3", version("newest"))},
		"Sluice does not run it": {
			kafka: kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{apiv1.AnnotationCordon: "9"} }),
			known: validation.KafkaFacts{Seen: seen(3, 0)}, want: []string{"warn kafka-cordon-without-effect" + at},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := validation.Kafka(tc.kafka, tc.old, tc.known, validation.Options{})
			// Rules for options of a version belong to other tests.
			r.Refusals, r.Warnings = only(r.Refusals, "kafka-cordon"), only(r.Warnings, "kafka-cordon")
			wantSaid(t, r, tc.want...)
		})
	}
}

func only(list []validation.Finding, prefix string) []validation.Finding {
	var kept []validation.Finding
	for _, f := range list {
		if strings.HasPrefix(f.Rule, prefix) {
			kept = append(kept, f)
		}
	}
	return kept
}

func TestAutoRebalance(t *testing.T) {
	t.Parallel()
	auto := func(list ...apiv1.AutoRebalance) *apiv1.Kafka {
		return kafka(func(k *apiv1.Kafka) { k.Spec.CruiseControl = &apiv1.CruiseControlSpec{AutoRebalance: list} })
	}
	of := func(mode, template string) apiv1.AutoRebalance {
		return apiv1.AutoRebalance{Mode: mode, Template: &apiv1.TemplateReference{Name: template}}
	}
	const at = " spec.cruiseControl.autoRebalance"
	for name, tc := range map[string]struct {
		kafka     *apiv1.Kafka
		templates map[string]bool
		want      []string
	}{
		"both modes":             {kafka: auto(of("add-brokers", ""), of("remove-brokers", ""))},
		"one twice":              {kafka: auto(of("add-brokers", ""), of("add-brokers", "")), want: []string{"refuse kafka-auto-rebalance-mode" + at + "[1].mode"}},
		"none that there is":     {kafka: auto(of("full", "")), want: []string{"refuse kafka-auto-rebalance-mode" + at + "[0].mode"}},
		"a template":             {kafka: auto(of("add-brokers", "t")), templates: map[string]bool{"t": true}},
		"one that is missing":    {kafka: auto(of("add-brokers", "t")), templates: map[string]bool{"t": false}, want: []string{"warn kafka-auto-rebalance-template-missing" + at + "[0].template.name"}},
		"one that is not known":  {kafka: auto(of("add-brokers", "t"))},
		"no Cruise Control here": {kafka: kafka()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.Kafka(tc.kafka, nil, validation.KafkaFacts{Templates: tc.templates}, validation.Options{}), tc.want...)
		})
	}
}

func TestReplicationFactorOfAKafkaAndItsPools(t *testing.T) {
	t.Parallel()
	three := kafka(brokerOption("default.replication.factor", "3"), brokerOption("offsets.topic.replication.factor", `"1"`))
	const option = "join-replication-factor spec.kafka.config[default.replication.factor]"
	pools := func(list ...*apiv1.KafkaNodePool) []apiv1.KafkaNodePool {
		var all []apiv1.KafkaNodePool
		for _, p := range list {
			all = append(all, *p)
		}
		return all
	}
	unsaid := pool("b", 0)
	unsaid.Spec.Replicas = nil
	for name, tc := range map[string]struct {
		old   *apiv1.Kafka
		pools []apiv1.KafkaNodePool
		want  []string
	}{
		"no pool yet":                    {},
		"only controllers yet":           {pools: pools(pool("c", 3, roles("controller")))},
		"enough brokers":                 {pools: pools(pool("a", 2), pool("b", 1, roles("broker", "controller")))},
		"too few yet":                    {pools: pools(pool("a", 2)), want: []string{"warn " + option}},
		"too few, though all is settled": {old: kafka(settled), pools: pools(pool("a", 2)), want: []string{"refuse " + option}},
		"one pool does not say":          {pools: pools(pool("a", 2), unsaid)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.Kafka(three, tc.old, validation.KafkaFacts{Pools: tc.pools}, validation.Options{}), tc.want...)
		})
	}
	settledThree := kafka(brokerOption("default.replication.factor", "3"), settled)
	for name, tc := range map[string]struct {
		old, pool *apiv1.KafkaNodePool
		kafka     *apiv1.Kafka
		want      []string
	}{
		"a pool shrinks below it":      {old: pool("a", 3), pool: pool("a", 2), kafka: settledThree, want: []string{"refuse join-replication-factor spec.replicas"}},
		"while its Kafka is not ready": {old: pool("a", 3), pool: pool("a", 2), kafka: three, want: []string{"warn join-replication-factor spec.replicas"}},
		"and below what was too few":   {old: pool("a", 2), pool: pool("a", 1), kafka: settledThree, want: []string{"refuse join-replication-factor spec.replicas"}},
		"a pool grows, not enough":     {old: pool("a", 1), pool: pool("a", 2), kafka: settledThree},
		"a pool changes otherwise":     {old: pool("a", 2), pool: pool("a", 2, jbod("0:1Gi")), kafka: settledThree},
		"the first pool is small":      {pool: pool("a", 2), kafka: three, want: []string{"warn join-replication-factor spec.replicas"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := validation.KafkaNodePool(tc.pool, tc.old, validation.PoolFacts{Kafka: tc.kafka}, validation.Options{})
			r.Refusals, r.Warnings = only(r.Refusals, "join-replication"), only(r.Warnings, "join-replication")
			wantSaid(t, r, tc.want...)
		})
	}
}

// On a cluster that Sluice runs, a field that it does not act on is named. On
// any other it says nothing.
func TestFieldsWithoutEffect(t *testing.T) {
	t.Parallel()
	set := &apiextensionsv1.JSON{Raw: []byte(`{}`)}
	everything := func(k *apiv1.Kafka) {
		k.Spec.ClusterCA, k.Spec.KafkaExporter = set, &apiv1.KafkaExporterSpec{}
		k.Spec.EntityOperator = &apiv1.EntityOperatorSpec{TopicOperator: set, UserOperator: set}
		k.Spec.Kafka.Authorization, k.Spec.Kafka.MetricsConfig = set, set
		k.Spec.Kafka.Template = &apiv1.KafkaTemplate{
			PerPodService: set, ServiceAccount: set, InitContainer: &apiv1.ContainerTemplate{},
			PodDisruptionBudget: &apiv1.PodDisruptionBudgetTemplate{MaxUnavailable: set},
		}
		external := listener("ext", 9094)
		external.Type, external.TLS, external.Authentication = "loadbalancer", true, set
		k.Spec.Kafka.Listeners = []apiv1.KafkaListener{listener("plain", 9092), external}
	}
	const rule = "warn kafka-field-without-effect "
	want := []string{
		rule + "spec.clusterCa", rule + "spec.kafkaExporter", rule + "spec.entityOperator.topicOperator", rule + "spec.entityOperator.userOperator",
		rule + "spec.kafka.authorization", rule + "spec.kafka.metricsConfig", rule + "spec.kafka.template.perPodService",
		rule + "spec.kafka.template.initContainer", rule + "spec.kafka.template.podDisruptionBudget.maxUnavailable", rule + "spec.kafka.template.serviceAccount",
		rule + "spec.kafka.listeners[1].type", rule + "spec.kafka.listeners[1].tls", rule + "spec.kafka.listeners[1].authentication",
	}
	wantSaid(t, validation.Kafka(kafka(bySluice, everything), nil, validation.KafkaFacts{}, validation.Options{}), want...)
	wantSaid(t, validation.Kafka(kafka(everything), nil, validation.KafkaFacts{}, validation.Options{}))
	plain := func(k *apiv1.Kafka) {
		k.Spec.CruiseControl = &apiv1.CruiseControlSpec{}
		k.Spec.Kafka.Rack = &apiv1.Rack{TopologyKey: "zone"}
		k.Spec.Kafka.JVMOptions = &apiv1.JVMOptions{Xmx: "1g"}
		k.Spec.Kafka.Template = &apiv1.KafkaTemplate{
			Pod: &apiv1.PodTemplate{Affinity: set}, KafkaContainer: &apiv1.ContainerTemplate{SecurityContext: set},
			BootstrapService: &apiv1.InternalServiceTemplate{}, BrokersService: &apiv1.InternalServiceTemplate{},
			PersistentVolumeClaim: &apiv1.ResourceTemplate{}, PodDisruptionBudget: &apiv1.PodDisruptionBudgetTemplate{},
		}
		k.Spec.Kafka.Listeners = []apiv1.KafkaListener{listener("plain", 9092)}
	}
	wantSaid(t, validation.Kafka(kafka(bySluice, plain), nil, validation.KafkaFacts{}, validation.Options{}))

	p := pool("a", 3, poolTemplate(&apiv1.KafkaTemplate{PerPodIngress: set}))
	wantSaid(t, validation.KafkaNodePool(p, nil, validation.PoolFacts{Kafka: kafka(bySluice)}, validation.Options{}),
		"warn pool-field-without-effect spec.template.perPodIngress")
	wantSaid(t, validation.KafkaNodePool(p, nil, validation.PoolFacts{Kafka: kafka()}, validation.Options{}))
}

// A part that is kept as it was written is judged where Sluice is to make a pod of
// it. On a cluster of Strimzi's, its own schema and its operator judge it.
func TestFieldsThatKubernetesWouldNotTake(t *testing.T) {
	t.Parallel()
	near := &apiextensionsv1.JSON{Raw: []byte(`"near"`)}
	odd := func(k *apiv1.Kafka) {
		k.Spec.Kafka.Template = &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{Affinity: near}}
	}
	wantSaid(t, validation.Kafka(kafka(bySluice, odd), nil, validation.KafkaFacts{}, validation.Options{}),
		"refuse kafka-field-unreadable spec.kafka.template.pod.affinity")
	wantSaid(t, validation.Kafka(kafka(bySluice, odd), kafka(bySluice, odd), validation.KafkaFacts{}, validation.Options{}))
	wantSaid(t, validation.Kafka(kafka(odd), nil, validation.KafkaFacts{}, validation.Options{}))

	p := pool("a", 3, func(p *apiv1.KafkaNodePool) { p.Spec.Resources = near })
	wantSaid(t, validation.KafkaNodePool(p, nil, validation.PoolFacts{Kafka: kafka(bySluice)}, validation.Options{}),
		"refuse pool-field-unreadable spec.resources")
	wantSaid(t, validation.KafkaNodePool(p, nil, validation.PoolFacts{Kafka: kafka()}, validation.Options{}))
	wantSaid(t, validation.KafkaNodePool(p, nil, validation.PoolFacts{}, validation.Options{}))
}

func TestNamesOfSluicesOwnVolumes(t *testing.T) {
	t.Parallel()
	own := kafkaTemplate(template(secret("sluice-config", "x")))
	wantSaid(t, validation.Kafka(kafka(own), nil, validation.KafkaFacts{}, validation.Options{}))
	wantSaid(t, validation.Kafka(kafka(own, bySluice), nil, validation.KafkaFacts{}, validation.Options{}),
		"refuse volume-name-reserved spec.kafka.template.pod.templatedVolumes[0].name")
}

func TestRebalance(t *testing.T) {
	t.Parallel()
	rebalance := func(spec apiv1.KafkaRebalanceSpec) *apiv1.KafkaRebalance {
		r := &apiv1.KafkaRebalance{Spec: spec}
		r.Namespace, r.Name, r.Labels = "kafka", "move", map[string]string{apiv1.LabelCluster: "my-cluster"}
		return r
	}
	template := rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers", Goals: []string{"g"}, RebalanceDisk: true})
	template.Annotations = map[string]string{apiv1.AnnotationRebalanceTemplate: "true"}
	nine := int64(9)
	for name, tc := range map[string]struct {
		rebalance, old *apiv1.KafkaRebalance
		known          validation.RebalanceFacts
		want           []string
	}{
		"full":                        {rebalance: rebalance(apiv1.KafkaRebalanceSpec{})},
		"full of some brokers":        {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Brokers: []int64{1}}), want: []string{"warn rebalance-brokers-ignored spec.brokers"}},
		"no such mode":                {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "half"}), want: []string{"refuse rebalance-mode-unknown spec.mode"}},
		"to no brokers":               {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers"}), want: []string{"refuse rebalance-brokers-missing spec.brokers"}},
		"off no brokers":              {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers", Brokers: []int64{}}), want: []string{"refuse rebalance-brokers-missing spec.brokers"}},
		"off no volumes":              {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-disks"}), want: []string{"refuse rebalance-volumes-missing spec.moveReplicasOffVolumes"}},
		"disks by goals":              {rebalance: rebalance(apiv1.KafkaRebalanceSpec{RebalanceDisk: true, Goals: []string{"g"}}), want: []string{"refuse rebalance-disk-with-goals spec.goals"}},
		"a template may lack it all":  {rebalance: template},
		"until it is no template":     {old: template, rebalance: rebalance(template.Spec), want: []string{"refuse rebalance-brokers-missing spec.brokers", "refuse rebalance-disk-with-goals spec.goals"}},
		"an old fault stays":          {old: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers"}), rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers", Goals: []string{"g"}})},
		"in another mode it is new":   {old: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers"}), rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers"}), want: []string{"refuse rebalance-brokers-missing spec.brokers"}},
		"brokers that there are":      {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers", Brokers: []int64{3}}), known: validation.RebalanceFacts{Seen: seen(3, 0, 1, 2, 3)}},
		"one that there is not":       {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers", Brokers: []int64{1, 9}}), known: validation.RebalanceFacts{Seen: seen(3, 0, 1, 2, 3)}, want: []string{"warn rebalance-broker-unknown spec.brokers[1]"}},
		"one that nobody can be":      {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers", Brokers: []int64{1 << 40}}), known: validation.RebalanceFacts{Seen: seen(3, 0, 1, 2, 3)}, want: []string{"warn rebalance-broker-unknown spec.brokers[0]"}},
		"a volume of none":            {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-disks", MoveReplicasOffVolumes: []apiv1.BrokerVolumes{{BrokerID: &nine}}}), known: validation.RebalanceFacts{Seen: seen(3, 0, 1, 2, 3)}, want: []string{"warn rebalance-broker-unknown spec.moveReplicasOffVolumes[0].brokerId"}},
		"known from the pools":        {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "add-brokers", Brokers: []int64{9}}), known: validation.RebalanceFacts{AllPools: true, Pools: []apiv1.KafkaNodePool{*pool("a", 1, nodeIDs(0))}}, want: []string{"warn rebalance-broker-unknown spec.brokers[0]"}},
		"of a cluster that is hidden": {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers", Brokers: []int64{0, 1, 2, 3, 4}})},
		"too many":                    {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers", Brokers: []int64{2, 3}}), known: validation.RebalanceFacts{Seen: seen(3, 0, 1, 2, 3)}, want: []string{"refuse rebalance-removes-too-many spec.brokers"}},
		"one twice is one":            {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers", Brokers: []int64{3, 3}}), known: validation.RebalanceFacts{Seen: seen(3, 0, 1, 2, 3)}},
		"while no topic is known":     {rebalance: rebalance(apiv1.KafkaRebalanceSpec{Mode: "remove-brokers", Brokers: []int64{0}}), known: validation.RebalanceFacts{Seen: &facts.Facts{Brokers: []facts.Broker{{ID: 0}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.KafkaRebalance(tc.rebalance, tc.old, tc.known, validation.Options{}), tc.want...)
		})
	}
}

func TestReplicasOfATopicWithoutAnEngine(t *testing.T) {
	t.Parallel()
	withEngine := kafka(func(k *apiv1.Kafka) { k.Spec.CruiseControl = &apiv1.CruiseControlSpec{} })
	handed := func(k *apiv1.Kafka, engine string) *apiv1.Kafka {
		k = k.DeepCopy()
		k.Annotations = map[string]string{"sluice.dev/topics": "true"}
		if engine != "" {
			k.Annotations["sluice.dev/rebalance-engine"] = engine
		}
		return k
	}
	notHanded := kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{"sluice.dev/topics": "True"} })
	twoObserved := topic(created("orders", 1), func(k *apiv1.KafkaTopic) { k.Status.Replicas = 2 })
	want := []string{"warn topic-replicas-without-engine spec.replicas"}
	for name, tc := range map[string]struct {
		old, topic *apiv1.KafkaTopic
		kafka      *apiv1.Kafka
		want       []string
	}{
		"nobody can move them":                          {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), kafka(), want},
		"Sluice itself can":                             {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), handed(kafka(), ""), nil},
		"it can beside Cruise Control if it is told to": {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), handed(withEngine, "builtin"), nil},
		"it does not drive Cruise Control":              {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), handed(withEngine, ""), want},
		"a word that hands nothing over":                {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), notHanded, want},
		"nor one that is asked for":                     {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), handed(kafka(), "cruise-control"), want},
		"Cruise Control can":                            {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), withEngine, nil},
		"nothing is known":                              {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(3)), nil, nil},
		"a topic that never was":                        {topic(replicas(2)), topic(replicas(3)), kafka(), nil},
		"the same number":                               {topic(created("orders", 1), replicas(2)), topic(created("orders", 1), replicas(2), partitions(3)), kafka(), nil},
		"the number is first written":                   {twoObserved, topic(created("orders", 1), replicas(3)), kafka(), want},
		"as it is":                                      {twoObserved, topic(created("orders", 1), replicas(2)), kafka(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSaid(t, validation.KafkaTopic(tc.topic, tc.old, validation.TopicFacts{Kafka: tc.kafka}, validation.Options{}), tc.want...)
		})
	}
}
