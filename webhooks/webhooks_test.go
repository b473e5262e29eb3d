package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiv1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// cached is a source over objects that stand in the cache.
func cached(t *testing.T, funcs interceptor.Funcs, objs ...client.Object) source {
	t.Helper()
	return source{reader: fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objs...).WithInterceptorFuncs(funcs).
		WithIndex(&apiv1.KafkaTopic{}, indexTopicMetric, topicMetricKeys).
		WithIndex(&apiv1.KafkaNodePool{}, indexPoolCluster, poolClusterKeys).Build()}
}

func topic(namespace, name, topicName string) *apiv1.KafkaTopic {
	t := &apiv1.KafkaTopic{
		TypeMeta: metav1.TypeMeta{APIVersion: apiv1.GroupVersion.String(), Kind: apiv1.KindKafkaTopic},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{apiv1.LabelCluster: "my-cluster"},
		},
	}
	if topicName != "" {
		t.Spec.TopicName = &topicName
	}
	return t
}

func raw(t *testing.T, obj any) runtime.RawExtension {
	t.Helper()
	if s, ok := obj.(string); ok {
		return runtime.RawExtension{Raw: []byte(s)}
	}
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// silent tells nobody of refusals.
func silent(kind string) answers { return answers{kind: kind, refused: func(string, string) {}} }

func topicHandler(t *testing.T, s source) *webhook.Admission {
	t.Helper()
	return &webhook.Admission{Handler: &handler[*apiv1.KafkaTopic]{
		answers: silent(apiv1.KindKafkaTopic), decoder: admission.NewDecoder(scheme(t)), judge: judgeTopic(s, validation.Options{}),
	}}
}

const (
	badTopic     = `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"name":"x","namespace":"kafka","labels":{"strimzi.io/cluster":"c"}},"spec":{"partitions":0}}`
	warnedTopic  = `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"name":"x","namespace":"kafka"},"spec":{"partitions":1}}`
	goodTopic    = `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"name":"x","namespace":"kafka","labels":{"strimzi.io/cluster":"c"}},"spec":{"partitions":1}}`
	unreadable   = `{"apiVersion":"kafka.strimzi.io/v1","kind":"KafkaTopic","metadata":{"name":"x"},"spec":{"partitions":"three"}}`
	anotherKind  = `{"apiVersion":"kafka.strimzi.io/v1","kind":"Kafka","metadata":{"name":"x"}}`
	brokenObject = `{"apiVersion":`
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	unavailable := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("the cache is not synced")
	}}
	panics := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		panic("boom")
	}}
	for name, tc := range map[string]struct {
		operation   admissionv1.Operation
		subresource string
		object, old string
		funcs       interceptor.Funcs
		wantAllowed bool
		wantCode    int32
		wantMessage string
		wantWarning string
	}{
		"a good object passes":                 {object: goodTopic, wantAllowed: true},
		"a fault is a 422 with path and mend":  {object: badTopic, wantCode: 422, wantMessage: `spec.partitions: Invalid value: "0": a topic has at least one partition`},
		"a lesser fault is a warning":          {object: warnedTopic, wantAllowed: true, wantWarning: "metadata.labels[strimzi.io/cluster]: without this label"},
		"a status is not judged":               {object: badTopic, subresource: "status", wantAllowed: true},
		"a deletion is not judged":             {operation: admissionv1.Delete, old: badTopic, wantAllowed: true},
		"an update is judged against the old":  {operation: admissionv1.Update, object: badTopic, old: badTopic, wantAllowed: true},
		"and refused for what it brings about": {operation: admissionv1.Update, object: badTopic, old: goodTopic, wantCode: 422, wantMessage: "spec.partitions"},
		"wrong types are a 400":                {object: unreadable, wantCode: 400, wantMessage: "kubectl explain KafkaTopic"},
		"another kind is a 400":                {object: anotherKind, wantCode: 400, wantMessage: `KafkaTopic "x" cannot be read`},
		"no JSON is a 400":                     {object: brokenObject, wantCode: 400, wantMessage: "cannot be read"},
		"no object is a 400":                   {wantCode: 400, wantMessage: "cannot be read"},
		"an unreadable old object does not stand in the way of its mend": {
			operation: admissionv1.Update, object: goodTopic, old: unreadable, wantAllowed: true,
		},
		"nor of a change that leaves it as it is": {
			operation: admissionv1.Update, object: unreadable, old: unreadable, wantAllowed: true, wantWarning: "spec: this KafkaTopic cannot be read, as before",
		},
		"but its mend is judged":                   {operation: admissionv1.Update, object: badTopic, old: unreadable, wantCode: 422, wantMessage: "spec.partitions"},
		"becoming unreadable is a 400":             {operation: admissionv1.Update, object: unreadable, old: goodTopic, wantCode: 400, wantMessage: "cannot be read"},
		"a fact that cannot be had is a 503":       {object: goodTopic, funcs: unavailable, wantCode: 503, wantMessage: "try again: looking up other topics"},
		"a panic is a refusal and not an outage":   {object: goodTopic, funcs: panics, wantCode: 500, wantMessage: "panic: boom"},
		"facts do not matter where none is needed": {object: warnedTopic, funcs: panics, wantAllowed: true, wantWarning: "metadata.labels"},
	} {
		for _, dryRun := range []bool{false, true} {
			t.Run(name+map[bool]string{false: "", true: " on a dry run"}[dryRun], func(t *testing.T) {
				t.Parallel()
				req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
					UID: "u", Name: "x", Namespace: "kafka", Operation: tc.operation, SubResource: tc.subresource, DryRun: &dryRun,
					Object: raw(t, tc.object), OldObject: raw(t, tc.old),
				}}
				if req.Operation == "" {
					req.Operation = admissionv1.Create
				}
				resp := topicHandler(t, cached(t, tc.funcs)).Handle(t.Context(), req)
				if resp.Allowed != tc.wantAllowed {
					t.Fatalf("allowed %v, want %v: %+v", resp.Allowed, tc.wantAllowed, resp.Result)
				}
				if len(resp.Patches) > 0 || len(resp.Patch) > 0 {
					t.Error("a validating webhook changed the object")
				}
				if !tc.wantAllowed && (resp.Result.Code != tc.wantCode || !strings.Contains(resp.Result.Message, tc.wantMessage)) {
					t.Errorf("got %d %q, want %d with %q", resp.Result.Code, resp.Result.Message, tc.wantCode, tc.wantMessage)
				}
				switch {
				case tc.wantWarning == "" && len(resp.Warnings) > 0:
					t.Errorf("unexpected warnings %q", resp.Warnings)
				case tc.wantWarning != "" && (len(resp.Warnings) != 1 || !strings.HasPrefix(resp.Warnings[0], tc.wantWarning)):
					t.Errorf("got warnings %q, want one that begins with %q", resp.Warnings, tc.wantWarning)
				}
			})
		}
	}
}

func TestTopicsOfOneCluster(t *testing.T) {
	t.Parallel()
	shared := []Cluster{{Name: "my-cluster", Namespaces: []string{"kafka", "team-a"}}}
	for name, tc := range map[string]struct {
		stored   *apiv1.KafkaTopic
		clusters []Cluster
		want     string
	}{
		"the same name in one namespace":                       {stored: topic("kafka", "other", "orders"), want: "kafka/other"},
		"the same name in a namespace of its own":              {stored: topic("team-a", "other", "orders")},
		"the same name in a namespace that shares the cluster": {stored: topic("team-a", "other", "orders"), clusters: shared, want: "team-a/other"},
		"the same name in a namespace that does not":           {stored: topic("team-b", "other", "orders"), clusters: shared},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cached(t, interceptor.Funcs{}, tc.stored)
			s.clusters = tc.clusters
			result, err := judgeTopic(s, validation.Options{})(t.Context(), topic("kafka", "orders", ""), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			if errs := result.Errors(); len(errs) > 0 {
				got = errs.ToAggregate().Error()
			}
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want one that names %q", got, tc.want)
			}
		})
	}
}

func TestMetricCollisionIsFound(t *testing.T) {
	t.Parallel()
	s := cached(t, interceptor.Funcs{}, topic("kafka", "other", "a.b"))
	judge := judgeTopic(s, validation.Options{})
	result, err := judge(t.Context(), topic("kafka", "x", "a_b"), nil)
	if err != nil || len(result.Refusals) != 1 || result.Refusals[0].Rule != "topic-metric-collision" {
		t.Errorf("got %+v, %v", result, err)
	}
	created := topic("kafka", "x", "a_b")
	created.Status.TopicName = "a_b"
	if result, err = judge(t.Context(), created, created); err != nil || len(result.Refusals) != 0 {
		t.Errorf("what Kafka has already: got %+v, %v", result, err)
	}
}

func TestPoolsAndTheirKafkaFindEachOther(t *testing.T) {
	t.Parallel()
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "my-cluster"}}
	pool := func(namespace, name, cluster string) *apiv1.KafkaNodePool {
		return &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{apiv1.LabelCluster: cluster},
		}}
	}
	s := cached(t, interceptor.Funcs{}, kafka, pool("kafka", "a", "my-cluster"), pool("kafka", "b", "other"), pool("elsewhere", "c", "my-cluster"))
	facts, err := s.kafka(t.Context(), kafka)
	if err != nil || len(facts.Pools) != 1 || facts.Pools[0].Name != "a" {
		t.Errorf("pools: got %+v, %v", facts.Pools, err)
	}
	for cluster, want := range map[string]bool{"my-cluster": true, "other": false, "": false} {
		facts, err := s.pool(t.Context(), pool("kafka", "a", cluster))
		if err != nil || (facts.Kafka != nil) != want {
			t.Errorf("Kafka of cluster %q: got %v, %v", cluster, facts.Kafka, err)
		}
	}
	broken := cached(t, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("not synced")
	}})
	if _, err := broken.pool(t.Context(), pool("kafka", "a", "my-cluster")); err == nil {
		t.Error("a Kafka that cannot be read counts as absent")
	}
}

// FuzzHandler sends anything to the handler as the API server would: it gets an
// answer that is never a panic.
func FuzzHandler(f *testing.F) {
	for _, s := range []string{badTopic, warnedTopic, goodTopic, unreadable, anotherKind, brokenObject, "", "null", "[]", `{"spec":{"config":{"a":{"b":[null]}}}}`} {
		f.Add([]byte(s), []byte(s))
		f.Add([]byte(s), []byte(goodTopic))
	}
	s := runtime.NewScheme()
	if err := apiv1.AddToScheme(s); err != nil {
		f.Fatal(err)
	}
	reader := fake.NewClientBuilder().WithScheme(s).
		WithIndex(&apiv1.KafkaTopic{}, indexTopicMetric, topicMetricKeys).Build()
	h := &webhook.Admission{Handler: &handler[*apiv1.KafkaTopic]{
		answers: silent(apiv1.KindKafkaTopic), decoder: admission.NewDecoder(s), judge: judgeTopic(source{reader: reader}, validation.Options{}),
	}}
	f.Fuzz(func(t *testing.T, object, old []byte) {
		for _, op := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update} {
			resp := h.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: op, Object: runtime.RawExtension{Raw: object}, OldObject: runtime.RawExtension{Raw: old},
			}})
			if !resp.Allowed && (resp.Result == nil || resp.Result.Message == "" || resp.Result.Code == http.StatusInternalServerError) {
				t.Errorf("%s: %+v", op, resp.Result)
			}
		}
	})
}

func TestATopicIsJudgedByTheVersionOfItsKafka(t *testing.T) {
	t.Parallel()
	small := topic("kafka", "x", "")
	small.Spec.Config = apiv1.Config{"segment.bytes": {Raw: []byte("1000")}} // enough for Kafka 4.0 alone
	kafka := &apiv1.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "my-cluster"}}
	kafka.Spec.Kafka.Version = "4.3.1"
	for name, tc := range map[string]struct {
		objects []client.Object
		want    int
	}{
		"of a Kafka that is known":             {objects: []client.Object{kafka}, want: 1},
		"without a Kafka, as in a managed one": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := judgeTopic(cached(t, interceptor.Funcs{}, tc.objects...), validation.Options{})(t.Context(), small, nil)
			if err != nil || len(result.Refusals) != tc.want {
				t.Errorf("got %+v, %v; want %d refusals", result.Refusals, err, tc.want)
			}
		})
	}
	broken := cached(t, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("not synced")
	}})
	if _, err := judgeTopic(broken, validation.Options{})(t.Context(), small, nil); err == nil {
		t.Error("a Kafka that cannot be read counts as one of no known version")
	}
}
