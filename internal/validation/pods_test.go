package validation_test

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

// Paths in a pool, for short.
const (
	atVolume = "spec.template.pod.templatedVolumes"
	atPlain  = "spec.template.pod.volumes"
	atMount  = "spec.template.kafkaContainer.volumeMounts"
	atText   = "metadata.annotations[sluice.dev/pod-templated-volumes]"
)

// with changes a template.
func with(t *apiv1.KafkaTemplate, change func(*apiv1.KafkaTemplate)) *apiv1.KafkaTemplate {
	change(t)
	return t
}

// plain adds volumes that are not templated, and mounts them.
func plain(t *apiv1.KafkaTemplate, volumes ...apiv1.AdditionalVolume) *apiv1.KafkaTemplate {
	t.Pod.Volumes = volumes
	for _, v := range volumes {
		t.KafkaContainer.VolumeMounts = append(t.KafkaContainer.VolumeMounts, mount(v.Name))
	}
	return t
}

func plainSecret(volume, name string, items ...corev1.KeyToPath) apiv1.AdditionalVolume {
	return apiv1.AdditionalVolume{Name: volume, Secret: &corev1.SecretVolumeSource{SecretName: name, Items: items}}
}

func raw(json string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(json)} }

func TestPodTemplateOfAPool(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	creds := secret("creds", "creds-{nodeId}")
	setMount := func(change func(*corev1.VolumeMount)) *apiv1.KafkaTemplate {
		return with(template(creds), func(t *apiv1.KafkaTemplate) { change(&t.KafkaContainer.VolumeMounts[0]) })
	}
	for name, tc := range map[string]struct {
		template   *apiv1.KafkaTemplate
		annotation string
		mods       []mod[apiv1.KafkaNodePool]
		facts      validation.PoolFacts
		want       []string
	}{
		"every source, mounted": {template: template(
			secret("s", "s-{nodeId}", item("k-{nodeId}", "{nodePodName}/k")), configMap("c1", "{nodePodName}-c"), claim("p1", "p-{nodeId}")),
			facts: validation.PoolFacts{Kafka: kafka(func(k *apiv1.Kafka) { k.Annotations = map[string]string{apiv1.AnnotationSluiceManaged: "true"} })}},
		"the annotation stands for the field": {template: mounting("creds"), annotation: `[{"name":"creds","secret":{"secretName":"creds-{nodeId}"}}]`},
		"the field wins over the annotation": {
			template: template(creds), annotation: `[{"name":"Other"}]`, want: []string{"warn templated-volumes-annotation-unused " + atText},
		},
		"an annotation that is no list": {template: mounting("creds"), annotation: `{a: b}`, want: []string{"refuse templated-volumes-unreadable " + atText}},
		"faults in the annotation have its path": {
			template: mounting("Creds"), annotation: "- name: Creds\n  emptyDir: {}\n",
			want: []string{"refuse volume-name-illegal " + atText + "[0].name", "refuse templated-volume-source " + atText + "[0].emptyDir"},
		},
		"a name of 63 characters":              {template: template(secret(long, "x-{nodeId}"))},
		"a name of 64 characters":              {template: template(secret(long+"a", "x-{nodeId}")), want: []string{"refuse volume-name-illegal " + atVolume + "[0].name"}},
		"a name with underscores":              {template: template(secret("a_b", "x-{nodeId}")), want: []string{"refuse volume-name-illegal " + atVolume + "[0].name"}},
		"no name at all":                       {template: with(template(secret("", "x-{nodeId}")), func(t *apiv1.KafkaTemplate) { t.KafkaContainer = nil }), want: []string{"refuse volume-name-illegal " + atVolume + "[0].name"}},
		"one character is too few for Strimzi": {template: template(secret("s", "x-{nodeId}")), want: []string{"warn volume-name-illegal " + atVolume + "[0].name"}},
		"a plain volume's name with capitals": {
			template: plain(template(), plainSecret("Creds", "creds")), want: []string{"refuse volume-name-illegal " + atPlain + "[0].name"},
		},
		"a placeholder in a name": {
			template: template(secret("x-{nodeId}", "creds")),
			want:     []string{"refuse volume-name-illegal " + atVolume + "[0].name", "refuse mount-placeholder " + atMount + "[0].name", "refuse mount-placeholder " + atMount + "[0].mountPath"},
		},
		"two of one name": {
			template: with(template(creds), func(t *apiv1.KafkaTemplate) { t.Pod.TemplatedVolumes = append(t.Pod.TemplatedVolumes, creds) }),
			want:     []string{"refuse volume-name-duplicate " + atVolume + "[1].name"},
		},
		"two plain ones of one name": {
			template: with(plain(template(), plainSecret("creds", "a")), func(t *apiv1.KafkaTemplate) { t.Pod.Volumes = append(t.Pod.Volumes, plainSecret("creds", "b")) }),
			want:     []string{"refuse volume-name-duplicate " + atPlain + "[1].name"},
		},
		"names that the operator always uses": {
			template: template(secret("data", "x-{nodeId}"), secret("data-17", "x-{nodeId}"), secret("strimzi-tmp", "x-{nodeId}"),
				secret("kafka-metrics-and-logging", "x-{nodeId}"), secret("ready-files", "x-{nodeId}")),
			want: []string{"refuse volume-name-reserved " + atVolume + "[0].name", "refuse volume-name-reserved " + atVolume + "[1].name",
				"refuse volume-name-reserved " + atVolume + "[2].name", "refuse volume-name-reserved " + atVolume + "[3].name", "refuse volume-name-reserved " + atVolume + "[4].name"},
		},
		"names that it uses sometimes": {
			template: template(secret("rack-volume", "x-{nodeId}"), secret("kube-api-access", "x-{nodeId}")),
			want:     []string{"warn volume-name-reserved " + atVolume + "[0].name", "warn volume-name-reserved " + atVolume + "[1].name"},
		},
		"names that only look like the operator's": {template: template(secret("data-x", "x-{nodeId}"), secret("my-data-0", "x-{nodeId}"))},
		"Connect's names are free on Kafka's pods": {template: template(secret("kafka-connect-configurations", "x-{nodeId}"))},
		"csi and image are not templated, like emptyDir": {
			template: template(apiv1.TemplatedVolume{Name: "aa", CSI: raw("{}")}, apiv1.TemplatedVolume{Name: "bb", Image: raw("{}")}),
			want:     []string{"refuse templated-volume-source " + atVolume + "[0].csi", "refuse templated-volume-source " + atVolume + "[1].image"},
		},
		"an unclosed brace in a name": {
			template: template(secret("creds", "creds-{nodeId")), want: []string{"refuse templated-volume-placeholder " + atVolume + "[0].secret.secretName"},
		},
		"an unknown placeholder in a key": {
			template: template(secret("creds", "x", item("k-{podName}", "k"))), want: []string{"refuse templated-volume-placeholder " + atVolume + "[0].secret.items[0].key"},
		},
		"an unknown placeholder in a path stays literal": {
			template: template(secret("creds", "x", item("k", "{podName}/k"))), want: []string{"warn templated-volume-placeholder " + atVolume + "[0].secret.items[0].path"},
		},
		"placeholders in plain volumes are literal": {
			template: plain(template(), plainSecret("aa", "x", item("k", "{nodeId}.key")), apiv1.AdditionalVolume{Name: "bb", CSI: raw(`{"volumeAttributes":{"a":"{nodePodName}"}}`)}),
			want:     []string{"warn volume-placeholder-literal " + atPlain + "[0].secret.items[0].path", "warn volume-placeholder-literal " + atPlain + "[1].csi"},
		},
		"the braces of JSON are no placeholders": {template: plain(template(), apiv1.AdditionalVolume{Name: "aa", EmptyDir: raw(`{"medium":"Memory"}`)})},
		"a Secret's name with capitals":          {template: template(secret("creds", "Creds")), want: []string{"refuse templated-volume-expansion " + atVolume + "[0].secret.secretName"}},
		"no name of a ConfigMap":                 {template: template(configMap("creds", "")), want: []string{"refuse templated-volume-expansion " + atVolume + "[0].configMap.name"}},
		"a name too long for one node only": {
			template: template(secret("creds", strings.Repeat("a", 251)+"-{nodeId}")), mods: []mod[apiv1.KafkaNodePool]{nodeIDs(0, 5, 10)},
			want: []string{"refuse templated-volume-expansion " + atVolume + "[0].secret.secretName"},
		},
		"long enough for the nodes that there are": {
			template: template(secret("creds", strings.Repeat("a", 251)+"-{nodeId}")), mods: []mod[apiv1.KafkaNodePool]{nodeIDs(0, 5)},
		},
		"a key with a slash": {template: template(secret("creds", "x", item("a/b", "k"))), want: []string{"refuse templated-volume-expansion " + atVolume + "[0].secret.items[0].key"}},
		"paths that leave the volume": {
			template: template(secret("creds", "x", item("a", "/etc"), item("b", "b/../c"), item("c", "..c"), item("d", ""), item("e", "e/..e"))),
			want: []string{"refuse templated-volume-expansion " + atVolume + "[0].secret.items[0].path", "refuse templated-volume-expansion " + atVolume + "[0].secret.items[1].path",
				"refuse templated-volume-expansion " + atVolume + "[0].secret.items[2].path", "refuse templated-volume-expansion " + atVolume + "[0].secret.items[3].path"},
		},
		"two items with one path": {
			template: template(secret("creds", "x", item("a", "k"), item("b", "./k"))), want: []string{"refuse templated-volume-items-collide " + atVolume + "[0].secret.items[1].path"},
		},
		"two items with one path on one node": {
			template: template(secret("creds", "x", item("a", "k-5"), item("b", "k-{nodeId}"))), mods: []mod[apiv1.KafkaNodePool]{nodeIDs(4, 5, 6)},
			want: []string{"refuse templated-volume-items-collide " + atVolume + "[0].secret.items[1].path"},
		},
		"one claim for all nodes":              {template: template(claim("audit", "audit")), want: []string{"warn templated-volume-claim-shared " + atVolume + "[0].persistentVolumeClaim.claimName"}},
		"one claim for one node":               {template: template(claim("audit", "audit")), mods: []mod[apiv1.KafkaNodePool]{func(p *apiv1.KafkaNodePool) { *p.Spec.Replicas = 1 }}},
		"one claim for a node that is leaving": {template: template(claim("audit", "audit")), mods: []mod[apiv1.KafkaNodePool]{nodeIDs(0, 1), func(p *apiv1.KafkaNodePool) { *p.Spec.Replicas = 1 }}, want: []string{"warn templated-volume-claim-shared " + atVolume + "[0].persistentVolumeClaim.claimName"}},
		"nothing mounts it": {
			template: with(template(creds), func(t *apiv1.KafkaTemplate) { t.KafkaContainer = nil }), want: []string{"warn templated-volume-unmounted " + atVolume + "[0].name"},
		},
		"the init container mounts it": {template: with(template(creds), func(t *apiv1.KafkaTemplate) { t.InitContainer, t.KafkaContainer = t.KafkaContainer, nil })},
		"the Kafka's container mounts it": {
			template: with(template(creds), func(t *apiv1.KafkaTemplate) { t.KafkaContainer = nil }),
			facts:    validation.PoolFacts{Kafka: kafka(kafkaTemplate(mounting("creds")))},
		},
		"a placeholder in the mount of a templated volume": {
			template: setMount(func(m *corev1.VolumeMount) { m.MountPath, m.SubPath = "/mnt/{nodeId}", "{nodePodName}" }),
			want:     []string{"refuse mount-placeholder " + atMount + "[0].mountPath", "refuse mount-placeholder " + atMount + "[0].subPath"},
		},
		"braces in the mount of a templated volume that are no placeholder": {
			template: setMount(func(m *corev1.VolumeMount) { m.MountPath = "/mnt/{id}" }), want: []string{"warn mount-placeholder " + atMount + "[0].mountPath"},
		},
		"a placeholder in another mount is literal": {
			template: with(plain(template(), plainSecret("creds", "x")), func(t *apiv1.KafkaTemplate) { t.KafkaContainer.VolumeMounts[0].MountPath = "/mnt/{nodeId}" }),
			want:     []string{"warn mount-placeholder " + atMount + "[0].mountPath"},
		},
		"a mount at /mnt itself":        {template: setMount(func(m *corev1.VolumeMount) { m.MountPath = "/mnt" })},
		"a mount with a trailing slash": {template: setMount(func(m *corev1.VolumeMount) { m.MountPath = "/mnt/a/" })},
		"a relative mount":              {template: setMount(func(m *corev1.VolumeMount) { m.MountPath = "mnt/a" }), want: []string{"refuse mount-path " + atMount + "[0].mountPath"}},
		"no mount path":                 {template: setMount(func(m *corev1.VolumeMount) { m.MountPath = "" }), want: []string{"refuse mount-path " + atMount + "[0].mountPath"}},
		"one path written in two ways": {
			template: with(template(creds, secret("more", "more-{nodeId}")), func(t *apiv1.KafkaTemplate) {
				t.KafkaContainer.VolumeMounts[0].MountPath, t.KafkaContainer.VolumeMounts[1].MountPath = "/mnt/a", "/mnt/x/../a/"
			}),
			want: []string{"refuse mount-path-duplicate " + atMount + "[1].mountPath"},
		},
		"one path in two containers is fine": {template: with(template(creds), func(t *apiv1.KafkaTemplate) { t.InitContainer = t.KafkaContainer })},
		"a mount of the operator's own volume": {
			template: with(template(), func(t *apiv1.KafkaTemplate) {
				t.KafkaContainer.VolumeMounts = []corev1.VolumeMount{mount("data-0"), mount("rack-volume")}
			}),
		},
		"a mount of no volume is final with a pod template": {template: with(mounting("creds"), func(t *apiv1.KafkaTemplate) { t.Pod = &apiv1.PodTemplate{} }),
			want: []string{"refuse mount-of-no-volume " + atMount + "[0].name"}},
		"and open without one":                        {template: mounting("creds")},
		"a list that cannot be read hides no mount":   {template: with(mounting("creds"), func(t *apiv1.KafkaTemplate) { t.Pod = &apiv1.PodTemplate{} }), annotation: "[", want: []string{"refuse templated-volumes-unreadable " + atText}},
		"the annotation does not make a mount final":  {template: mounting("other", "creds"), annotation: `[{"name":"creds","secret":{"secretName":"creds-{nodeId}"}}]`},
		"a blank annotation counts as none, unspoken": {template: mounting("creds"), annotation: " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mods := append([]mod[apiv1.KafkaNodePool]{poolTemplate(tc.template)}, tc.mods...)
			if tc.annotation != "" {
				mods = append(mods, poolAnnotation(tc.annotation))
			}
			p := pool("brokers", 3, mods...)
			wantSaid(t, validation.KafkaNodePool(p, nil, tc.facts, validation.Options{}), tc.want...)
			wantSaid(t, validation.KafkaNodePool(p, p, tc.facts, validation.Options{}))
		})
	}
}

func TestPodTemplateOfWorkers(t *testing.T) {
	t.Parallel()
	spec := func(replicas int64, volumes ...apiv1.TemplatedVolume) apiv1.ConnectSpec {
		t := template(volumes...)
		return apiv1.ConnectSpec{Replicas: &replicas, Template: &apiv1.ConnectTemplate{Pod: t.Pod, ConnectContainer: t.KafkaContainer}}
	}
	dangling := spec(1)
	dangling.Template.ConnectContainer.VolumeMounts = []corev1.VolumeMount{mount("creds")}
	built := spec(1)
	built.Template.BuildPod = &apiv1.OtherPodTemplate{TemplatedVolumes: raw("[]")}
	for name, tc := range map[string]struct {
		spec apiv1.ConnectSpec
		want []string
		// mm2 is what differs for MirrorMaker 2.
		mm2 []string
	}{
		"a Secret for each worker": {spec: spec(3, secret("creds", "creds-{nodeId}"))},
		"the operator's names": {
			spec: spec(1, secret("kafka-connect-configurations", "a"), secret("strimzi-tmp", "a"), secret("plugin-x-0a1b2c", "a"), secret("rack-volume", "a")),
			want: []string{"refuse volume-name-reserved " + atVolume + "[0].name", "refuse volume-name-reserved " + atVolume + "[1].name",
				"warn volume-name-reserved " + atVolume + "[2].name", "warn volume-name-reserved " + atVolume + "[3].name"},
			mm2: []string{"refuse volume-name-reserved " + atVolume + "[0].name", "refuse volume-name-reserved " + atVolume + "[1].name",
				"warn volume-name-reserved " + atVolume + "[3].name"},
		},
		"data is a name like any other": {spec: spec(1, secret("data-0", "a"))},
		"a name that the last worker breaks": {
			spec: spec(11, secret("creds", strings.Repeat("a", 251)+"-{nodeId}")), want: []string{"refuse templated-volume-expansion " + atVolume + "[0].secret.secretName"},
		},
		"ever so many workers take no time": {
			spec: spec(math.MaxInt64, secret("creds", strings.Repeat("a", 240)+"-{nodeId}")), want: []string{"refuse templated-volume-expansion " + atVolume + "[0].secret.secretName"},
		},
		"fewer than no workers":          {spec: spec(-5, secret("creds", "creds-{nodeId}"))},
		"one claim for two workers":      {spec: spec(2, claim("audit", "audit")), want: []string{"warn templated-volume-claim-shared " + atVolume + "[0].persistentVolumeClaim.claimName"}},
		"a mount of no volume":           {spec: dangling, want: []string{"refuse mount-of-no-volume spec.template.connectContainer.volumeMounts[0].name"}},
		"a list for the pod that builds": {spec: built, want: []string{"refuse templated-volumes-misplaced spec.template.buildPod.templatedVolumes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := metav1.ObjectMeta{Namespace: "kafka", Name: "c"}
			wantSaid(t, validation.KafkaConnect(&apiv1.KafkaConnect{ObjectMeta: meta, Spec: tc.spec}, nil, validation.Options{}), tc.want...)
			if tc.mm2 == nil {
				tc.mm2 = tc.want
			}
			wantSaid(t, validation.KafkaMirrorMaker2(&apiv1.KafkaMirrorMaker2{ObjectMeta: meta, Spec: tc.spec}, nil, validation.Options{}), tc.mm2...)
		})
	}
}

func TestVolumesThatStrimziMakesOfSecrets(t *testing.T) {
	t.Parallel()
	const warned = "warn volume-name-reserved " + atVolume
	connect := func(volumes ...apiv1.TemplatedVolume) apiv1.ConnectSpec {
		t := template(volumes...)
		return apiv1.ConnectSpec{
			TLS:            raw(`{"trustedCertificates":[{"secretName":"ca","certificate":"ca.crt"},{"secretName":""},7]}`),
			Authentication: raw(`{"type":"tls","certificateAndKey":{"secretName":"me","key":"k"}}`),
			Template:       &apiv1.ConnectTemplate{Pod: t.Pod, ConnectContainer: t.KafkaContainer},
		}
	}
	mm2 := connect(secret("to-ca", "a"), secret("from-user", "a"), secret("ca-of", "a"), secret("ca", "a"))
	mm2.TLS, mm2.Authentication = nil, raw(`"odd"`)
	mm2.Target = raw(`{"alias":"to","tls":{"trustedCertificates":[{"secretName":"ca"}]}}`)
	mm2.Mirrors = raw(`[{"source":{"alias":"from","authentication":{"passwordSecret":{"secretName":"user"}}}},{"source":[]},null]`)
	mm2.Template.ConnectContainer.VolumeMounts = append(mm2.Template.ConnectContainer.VolumeMounts, mount("from-user"), mount("from-ca"))
	mm2.Template.ConnectContainer.VolumeMounts[4].MountPath = "/mnt/again"

	meta := metav1.ObjectMeta{Namespace: "kafka", Name: "c"}
	wantSaid(t, validation.KafkaConnect(&apiv1.KafkaConnect{ObjectMeta: meta, Spec: connect(secret("ca", "a"), secret("me", "a"), secret("tls", "a"))}, nil, validation.Options{}),
		warned+"[0].name", warned+"[1].name")
	wantSaid(t, validation.KafkaMirrorMaker2(&apiv1.KafkaMirrorMaker2{ObjectMeta: meta, Spec: mm2}, nil, validation.Options{}),
		warned+"[0].name", warned+"[1].name", "refuse mount-of-no-volume spec.template.connectContainer.volumeMounts[5].name")

	mounted := connect()
	mounted.Template.ConnectContainer.VolumeMounts = append(mounted.Template.ConnectContainer.VolumeMounts, mount("ca"))
	wantSaid(t, validation.KafkaConnect(&apiv1.KafkaConnect{ObjectMeta: meta, Spec: mounted}, nil, validation.Options{}))
}

// TestAnExpansionNamesTheFirstNodeThatItFailsFor judges many nodes by few of
// them, which must not show in what is said.
func TestAnExpansionNamesTheFirstNodeThatItFailsFor(t *testing.T) {
	t.Parallel()
	first := func(prefix int, text string) *apiv1.KafkaTemplate {
		return template(secret("creds", strings.Repeat("a", prefix)+text))
	}
	long := strings.Repeat("p", 20)
	for name, tc := range map[string]struct {
		template *apiv1.KafkaTemplate
		pools    []*apiv1.KafkaNodePool
		want     string
	}{
		"the ID has one digit too many": {
			template: first(252, "{nodeId}"), pools: []*apiv1.KafkaNodePool{pool("a", 1, nodeIDs(7, 8, 11, 12))}, want: "for node 11 ",
		},
		"another pool's name is longer": {
			// my-cluster-a-0 has 14 characters.
			template: first(239, "{nodePodName}"), pools: []*apiv1.KafkaNodePool{pool("a", 1, nodeIDs(0, 1)), pool("b"+long, 1, nodeIDs(2, 3))}, want: "for node 2 ",
		},
		"the pod's name is too long only with its ID": {
			template: first(239, "{nodePodName}"), pools: []*apiv1.KafkaNodePool{pool("a", 1, nodeIDs(0, 1, 10)), pool("b"+long, 1, nodeIDs(2, 3))}, want: "for node 10 ",
		},
		"all have room": {
			template: first(230, "{nodePodName}"), pools: []*apiv1.KafkaNodePool{pool("a", 1, nodeIDs(0, 1, 10))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var facts validation.KafkaFacts
			for _, p := range tc.pools {
				facts.Pools = append(facts.Pools, *p)
			}
			r := validation.Kafka(kafka(kafkaTemplate(tc.template)), nil, facts, validation.Options{})
			said := strings.Join(r.WarningTexts(), "\n")
			if len(r.Refusals) > 0 || !strings.Contains(said, tc.want) || tc.want == "" && said != "" {
				t.Errorf("got %q, want %q", said, tc.want)
			}
		})
	}
}
