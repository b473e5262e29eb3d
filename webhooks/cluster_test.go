package webhooks

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/facts"
	"github.com/sluice-kafka/sluice/internal/metrics"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func published(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	ten := int64(10)
	cm, err := facts.Encode("kafka", "my-cluster", facts.Facts{ObservedAt: time.Unix(1, 0), Brokers: []facts.Broker{{ID: 0, Replicas: &ten}}})
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

func TestFactsAreReadFromTheCache(t *testing.T) {
	t.Parallel()
	broken := published(t)
	broken.Data[facts.Key] = "{}"
	elsewhere := published(t)
	elsewhere.Namespace = "elsewhere"
	for name, tc := range map[string]struct {
		cm   *corev1.ConfigMap
		want bool
	}{
		"what was published":        {published(t), true},
		"what cannot be read":       {broken, false},
		"of a Kafka somewhere else": {elsewhere, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cached(t, interceptor.Funcs{}, tc.cm, runningKafka(), nodePool(1, apiv1.RoleBroker))
			pool, err := s.pool(t.Context(), nodePool(1, apiv1.RoleBroker))
			if err != nil || (pool.Seen != nil) != tc.want || pool.Kafka == nil || len(pool.Pools) != 1 || pool.AllPools {
				t.Errorf("of a pool: %+v, %v", pool, err)
			}
			kafka, err := s.kafka(t.Context(), runningKafka())
			if err != nil || (kafka.Seen != nil) != tc.want || len(kafka.Pools) != 1 {
				t.Errorf("of a Kafka: %+v, %v", kafka, err)
			}
			rebalance, err := s.rebalance(t.Context(), &apiv1.KafkaRebalance{ObjectMeta: nodePool(1).ObjectMeta})
			if err != nil || (rebalance.Seen != nil) != tc.want || len(rebalance.Pools) != 1 {
				t.Errorf("of a rebalance: %+v, %v", rebalance, err)
			}
		})
	}
	failing := cached(t, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		if _, ok := obj.(*corev1.ConfigMap); ok {
			return errors.New("not synced")
		}
		return c.Get(ctx, key, obj, opts...)
	}})
	if _, err := failing.kafka(t.Context(), runningKafka()); err == nil {
		t.Error("facts that could not be asked for count as not published")
	}
}

func TestDeletionWaitsForTheCacheToHear(t *testing.T) {
	t.Parallel()
	controllers := nodePool(3, apiv1.RoleController)
	deletion := func(t *testing.T, s source) admission.Response {
		h := &handler[*apiv1.KafkaNodePool]{answers: silent(apiv1.KindKafkaNodePool), decoder: admission.NewDecoder(scheme(t)), judgeDeletion: judgeNodePoolDeletion(s)}
		object := controllers.DeepCopy()
		object.TypeMeta = metav1.TypeMeta{APIVersion: apiv1.GroupVersion.String(), Kind: apiv1.KindKafkaNodePool}
		return h.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Namespace: "kafka", Name: "brokers", Operation: admissionv1.Delete, OldObject: raw(t, object),
		}})
	}
	// The Kafka is gone at the third look.
	goesAt := func(look int32) source {
		var looks atomic.Int32
		return cached(t, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, obj, opts...)
			if k, ok := obj.(*apiv1.Kafka); ok && looks.Add(1) >= look {
				now := metav1.Now()
				k.DeletionTimestamp = &now
			}
			return err
		}}, runningKafka(), controllers)
	}
	if resp := deletion(t, goesAt(3)); !resp.Allowed {
		t.Errorf("refused though the Kafka goes: %+v", resp.Result)
	}
	if resp := deletion(t, goesAt(1000)); resp.Allowed || resp.Result.Code != http.StatusUnprocessableEntity {
		t.Errorf("a Kafka that stays: %+v", resp)
	}
	unavailable := cached(t, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("not synced")
	}})
	if resp := deletion(t, unavailable); resp.Allowed || resp.Result.Code != http.StatusServiceUnavailable {
		t.Errorf("a Kafka that cannot be read: %+v", resp)
	}
}

// mapper answers for cert-manager's kinds.
type mapper struct {
	meta.RESTMapper
	err error
}

func (m *mapper) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return &meta.RESTMapping{}, m.err
}

func TestCertManager(t *testing.T) {
	t.Parallel()
	m := &mapper{err: errors.New("the API server does not answer")}
	ticks := clocktesting.NewFakeClock(time.Unix(0, 0))
	c := &certManager{mapper: m, clock: ticks}
	absent := func() bool { return c.in(validation.Options{}).WithoutCertManager }
	c.look(t.Context())
	if absent() {
		t.Error("what is not known is taken for absent")
	}
	m.err = &meta.NoKindMatchError{}
	c.look(t.Context())
	if !absent() {
		t.Error("absence is not noticed")
	}
	m.err = errors.New("the API server does not answer")
	c.look(t.Context())
	if !absent() {
		t.Error("what was known is forgotten")
	}
	m.err = nil
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	for absent() { // ends with the test's own timeout
		ticks.Step(lookAgainAfter)
	}
	cancel()
	if err := <-done; err != nil || c.NeedLeaderElection() {
		t.Errorf("got %v", err)
	}
}

type answering func() admission.Response

func (f answering) Handle(context.Context, admission.Request) admission.Response { return f() }

func TestMeasures(t *testing.T) {
	t.Parallel()
	refusedWith := func(code int32) answering {
		return func() admission.Response { return denied(metav1.Status{Code: code}) }
	}
	for name, tc := range map[string]struct {
		operation           admissionv1.Operation
		subresource         string
		next                answering
		wantOp, wantVerdict string
	}{
		"silence":          {admissionv1.Create, "", func() admission.Response { return admission.Allowed("") }, "create", "allowed"},
		"a warning":        {admissionv1.Update, "", func() admission.Response { return admission.Allowed("").WithWarnings("w") }, "update", "warned"},
		"a refusal":        {admissionv1.Delete, "", refusedWith(422), "delete", "refused"},
		"a refused Scale":  {admissionv1.Update, "scale", refusedWith(422), "scale", "refused"},
		"no object":        {admissionv1.Create, "", refusedWith(400), "create", "unreadable"},
		"no fact":          {admissionv1.Create, "", refusedWith(503), "create", "unavailable"},
		"a panic":          {admissionv1.Create, "", func() admission.Response { panic("boom") }, "create", "failed"},
		"what is not ours": {admissionv1.Connect, "", func() admission.Response { return admission.Response{} }, "other", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := prometheus.NewRegistry()
			h := &measured{kind: "Kafka", clock: clock.RealClock{}, metrics: metrics.NewAdmission(reg), next: tc.next}
			func() {
				defer func() { _ = recover() }()
				h.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: tc.operation, SubResource: tc.subresource}})
			}()
			want := map[string]string{"kind": "Kafka", "operation": tc.wantOp, "verdict": tc.wantVerdict}
			families, err := reg.Gather()
			if err != nil || len(families) != 2 {
				t.Fatalf("got %v, %v", families, err)
			}
			for _, f := range families {
				for _, l := range f.Metric[0].Label {
					if want[l.GetName()] != l.GetValue() {
						t.Errorf("%s: got %s", f.GetName(), labelsOf(f.Metric[0]))
					}
				}
			}
		})
	}
}

func labelsOf(m *dto.Metric) string {
	text := ""
	for _, l := range m.Label {
		text += l.GetName() + "=" + l.GetValue() + " "
	}
	return text
}

func TestRefusalsAreCountedByRule(t *testing.T) {
	t.Parallel()
	var got []string
	a := answers{kind: apiv1.KindKafkaNodePool, refused: func(kind, rule string) { got = append(got, kind+"/"+rule) }}
	a.answer("brokers", validation.KafkaNodePool(nodePool(-1), nil, validation.PoolFacts{}, validation.Options{}))
	if len(got) != 2 || got[0] != "KafkaNodePool/pool-replicas-negative" || got[1] != "KafkaNodePool/pool-role-missing" {
		t.Errorf("got %q", got)
	}
}
