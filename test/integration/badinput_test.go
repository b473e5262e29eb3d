package integration

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/sluice-kafka/sluice/test/harness"
)

// What is not a valid object is refused clearly by the API server or by the
// webhook, whoever sees it first.
func TestWhatIsNoValidObjectIsRefused(t *testing.T) {
	in, op := install(t, harness.ControlPlaneOptions{}, nil)
	client, err := rest.HTTPClientFor(in.Config)
	if err != nil {
		t.Fatal(err)
	}
	topics := strings.TrimSuffix(in.Config.Host, "/") + "/apis/kafka.strimzi.io/v1/namespaces/default/kafkatopics"
	big := strings.Repeat("x", 1<<20)
	topic := func(spec string) string {
		return `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"name":"t"},"spec":` + spec + `}`
	}
	cases := map[string]struct {
		contentType, body string
		want              string
	}{
		"not YAML":                   {"application/yaml", "a: [b", "yaml"},
		"not an object":              {"application/json", `[1,2]`, "json"},
		"empty":                      {"application/json", ``, ""},
		"another kind":               {"application/json", `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaUser","metadata":{"name":"t"}}`, "KafkaUser"},
		"a word for a number":        {"application/json", topic(`{"partitions":"three"}`), "spec.partitions"},
		"a number for a name":        {"application/json", topic(`{"topicName":7}`), "spec.topicName"},
		"a list for a spec":          {"application/json", topic(`[]`), "spec"},
		"a map for an option":        {"application/json", topic(`{"config":{"cleanup.policy":{"compact":true}}}`), "cleanup.policy"},
		"a megabyte for a name":      {"application/json", topic(`{"topicName":"` + big + `"}`), "249"},
		"a megabyte for an option":   {"application/json", topic(`{"config":{"` + big + `":null}}`), "null"},
		"a thousand nested lists":    {"application/json", topic(`{"config":{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}}`), "list"},
		"three megabytes of letters": {"application/json", topic(`{"topicName":"` + big + big + big + big + `"}`), "too large"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, err := client.Post(topics, c.contentType, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode < 400 || resp.StatusCode >= 500 {
				t.Errorf("answered %d, want a refusal: %.500s", resp.StatusCode, answer)
			}
			if !strings.Contains(string(answer), c.want) {
				t.Errorf("the refusal does not mention %q: %.500s", c.want, answer)
			}
			if len(answer) > 16<<10 {
				t.Errorf("the refusal is %d bytes long; it repeats what it refuses", len(answer))
			}
		})
	}
	noPanic(t, op)
}

// Whatever is posted to the webhook itself, it answers and lives on.
func TestTheWebhookSurvivesNonsense(t *testing.T) {
	in, op := install(t, harness.ControlPlaneOptions{}, nil)
	client := &http.Client{Transport: &http.Transport{
		// The API server's own check of the certificate is tested elsewhere.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	noise := make([]byte, 1<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(noise)
	bodies := map[string][]byte{
		"empty":             {},
		"noise":             noise,
		"null":              []byte("null"),
		"no request":        []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`),
		"no object":         []byte(review(`null`)),
		"another kind":      []byte(review(`{"apiVersion":"v1","kind":"Secret"}`)),
		"a list":            []byte(review(`[]`)),
		"wrong types":       []byte(review(`{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":7,"spec":"x"}`)),
		"deep":              []byte(review(strings.Repeat(`{"spec":`, 9000) + "1" + strings.Repeat("}", 9000))),
		"a wrong operation": []byte(strings.Replace(review(`{}`), "CREATE", "EXPLODE", 1)),
	}
	for _, path := range webhookPaths(t) {
		for name, body := range bodies {
			t.Run(path+" "+name, func(t *testing.T) {
				resp, err := client.Post(fmt.Sprintf("https://127.0.0.1:%d%s", in.WebhookPort, path), "application/json", bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				answer, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				if len(answer) == 0 && resp.StatusCode == http.StatusOK {
					t.Error("an empty answer")
				}
			})
		}
	}
	noPanic(t, op)
}

func review(object string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",` +
		`"kind":{"group":"kafka.strimzi.io","version":"v1","kind":"KafkaTopic"},"object":` + object + `}}`
}

// webhookPaths are those that the chart's webhook configurations name.
func webhookPaths(t *testing.T) []string {
	t.Helper()
	objects, err := harness.RenderChart(t.Context(), os.Stderr, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, o := range objects {
		if !strings.HasSuffix(o.GetKind(), "WebhookConfiguration") {
			continue
		}
		webhooks, _ := o.Object["webhooks"].([]any)
		for _, w := range webhooks {
			service := w.(map[string]any)["clientConfig"].(map[string]any)["service"].(map[string]any)
			paths = append(paths, service["path"].(string))
		}
	}
	if len(paths) == 0 {
		t.Fatal("the chart renders no webhook")
	}
	return paths
}

// noPanic fails where the operator's log tells of a panic.
func noPanic(t *testing.T, op *harness.Operator) {
	t.Helper()
	raw, err := os.ReadFile(op.Log)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(bytes.ToLower(raw), []byte("panic")); i >= 0 {
		t.Errorf("the operator's log tells of a panic: %.2000s", raw[max(0, i-200):])
	}
}
