package webhooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
)

func nodePool(replicas int64, roles ...string) *apiv1.KafkaNodePool {
	return &apiv1.KafkaNodePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "brokers", Labels: map[string]string{apiv1.LabelCluster: "my-cluster"}},
		Spec:       apiv1.KafkaNodePoolSpec{Replicas: &replicas, Roles: roles},
	}
}

func runningKafka() *apiv1.Kafka {
	return &apiv1.Kafka{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: "my-cluster", Annotations: map[string]string{apiv1.AnnotationSluiceManaged: "true"}},
		Status:     apiv1.KafkaStatus{ClusterID: "abc"},
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	const three, five = `{"spec":{"replicas":3}}`, `{"spec":{"replicas":5}}`
	fails := interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("forbidden")
	}}
	controllers := nodePool(3, apiv1.RoleController)
	templated := nodePool(3, apiv1.RoleBroker)
	templated.Spec.Template = &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: []apiv1.TemplatedVolume{{Name: "a"}}}}
	for name, tc := range map[string]struct {
		cached, stored *apiv1.KafkaNodePool
		live           interceptor.Funcs
		object, old    string
		operation      admissionv1.Operation
		wantAllowed    bool
		wantCode       int32
		wantMessage    string
	}{
		"brokers come":                              {cached: nodePool(3, apiv1.RoleBroker), object: five, old: three, wantAllowed: true},
		"controllers stay":                          {cached: controllers, object: five, old: three, wantCode: 422, wantMessage: "spec.replicas"},
		"the cache has not heard of the pool":       {stored: controllers, object: five, old: three, wantCode: 422, wantMessage: "spec.replicas"},
		"there is no such pool":                     {object: five, old: three, wantAllowed: true},
		"nor can it be read":                        {live: fails, object: five, old: three, wantCode: 503, wantMessage: "try again"},
		"the cache is behind":                       {cached: nodePool(5, apiv1.RoleController), object: five, old: three, wantCode: 422, wantMessage: "in place of 3"},
		"without an old one the pool itself counts": {cached: controllers, object: five, wantCode: 422, wantMessage: "in place of 3"},
		"no JSON":                           {cached: controllers, object: `{`, old: three, wantCode: 400, wantMessage: "cannot be read"},
		"a pool's other faults are its own": {cached: templated, object: five, old: three, wantAllowed: true},
		"another operation":                 {cached: controllers, object: five, old: three, operation: admissionv1.Connect, wantAllowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objs := []client.Object{runningKafka()}
			if tc.cached != nil {
				objs = append(objs, tc.cached.DeepCopy())
			}
			s := cached(t, interceptor.Funcs{}, objs...)
			live := fake.NewClientBuilder().WithScheme(scheme(t)).WithInterceptorFuncs(tc.live)
			if tc.stored != nil {
				live = live.WithObjects(tc.stored.DeepCopy())
			}
			h := &scaleHandler{answers: silent(apiv1.KindKafkaNodePool), cache: s.reader, live: live.Build(), judge: judgeNodePool(s, validation.Options{})}
			if tc.operation == "" {
				tc.operation = admissionv1.Update
			}
			resp := h.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Namespace: "kafka", Name: "brokers", Operation: tc.operation, SubResource: "scale",
				Object: raw(t, tc.object), OldObject: raw(t, tc.old),
			}})
			if resp.Allowed != tc.wantAllowed {
				t.Fatalf("allowed %v: %+v", resp.Allowed, resp.Result)
			}
			if !tc.wantAllowed && (resp.Result.Code != tc.wantCode || !strings.Contains(resp.Result.Message, tc.wantMessage)) {
				t.Errorf("got %d %q, want %d with %q", resp.Result.Code, resp.Result.Message, tc.wantCode, tc.wantMessage)
			}
		})
	}
}

func TestAtReplicas(t *testing.T) {
	t.Parallel()
	p := nodePool(3)
	result := validation.KafkaNodePool(p, nil, validation.PoolFacts{}, validation.Options{})
	moved := atReplicas(result)
	if len(moved.Refusals) != 1 || moved.Refusals[0].Path.String() != "spec.replicas" || !strings.HasPrefix(moved.Refusals[0].Message, "spec.roles of the pool: ") {
		t.Errorf("got %+v", moved.Refusals)
	}
	if result.Refusals[0].Path.String() != "spec.roles" {
		t.Error("the rules' own result was changed")
	}
}
