package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	operatoroptions "github.com/sluice-kafka/sluice/internal/options"
	"github.com/sluice-kafka/sluice/test/harness"
)

// values of the chart that the tests render, by what they stand for.
var chartValues = map[string]map[string]any{
	"as it comes":       {},
	"with cert-manager": {"certManager": map[string]any{"enabled": true}},
	"with an issuer": {"certManager": map[string]any{"enabled": true, "issuerRef": map[string]any{
		"name": "company", "kind": "ClusterIssuer", "group": "cert-manager.io"}}},
	"with cert-manager outside the cluster": {"certManager": map[string]any{"enabled": true},
		"webhook": map[string]any{"url": map[string]any{"host": "[fd00::1]:9443"}}},
	"without webhooks": {"webhook": map[string]any{"enabled": false}},
	"for topics":       {"controllers": []any{"topic"}},
	"for admission alone": {"controllers": []any{}, "metrics": map[string]any{"secure": false},
		"topics": map[string]any{"maxBatchSize": 10, "useFinalizers": false, "onUnreachable": "orphan", "orphanAfter": "1h"}},
	"with everything said": {
		"replicas": 3, "extraArgs": []any{"--kube-api-qps=50"}, "debug": map[string]any{"enabled": true},
		"log": map[string]any{"level": "4", "format": "console"}, "webhook": map[string]any{"strictConfig": true, "port": 10250},
		"podLabels": map[string]any{"a": "b"}, "podAnnotations": map[string]any{"a": "b"}, "priorityClassName": "system-cluster-critical",
		"nodeSelector": map[string]any{"a": "b"}, "tolerations": []any{map[string]any{"operator": "Exists"}},
		"affinity": map[string]any{"nodeAffinity": map[string]any{}}, "imagePullSecrets": []any{map[string]any{"name": "pull"}},
		"topics":           map[string]any{"selector": "team in (a,b),stage!=test"},
		"serviceAccount":   map[string]any{"annotations": map[string]any{"a": "b"}},
		"externalClusters": []any{map[string]any{"name": "c", "namespaces": []any{"a", "b"}, "bootstrapServers": []any{"h:9092"}}},
	},
	"with credentials": {
		"controllers": []any{"topic"}, "webhook": map[string]any{"enabled": false},
		"externalClusters": []any{
			map[string]any{"name": "c", "namespaces": []any{"a"}, "bootstrapServers": []any{"h:9092"}, "replicasEngine": "builtin",
				"tls": map[string]any{"enabled": true, "ca": map[string]any{"secret": "my-ca"}}, "credentials": map[string]any{"secret": "both"}},
			map[string]any{"name": "d", "namespaces": []any{"a"}, "bootstrapServers": []any{"i:9092"},
				"tls": map[string]any{"enabled": true}, "credentials": map[string]any{"secret": "both"}},
		},
		"topics": map[string]any{"credentials": map[string]any{"secrets": []any{
			map[string]any{"namespace": "default", "name": "one"}, map[string]any{"namespace": "default", "name": "007"},
		}}},
	},
	"with any credentials": {
		"controllers": []any{"topic"}, "webhook": map[string]any{"enabled": false},
		"topics": map[string]any{"credentials": map[string]any{"anySecret": true, "secrets": []any{
			map[string]any{"namespace": "default", "name": "one"},
		}}},
	},
}

func render(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	objects, err := harness.RenderChart(t.Context(), os.Stderr, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// decode finds the object and decodes it; an unknown field fails.
func decode[T any](t *testing.T, objects []*unstructured.Unstructured, kind, name string) *T {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != kind || o.GetName() != name {
			continue
		}
		out := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, out, true); err != nil {
			t.Fatalf("%s %s: %v", kind, name, err)
		}
		return out
	}
	return nil
}

func TestChartGivesTheRightsThatAreNeededAndNoMore(t *testing.T) {
	const (
		topics     = "kafka.strimzi.io/kafkatopics: get list watch"
		others     = "kafka.strimzi.io/kafkas,kafkanodepools,kafkaconnects,kafkamirrormaker2s: get list watch"
		rebalances = "kafka.strimzi.io/kafkarebalances: get list watch"
		published  = "/configmaps: get list watch"
		sets       = "core.strimzi.io/strimzipodsets: get list watch"
		pods       = "/pods: get list watch patch delete"
		spaces     = "/namespaces: get list watch"
		bundles    = "admissionregistration.k8s.io/validatingwebhookconfigurations,mutatingwebhookconfigurations[sluice]: get list watch patch"
		tokens     = "authentication.k8s.io/tokenreviews: create"
		access     = "authorization.k8s.io/subjectaccessreviews: create"
		status     = "kafka.strimzi.io/kafkatopics/status: patch"
		spaceOf    = "/namespaces: get"
		events     = "events.k8s.io/events: create patch"
		lease      = "coordination.k8s.io/leases: create"
		ownLease   = "coordination.k8s.io/leases[sluice-leader]: get update"
		said       = "/events: create patch"
		secret     = "/secrets: create"
		kafkas     = "kafka.strimzi.io/kafkas: get list watch"
		toGo       = "/configmaps: get"
		podSets    = "core.strimzi.io/strimzipodsets: list"
	)
	// What the cluster controller needs.
	runs := []string{
		"kafka.strimzi.io/kafkas: get list watch",
		"kafka.strimzi.io/kafkanodepools: list watch patch",
		"kafka.strimzi.io/kafkas/status,kafkanodepools/status: patch",
		"kafka.strimzi.io/kafkarebalances: list watch",
		"/pods: list watch create delete",
		"/configmaps: get list watch create patch delete",
		"/persistentvolumeclaims: list watch create patch delete",
		"/services: list watch create patch",
		"policy/poddisruptionbudgets: list watch create patch",
		"/nodes: get",
		"core.strimzi.io/strimzipodsets: list",
	}
	tests := map[string]struct{ cluster, own []string }{
		"as it comes": {
			slices.Concat([]string{topics + " patch", status, spaceOf, events}, runs,
				[]string{others + " patch", rebalances, published, sets, pods, spaces, bundles, tokens, access}),
			[]string{lease, ownLease, said, "/secrets[sluice-serving-cert]: get list watch update", secret},
		},
		"with cert-manager": {
			slices.Concat([]string{topics + " patch", status, spaceOf, events}, runs,
				[]string{others + " patch", rebalances, published, sets, pods, spaces, bundles, tokens, access}),
			[]string{lease, ownLease, said, "/secrets[sluice-serving-cert]: get list watch"},
		},
		"without webhooks": {
			slices.Concat([]string{topics + " patch", status, spaceOf, events}, runs, []string{tokens, access}),
			[]string{lease, ownLease, said},
		},
		"for topics": {
			[]string{topics + " patch", status, spaceOf, kafkas, podSets, events, others, rebalances, published, bundles, tokens, access},
			[]string{lease, ownLease, said, "/secrets[sluice-serving-cert]: get list watch update", secret},
		},
		"with credentials": {
			[]string{topics + " patch", status, spaceOf, kafkas, podSets, toGo, events, tokens, access},
			[]string{lease, ownLease, said, "/secrets[both,my-ca]: get"},
		},
		"with any credentials": {
			[]string{topics + " patch", status, spaceOf, kafkas, podSets, "/secrets: get", toGo, events, tokens, access},
			[]string{lease, ownLease, said},
		},
		"for admission alone": {
			[]string{topics, others, rebalances, published, bundles},
			[]string{lease, ownLease, said, "/secrets[sluice-serving-cert]: get list watch update", secret},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := render(t, chartValues[name])
			cluster := decode[rbacv1.ClusterRole](t, objects, "ClusterRole", "sluice")
			own := decode[rbacv1.Role](t, objects, "Role", "sluice")
			if diff := cmp.Diff(tc.cluster, rules(cluster.Rules)); diff != "" {
				t.Errorf("ClusterRole, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tc.own, rules(own.Rules)); diff != "" {
				t.Errorf("Role, -want +got:\n%s", diff)
			}
		})
	}
}

func TestChartLetsTheOperatorReadNoOtherSecretThanThoseNamed(t *testing.T) {
	objects := render(t, chartValues["with credentials"])
	role := decode[rbacv1.Role](t, objects, "Role", "sluice-topics-credentials")
	if diff := cmp.Diff([]string{"/secrets[007,one]: get"}, rules(role.Rules)); diff != "" || role.Namespace != "default" {
		t.Errorf("in %s, -want +got:\n%s", role.Namespace, diff)
	}
	binding := decode[rbacv1.RoleBinding](t, objects, "RoleBinding", "sluice-topics-credentials")
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "sluice", Namespace: harness.Namespace}}
	if diff := cmp.Diff(want, binding.Subjects); diff != "" || binding.RoleRef.Name != role.Name {
		t.Errorf("bound to %s, -want +got:\n%s", binding.RoleRef.Name, diff)
	}
}

func TestChartHasNoRoleForSecretsThatAreNotNamedOrMayAllBeRead(t *testing.T) {
	for _, name := range []string{"as it comes", "with any credentials"} {
		objects := render(t, chartValues[name])
		role := decode[rbacv1.Role](t, objects, "Role", "sluice-topics-credentials")
		binding := decode[rbacv1.RoleBinding](t, objects, "RoleBinding", "sluice-topics-credentials")
		if role != nil || binding != nil {
			t.Errorf("%s: %+v, %+v", name, role, binding)
		}
	}
}

func rules(in []rbacv1.PolicyRule) []string {
	var out []string
	for _, r := range in {
		names := ""
		if len(r.ResourceNames) > 0 {
			names = "[" + strings.Join(r.ResourceNames, ",") + "]"
		}
		out = append(out, fmt.Sprintf("%s/%s%s: %s", strings.Join(r.APIGroups, ","), strings.Join(r.Resources, ","), names, strings.Join(r.Verbs, " ")))
	}
	return out
}

// Whatever the values, the operator understands its arguments, and the table of
// clusters that it is given.
func TestChartGivesArgumentsThatTheOperatorUnderstands(t *testing.T) {
	for name, values := range chartValues {
		t.Run(name, func(t *testing.T) {
			objects := render(t, values)
			args := decode[appsv1.Deployment](t, objects, "Deployment", "sluice").Spec.Template.Spec.Containers[0].Args
			if args[0] != "operator" {
				t.Fatalf("the command is %q", args[0])
			}
			table := decode[corev1.ConfigMap](t, objects, "ConfigMap", "sluice-external-clusters").Data["clusters.yaml"]
			path := filepath.Join(t.TempDir(), "clusters.yaml")
			if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
				t.Fatal(err)
			}
			opts := operatoroptions.Default()
			flags := pflag.NewFlagSet("operator", pflag.ContinueOnError)
			opts.AddFlags(flags)
			if err := flags.Parse(append(slices.Clone(args[1:]), "--external-clusters="+path)); err != nil {
				t.Fatal(err)
			}
			if err := opts.Complete(); err != nil {
				t.Fatal(err)
			}
			if want, _ := values["externalClusters"].([]any); len(want) != len(opts.Topics.ExternalClusters) {
				t.Errorf("the table has %d clusters, want %d", len(opts.Topics.ExternalClusters), len(want))
			}
		})
	}
}

// The API server's own judges: Pod Security at its strictest, cert-manager's
// schemas, and the schema of everything else.
func TestChartIsAcceptedByTheAPIServer(t *testing.T) {
	cp := controlPlane(t, harness.ControlPlaneOptions{})
	if _, err := envtest.InstallCRDs(cp.Config, envtest.CRDInstallOptions{Paths: []string{certManagerCRDs(t)}}); err != nil {
		t.Fatal(err)
	}
	strict := client.WithFieldValidation(cp.Client, metav1.FieldValidationStrict)
	namespace(t, strict, harness.Namespace, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	for name, values := range chartValues {
		t.Run(name, func(t *testing.T) {
			objects := render(t, values)
			for _, o := range objects {
				if o.GetKind() == "CustomResourceDefinition" {
					continue // installed by every other test
				}
				if err := strict.Create(t.Context(), o.DeepCopy(), client.DryRunAll); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
				}
			}
			template := decode[appsv1.Deployment](t, objects, "Deployment", "sluice").Spec.Template
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "sluice", Namespace: harness.Namespace, Labels: template.Labels}, Spec: template.Spec}
			// The ServiceAccount exists in no dry run.
			pod.Spec.ServiceAccountName = ""
			pod.Spec.PriorityClassName = ""
			if err := strict.Create(t.Context(), pod, client.DryRunAll); err != nil {
				t.Errorf("a pod of the Deployment: %v", err)
			}
		})
	}
}

// certManagerCRDs is the folder of the CRDs in cert-manager's module.
func certManagerCRDs(t *testing.T) string {
	t.Helper()
	raw, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(raw)), "deploy", "crds")
}

func TestChartWithCertManager(t *testing.T) {
	tests := map[string]struct {
		values     string
		wantIssuer bool
		wantRef    string
	}{
		"makes an issuer of its own":  {"with cert-manager", true, "Issuer/sluice"},
		"takes the one that is told":  {"with an issuer", false, "ClusterIssuer/company"},
		"has neither where it is off": {"as it comes", false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := render(t, chartValues[tc.values])
			if issuer := decode[certmanagerv1.Issuer](t, objects, "Issuer", "sluice"); (issuer != nil) != tc.wantIssuer {
				t.Errorf("issuer: %v", issuer)
			}
			got := ""
			if c := decode[certmanagerv1.Certificate](t, objects, "Certificate", "sluice"); c != nil {
				got = c.Spec.IssuerRef.Kind + "/" + c.Spec.IssuerRef.Name
				opts := operatoroptions.Default()
				if diff := cmp.Diff(opts.CertificateHosts(), c.Spec.DNSNames); diff != "" {
					t.Errorf("hosts, -want +got:\n%s", diff)
				}
				if c.Spec.SecretName != "sluice-serving-cert" {
					t.Errorf("secret %s", c.Spec.SecretName)
				}
			}
			if got != tc.wantRef {
				t.Errorf("the certificate is from %q, want %q", got, tc.wantRef)
			}
		})
	}
}

// Whoever issues it, the certificate is for the host that the API server calls.
func TestChartCertificateIsForTheHostThatIsCalled(t *testing.T) {
	const service = "sluice.sluice.svc"
	tests := map[string]struct {
		host        string
		wantDNS     []string
		wantAddress []string
	}{
		"the Service":                {"", []string{service}, nil},
		"a name with a port":         {"sluice.example.com:9443", []string{service, "sluice.example.com"}, nil},
		"a name":                     {"sluice.example.com", []string{service, "sluice.example.com"}, nil},
		"an address":                 {"192.0.2.1:9443", []string{service}, []string{"192.0.2.1"}},
		"an IPv6 address":            {"[2001:db8::1]", []string{service}, []string{"2001:db8::1"}},
		"an IPv6 address and a port": {"[2001:db8::1]:9443", []string{service}, []string{"2001:db8::1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := render(t, map[string]any{
				"certManager": map[string]any{"enabled": true},
				"webhook":     map[string]any{"url": map[string]any{"host": tc.host}},
			})
			spec := decode[certmanagerv1.Certificate](t, objects, "Certificate", "sluice").Spec
			if diff := cmp.Diff(tc.wantDNS, spec.DNSNames); diff != "" {
				t.Errorf("names in the Certificate, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantAddress, spec.IPAddresses); diff != "" {
				t.Errorf("addresses in the Certificate, -want +got:\n%s", diff)
			}
			opts := operatoroptions.Default()
			flags := pflag.NewFlagSet("operator", pflag.ContinueOnError)
			opts.AddFlags(flags)
			if err := flags.Parse(decode[appsv1.Deployment](t, objects, "Deployment", "sluice").Spec.Template.Spec.Containers[0].Args[1:]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Concat(tc.wantDNS, tc.wantAddress), opts.CertificateHosts()); diff != "" {
				t.Errorf("hosts that the operator knows, -want +got:\n%s", diff)
			}
		})
	}
}

// Without anyone who serves them, webhooks that fail closed would refuse
// everything.
func TestChartRegistersWebhooksOnlyWhereTheyAreServed(t *testing.T) {
	for name, want := range map[string]bool{"as it comes": true, "with cert-manager": true, "without webhooks": false} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, chartValues[name])
			for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
				if got := slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind }); got != want {
					t.Errorf("%s rendered: %v, want %v", kind, got, want)
				}
			}
		})
	}
}

func TestChartRefusesValuesThatItDoesNotKnow(t *testing.T) {
	tests := map[string]string{
		"a misspelt value":          `{webhook: {prot: 9443}}`,
		"a word for a number":       `{replicas: two}`,
		"a controller not known":    `{controllers: [brokers]}`,
		"a cluster without servers": `{externalClusters: [{name: a, namespaces: [b]}]}`,
		"a duration without a unit": `{topics: {resyncInterval: "120"}}`,
		"a policy not known":        `{topics: {onUnreachable: panic}}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{}
			if err := yaml.Unmarshal([]byte(text), &values); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			_, err := harness.RenderChart(t.Context(), &out, values)
			if err == nil || !strings.Contains(err.Error(), "schema") {
				t.Fatalf("error %v, want one from the schema", err)
			}
		})
	}
}
