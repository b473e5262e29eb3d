package integration

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"software.sslmate.com/src/go-pkcs12"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	operatoroptions "github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/test/harness"
	testkafka "github.com/sluice-kafka/sluice/test/kafka"
	"github.com/sluice-kafka/sluice/test/kafka/kafkatest"
)

// strimziTopics is the value of the label that Strimzi's Deployment selects by.
const strimziTopics = "my-cluster"

// topicOnlyEnv is a topic-only Sluice in its own namespace, under Strimzi's Role and
// between a real API server, whose requests are recorded, and a real Kafka.
type topicOnlyEnv struct {
	*topicEnv
	deployed harness.TopicOnly
	requests *requests
}

// newTopicOnlyEnv applies the manifest to a namespace that takes only pods that are
// restricted.
func newTopicOnlyEnv(t *testing.T, cp *harness.ControlPlane, cluster *testkafka.Cluster, name string) *topicOnlyEnv {
	t.Helper()
	env := newTopicEnv(t, &harness.Installation{ControlPlane: cp}, cluster, name, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	e := &topicOnlyEnv{topicEnv: env, requests: recordRequests(t, cp.Config)}
	e.deployed = harness.TopicOnly{ControlPlane: cp, APIServer: e.requests.config, Dir: t.TempDir()}
	raw, err := os.Open(filepath.Join("testdata", "topic-operator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	objects, err := harness.DecodeYAML(raw)
	if err != nil {
		t.Fatal(err)
	}
	strict := client.WithFieldValidation(cp.Client, metav1.FieldValidationStrict)
	for _, o := range objects {
		o.SetNamespace(name)
		if subjects, found, _ := unstructured.NestedSlice(o.Object, "subjects"); found {
			subjects[0].(map[string]any)["namespace"] = name
			_ = unstructured.SetNestedSlice(o.Object, subjects, "subjects")
		}
		if err := strict.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	e.deployed.Deployment = decode[appsv1.Deployment](t, objects, "Deployment", "strimzi-topic-operator")
	return e
}

// deploy runs the Deployment's pod; env replaces variables.
func (e *topicOnlyEnv) deploy(env map[string]string) {
	e.Helper()
	e.deployed.Env = map[string]string{"STRIMZI_KAFKA_BOOTSTRAP_SERVERS": strings.Join(e.kafka.BootstrapServers, ",")}
	for name, value := range env {
		e.deployed.Env[name] = value
	}
	op, err := e.deployed.Start(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	e.operator = op
	e.Cleanup(func() {
		if e.operator == op {
			e.stop()
		}
	})
}

// newTopic builds a resource that Strimzi's Deployment selects.
func (e *topicOnlyEnv) newTopic(i int, spec apiv1.KafkaTopicSpec) *apiv1.KafkaTopic {
	kt := e.topic(i, spec)
	kt.Labels = map[string]string{apiv1.LabelCluster: strimziTopics}
	return kt
}

func topicOnlyParts(t *testing.T, options testkafka.Options) (*harness.ControlPlane, *testkafka.Cluster) {
	t.Helper()
	cluster := kafkatest.Start(t, options)
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	var crds []*unstructured.Unstructured
	for _, o := range render(t, nil) {
		if o.GetKind() == "CustomResourceDefinition" {
			crds = append(crds, o)
		}
	}
	if err := cp.Install(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	return cp, cluster
}

// TestTopicOnly runs Strimzi's standalone Deployment with nothing but the image
// replaced: its Role, its argument, its variables but for Kafka's address. Then with
// the variables that an encrypted Kafka with a login needs, those of Strimzi 0.51 and
// of 1.0 and newer.
func TestTopicOnly(t *testing.T) {
	t.Parallel()
	authority, err := testkafka.NewAuthority("brokers")
	if err != nil {
		t.Fatal(err)
	}
	cp, cluster := topicOnlyParts(t, testkafka.Options{
		Heap: "512m", Authority: authority, Users: map[string]string{secureUser: securePassword},
		Listeners: []testkafka.Listener{{Name: "MUTUAL", TLS: true, Mutual: true}, {Name: "BOTH", TLS: true, Mechanisms: []string{"PLAIN", "SCRAM-SHA-512"}}},
	})
	tests := []struct {
		name string
		run  func(*topicOnlyEnv)
	}{
		{"standalone", topicOnlyAsDeployed},
		{"stores", func(e *topicOnlyEnv) { topicOnlyByStores(e, authority) }},
		{"secrets", func(e *topicOnlyEnv) { topicOnlyBySecrets(e, authority) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(newTopicOnlyEnv(t, cp, cluster, test.name)) })
	}
}

func topicOnlyAsDeployed(e *topicOnlyEnv) {
	e.checkPod()
	namespace(e.T, e.installed.Client, "elsewhere", nil)
	other, unlabelled := e.newTopic(1, apiv1.KafkaTopicSpec{}), e.newTopic(2, apiv1.KafkaTopicSpec{})
	other.Namespace, unlabelled.Labels = "elsewhere", nil
	for _, kt := range []*apiv1.KafkaTopic{e.newTopic(0, apiv1.KafkaTopicSpec{}), other, unlabelled} {
		if err := e.kube.Create(e.Context(), kt); err != nil {
			e.Fatal(err)
		}
	}
	e.deploy(nil)
	e.waitTopics(2, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) || kt.Labels == nil })
	e.checkProbes(metricBatches + `{cluster="` + strimziTopics + `"}`)
	seen := e.details()[e.inKafka(0)].ID
	id := base64.RawURLEncoding.EncodeToString(seen[:]) // as Kafka writes it
	e.checkNames([]string{e.inKafka(0)})
	for _, kt := range e.list() {
		switch {
		case kt.Labels == nil:
			if kt.Status.Conditions != nil || kt.Finalizers != nil {
				e.Errorf("a resource that is not selected was touched: %+v", kt)
			}
		case kt.Status.TopicName != e.inKafka(0) || kt.Status.TopicID != id || !slices.Contains(kt.Finalizers, apiv1.FinalizerTopic):
			e.Errorf("the status is %+v, the finalizers %v", kt.Status, kt.Finalizers)
		}
	}

	if err := e.patch(e.Context(), 0, `{"spec":{"partitions":3,"config":{"retention.ms":3600000}}}`); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(2, func(kt *apiv1.KafkaTopic) bool { return isReady(kt) || kt.Labels == nil })
	e.waitOptions(e.inKafka(0), 3, "3600000")

	if err := e.kube.Delete(e.Context(), e.newTopic(0, apiv1.KafkaTopicSpec{})); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(1, func(*apiv1.KafkaTopic) bool { return true })
	e.waitInKafka(0)
	e.stop() // in order, and without having been forbidden anything by its own account
	e.checkRequests()
	e.checkWords(`"msg":"Stopped"`)
}

// topicOnlyByStores logs in over TLS, with a trust store.
func topicOnlyByStores(e *topicOnlyEnv, authority *testkafka.Authority) {
	block, _ := pem.Decode(authority.CA())
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		e.Fatal(err)
	}
	store, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca}, "letmein")
	if err != nil {
		e.Fatal(err)
	}
	path := filepath.Join(e.TempDir(), "trust.p12")
	if err := os.WriteFile(path, store, 0o600); err != nil {
		e.Fatal(err)
	}
	e.deploy(map[string]string{
		"STRIMZI_KAFKA_BOOTSTRAP_SERVERS": strings.Join(e.kafka.At("BOTH"), ","),
		"STRIMZI_TLS_ENABLED":             "true", "STRIMZI_TLS_AUTH_ENABLED": "false", "STRIMZI_SECURITY_PROTOCOL": "SASL_SSL",
		"STRIMZI_TRUSTSTORE_LOCATION": path, "STRIMZI_TRUSTSTORE_PASSWORD": "letmein",
		"STRIMZI_SASL_ENABLED": "true", "STRIMZI_SASL_MECHANISM": "scram-sha-512",
		"STRIMZI_SASL_USERNAME": secureUser, "STRIMZI_SASL_PASSWORD": securePassword,
		"STRIMZI_MAX_QUEUE_SIZE": "1024",
	})
	if err := e.kube.Create(e.Context(), e.newTopic(0, apiv1.KafkaTopicSpec{})); err != nil {
		e.Fatal(err)
	}
	e.waitTopics(1, isReady)
	e.checkNames([]string{e.inKafka(0)})
	e.stop()
	e.checkRequests()
	e.checkWords("STRIMZI_MAX_QUEUE_SIZE")
}

// topicOnlyBySecrets shows a certificate; what is needed comes from Secrets, which
// come after the start.
func topicOnlyBySecrets(e *topicOnlyEnv, authority *testkafka.Authority) {
	certificate, key, err := authority.Issue(testkafka.Subject{Name: secureUser})
	if err != nil {
		e.Fatal(err)
	}
	e.mayGetSecrets()
	e.deploy(map[string]string{
		"STRIMZI_KAFKA_BOOTSTRAP_SERVERS":       strings.Join(e.kafka.At("MUTUAL"), ","),
		"STRIMZI_TLS_TRUSTED_CERTS_SECRET_NAME": "ca",
		"STRIMZI_TLS_SECRET_NAME":               "mine", "STRIMZI_TLS_CERT_NAME": "my.crt", "STRIMZI_TLS_KEY_NAME": "my.key",
	})
	e.checkProbes("sluice_topic_") // they do not wait for Kafka
	if err := e.kube.Create(e.Context(), e.newTopic(0, apiv1.KafkaTopicSpec{})); err != nil {
		e.Fatal(err)
	}
	for name, data := range map[string]map[string][]byte{
		"ca": {"ca.crt": authority.CA(), "ca.p12": []byte("x")}, "mine": {"my.crt": certificate, "my.key": key},
	} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}, Data: data}
		if err := e.kube.Create(e.Context(), secret); err != nil {
			e.Fatal(err)
		}
	}
	e.waitTopics(1, isReady)
	e.checkNames([]string{e.inKafka(0)})
	e.stop()
	secrets := "GET /api/v1/namespaces/" + e.namespace + "/secrets/"
	e.checkRequests(secrets+"ca", secrets+"mine")
}

// mayGetSecrets adds to Strimzi's Role what docs/topic-only.md says.
func (e *topicOnlyEnv) mayGetSecrets() {
	e.Helper()
	meta := metav1.ObjectMeta{Namespace: e.namespace, Name: "topic-operator-secrets"}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"ca", "mine"}, Verbs: []string{"get"}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: e.namespace, Name: "strimzi-topic-operator"}},
		},
	} {
		if err := e.kube.Create(e.Context(), o); err != nil {
			e.Fatal(err)
		}
	}
}

// checkWords looks into the log, in which there is no error and no secret.
func (e *topicOnlyEnv) checkWords(want string) {
	e.Helper()
	raw, err := os.ReadFile(filepath.Join(e.deployed.Dir, "log"))
	if err != nil {
		e.Fatal(err)
	}
	for text, there := range map[string]bool{want: true, `"level":"error"`: false, "letmein": false, securePassword: false} {
		if strings.Contains(string(raw), text) != there {
			e.Errorf("the log has %q: %v, want %v\n%s", text, !there, there, raw)
		}
	}
}

// checkPod has Pod Security and the schema judge the pod, and the probes ask where a
// topic-only Sluice answers.
func (e *topicOnlyEnv) checkPod() {
	e.Helper()
	template := e.deployed.Deployment.Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "topic-operator", Namespace: e.namespace, Labels: template.Labels}, Spec: template.Spec}
	if err := e.kube.Create(e.Context(), pod, client.DryRunAll); err != nil {
		e.Errorf("a pod of the Deployment: %v", err)
	}
	options := operatoroptions.DefaultTopicOnly()
	for _, probe := range []*corev1.Probe{template.Spec.Containers[0].LivenessProbe, template.Spec.Containers[0].ReadinessProbe} {
		if at := fmt.Sprintf(":%d", probe.HTTPGet.Port.IntValue()); at != options.Serving.MetricsBindAddress {
			e.Errorf("a probe asks at %s, Sluice serves at %s", at, options.Serving.MetricsBindAddress)
		}
	}
}

// checkProbes asks as a kubelet and a Prometheus would.
func (e *topicOnlyEnv) checkProbes(metric string) {
	e.Helper()
	base := strings.TrimSuffix(e.operator.MetricsURL, "/metrics")
	for path, want := range map[string]string{"/healthy": "ok", "/ready": "ok", "/metrics": metric} {
		if status, body := get(e.T, http.DefaultClient, base+path, ""); status != 200 || !strings.Contains(body, want) {
			e.Errorf("%s answers %d, without %s: %s", path, status, want, body)
		}
	}
}

// checkNames compares the topics in Kafka.
func (e *topicOnlyEnv) checkNames(want []string) {
	e.Helper()
	if diff := cmp.Diff(want, e.details().Names()); diff != "" {
		e.Errorf("topics in Kafka, -want +got:\n%s", diff)
	}
}

// waitOptions waits until Kafka shows a change.
func (e *topicOnlyEnv) waitOptions(topic string, partitions int, retention string) {
	e.Helper()
	got := ""
	want := fmt.Sprintf("%d partitions, retention.ms=%s", partitions, retention)
	e.eventually(func(ctx context.Context) (bool, error) {
		configs, err := e.admin.DescribeTopicConfigs(ctx, topic)
		if err != nil {
			return false, err
		}
		config, err := configs.On(topic, nil)
		if err != nil {
			return false, err
		}
		for _, c := range config.Configs {
			if c.Key == "retention.ms" {
				got = fmt.Sprintf("%d partitions, retention.ms=%s", len(e.details()[topic].Partitions), c.MaybeValue())
			}
		}
		return got == want, nil
	})
	if got != want {
		e.Errorf("Kafka shows %s, want %s", got, want)
	}
}

// checkRequests holds what was asked of the API server against Strimzi's Role and
// what is allowed beside it, and all of it to have been allowed.
func (e *topicOnlyEnv) checkRequests(more ...string) {
	e.Helper()
	topics := "/apis/kafka.strimzi.io/v1/namespaces/" + e.namespace + "/kafkatopics"
	want := map[string]bool{
		// Every authenticated account may (system:discovery).
		"GET /openapi/v3": false, "GET /openapi/v3/apis/kafka.strimzi.io/v1": false, "GET /apis": false, "GET /api": false,
		"GET /apis/kafka.strimzi.io/v1": false,
		// The Role. A status is a subresource.
		"GET " + topics: true, "PATCH " + topics + "/NAME": true, "PATCH " + topics + "/NAME/status": true,
	}
	for _, what := range more {
		want[what] = true
	}
	seen := map[string]bool{}
	for _, r := range e.requests.all() {
		if r.status == http.StatusForbidden || r.status == http.StatusUnauthorized {
			e.Errorf("%s was answered with %d", r.what, r.status)
		}
		what := r.what
		if rest, ok := strings.CutPrefix(r.what, "PATCH "+topics+"/"); ok {
			_, sub, _ := strings.Cut(rest, "/")
			what = strings.TrimSuffix("PATCH "+topics+"/NAME/"+sub, "/")
		}
		if _, known := want[what]; !known {
			e.Errorf("%s: nobody expected that, it is answered with %d", r.what, r.status)
		}
		seen[what] = true
	}
	for what, needed := range want {
		if needed && !seen[what] {
			e.Errorf("there was no %s: the requests are not recorded", what)
		}
	}
}

// requests are all that were made of an API server.
type requests struct {
	config *rest.Config

	mu   sync.Mutex
	made []request
}

type request struct {
	what   string
	status int
}

// recordRequests stands before an API server.
func recordRequests(t *testing.T, to *rest.Config) *requests {
	t.Helper()
	target, err := url.Parse(to.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(&rest.Config{Host: to.Host, TLSClientConfig: rest.TLSClientConfig{CAData: to.CAData}})
	if err != nil {
		t.Fatal(err)
	}
	r := &requests{}
	server := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(a *http.Response) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.made = append(r.made, request{a.Request.Method + " " + a.Request.URL.Path, a.StatusCode})
			return nil
		},
	})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS() // without it client-go would send no token
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	r.config = &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{
		CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}}
	return r
}

func (r *requests) all() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}
