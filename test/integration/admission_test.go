package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/test/cases"
	"github.com/sluice-kafka/sluice/test/harness"
)

// settleTimeout bounds the wait for a cache or for the API server's own view of
// namespaces and webhooks.
const settleTimeout = 30 * time.Second

// asker sends requests to the API server and keeps the warnings of the last.
type asker struct {
	client.Client
	mu       sync.Mutex
	warnings []cases.Said
}

func newAsker(t *testing.T, config *rest.Config) *asker {
	t.Helper()
	a := &asker{}
	config = rest.CopyConfig(config)
	config.WarningHandler = a
	c, err := client.New(config, client.Options{Scheme: harness.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	a.Client = c
	return a
}

// HandleWarningHeader keeps a warning.
func (a *asker) HandleWarningHeader(_ int, _, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.warnings = append(a.warnings, cases.Warning(text))
}

// ask makes one request. An error that is no refusal of the object fails.
func (a *asker) ask(request func() error) (refusals, warnings []cases.Said, err error) {
	a.mu.Lock()
	a.warnings = nil
	a.mu.Unlock()
	err = request()
	a.mu.Lock()
	defer a.mu.Unlock()
	if apierrors.IsInvalid(err) {
		var status apierrors.APIStatus
		errors.As(err, &status)
		if details := status.Status().Details; details != nil {
			for _, c := range details.Causes {
				refusals = append(refusals, cases.Said{Path: c.Field, Text: c.Field + ": " + c.Message})
			}
		}
		err = nil
	}
	return refusals, a.warnings, err
}

func TestAdmissionCasesThroughTheAPIServer(t *testing.T) {
	all, err := cases.Admission()
	if err != nil {
		t.Fatal(err)
	}
	in, _ := install(t, harness.ControlPlaneOptions{}, nil)
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			a := newAsker(t, in.Config)
			ns := "case-" + c.Name
			namespace(t, a, ns, nil)
			for _, doc := range c.Existing {
				if err := a.Create(t.Context(), object(t, doc, ns)); err != nil {
					t.Fatal(err)
				}
			}
			request := func(opts ...client.CreateOption) error {
				return a.Create(t.Context(), object(t, c.Object, ns), opts...)
			}
			if c.Before != nil {
				stored := store(t, a, object(t, c.Before, ns))
				request = func(...client.CreateOption) error {
					return a.Update(t.Context(), changed(stored, object(t, c.Object, ns)))
				}
			}
			if len(c.Existing) > 0 {
				// What exists is in the operator's cache a moment later.
				eventually(t, func() error {
					refusals, warnings, err := a.ask(func() error { return request(client.DryRunAll) })
					return errors.Join(err, asError(c.Verdict(refusals, warnings)))
				})
			}
			refusals, warnings, err := a.ask(func() error { return request() })
			if err != nil {
				t.Fatal(err)
			}
			if fault := c.Verdict(refusals, warnings); fault != "" {
				t.Error(fault)
			}
		})
	}
}

func asError(fault string) error {
	if fault == "" {
		return nil
	}
	return errors.New(fault)
}

func eventually(t *testing.T, check func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, settleTimeout, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%v: %v", err, last)
	}
}

// object decodes a document and puts it into a namespace.
func object(t *testing.T, doc []byte, namespace string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(doc, &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetNamespace(namespace)
	return o
}

// store keeps an object that may be faulty, as one that is older than Sluice,
// with its status; admission is off meanwhile.
func store(t *testing.T, a *asker, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	ns := o.GetNamespace()
	status, hasStatus := o.Object["status"]
	switchAdmission(t, a, ns, false)
	if err := a.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if hasStatus {
		o.Object["status"] = status
		if err := a.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	switchAdmission(t, a, ns, true)
	return o
}

// switchAdmission sets or takes the namespace's emergency label and waits until
// the API server minds it.
func switchAdmission(t *testing.T, c client.Client, name string, on bool) {
	t.Helper()
	value := `"` + apiv1.AdmissionDisabled + `"`
	if on {
		value = "null"
	}
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, apiv1.LabelAdmission, value)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Patch(t.Context(), ns, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		err := c.Create(t.Context(), faultyTopic(name, "probe"), client.DryRunAll)
		if refused := apierrors.IsInvalid(err); refused != on {
			return fmt.Errorf("admission is not switched to %v yet: %w", on, err)
		}
		return nil
	})
}

func faultyTopic(namespace, name string) *apiv1.KafkaTopic {
	none := int64(0)
	return &apiv1.KafkaTopic{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{apiv1.LabelCluster: "my-cluster"}},
		Spec:       apiv1.KafkaTopicSpec{Partitions: &none},
	}
}

// changed is the stored object with what a user may change taken from another.
func changed(stored, to *unstructured.Unstructured) *unstructured.Unstructured {
	o := stored.DeepCopy()
	o.SetLabels(to.GetLabels())
	o.SetAnnotations(to.GetAnnotations())
	o.Object["spec"] = to.Object["spec"]
	return o
}

// What cannot matter does not wait for Sluice: shown with the operator gone,
// since an update that is let through at once needs nobody.
func TestConditionsLetThroughWhatCannotMatter(t *testing.T) {
	in, op := install(t, harness.ControlPlaneOptions{}, nil)
	c := in.Client
	namespace(t, c, "kafka", nil)
	topic := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "bare"}}
	bareKafka := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiv1.GroupVersion.String(), "kind": apiv1.KindKafka,
		"metadata": map[string]any{"namespace": "kafka", "name": "no-spec"},
	}}
	large := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiv1.GroupVersion.String(), "kind": apiv1.KindKafkaTopic,
		"metadata": map[string]any{"namespace": "kafka", "name": "large", "labels": map[string]any{apiv1.LabelCluster: "my-cluster"}},
		"spec":     map[string]any{"config": manyOptions(20_000)},
	}}
	for _, o := range []client.Object{topic, bareKafka, large} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := op.Stop(); err != nil {
		t.Fatal(err)
	}
	patch := func(o client.Object, patch string) error {
		return c.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	for _, o := range []client.Object{topic, bareKafka, large} {
		t.Run(o.GetName()+" gets a finalizer and loses it", func(t *testing.T) {
			for _, p := range []string{`{"metadata":{"finalizers":["strimzi.io/topic-operator"]}}`, `{"metadata":{"finalizers":null}}`} {
				if err := patch(o, p); err != nil {
					t.Error(err)
				}
			}
		})
		for name, p := range map[string]string{
			"label":      `{"metadata":{"labels":{"a":"b"}}}`,
			"annotation": `{"metadata":{"annotations":{"a":"b"}}}`,
			"spec":       `{"spec":{"partitions":7,"kafka":{"version":"4.3.1"}}}`,
		} {
			t.Run(o.GetName()+" waits with a new "+name, func(t *testing.T) {
				if err := patch(o, p); !strings.Contains(fmt.Sprint(err), "failed calling webhook") {
					t.Errorf("nobody judged it: %v", err)
				}
			})
		}
	}
	t.Run("a status is written", func(t *testing.T) {
		topic.Status.TopicName = "bare"
		if err := c.Status().Update(t.Context(), topic); err != nil {
			t.Error(err)
		}
	})
	t.Run("an object that is being deleted is changed", func(t *testing.T) {
		if err := patch(topic, `{"metadata":{"finalizers":["strimzi.io/topic-operator"]}}`); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		if err := patch(topic, `{"spec":{"partitions":0},"metadata":{"labels":{"a":"b"}}}`); err != nil {
			t.Error(err)
		}
	})
}

func manyOptions(n int) map[string]any {
	config := make(map[string]any, n)
	for i := range n {
		config[fmt.Sprintf("option.number.%d", i)] = int64(i)
	}
	return config
}

// A dry run gets the same answer and leaves nothing behind.
func TestDryRunsAreJudgedAlike(t *testing.T) {
	in, _ := install(t, harness.ControlPlaneOptions{}, nil)
	namespace(t, in.Client, "kafka", nil)
	a := newAsker(t, in.Config)
	for _, opts := range [][]client.CreateOption{{client.DryRunAll}, nil} {
		refusals, _, err := a.ask(func() error { return a.Create(t.Context(), faultyTopic("kafka", "orders"), opts...) })
		if err != nil || len(refusals) != 1 || refusals[0].Path != "spec.partitions" {
			t.Errorf("got %v, %v", refusals, err)
		}
	}
	unlabelled := &apiv1.KafkaTopic{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "orders"}}
	_, warnings, err := a.ask(func() error { return a.Create(t.Context(), unlabelled, client.DryRunAll) })
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0].Path, "metadata.labels") {
		t.Errorf("got %v, %v", warnings, err)
	}
	if err := a.Get(t.Context(), client.ObjectKeyFromObject(unlabelled), unlabelled); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run left something behind: %v", err)
	}
}

// Very many warnings arrive within what the API server passes on.
func TestManyWarningsArriveBounded(t *testing.T) {
	in, _ := install(t, harness.ControlPlaneOptions{}, nil)
	namespace(t, in.Client, "kafka", nil)
	a := newAsker(t, in.Config)
	kafka := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiv1.GroupVersion.String(), "kind": apiv1.KindKafka,
		"metadata": map[string]any{"namespace": "kafka", "name": "my-cluster"},
	}}
	config := map[string]any{}
	for i := range 500 {
		config[fmt.Sprintf("ssl.%s.%d", strings.Repeat("ü", 300), i)] = "x"
	}
	kafka.Object["spec"] = map[string]any{"kafka": map[string]any{"config": config}}
	refusals, warnings, err := a.ask(func() error { return a.Create(t.Context(), kafka) })
	if err != nil || len(refusals) > 0 {
		t.Fatalf("refused: %v, %v", refusals, err)
	}
	if len(warnings) != 10 {
		t.Fatalf("got %d warnings, want 10", len(warnings))
	}
	if last := warnings[9].Text; !strings.Contains(last, "491 more warnings") {
		t.Errorf("the last does not count the others: %s", last)
	}
}
