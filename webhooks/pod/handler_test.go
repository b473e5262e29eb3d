package pod

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

const hashKey = "/metadata/annotations/sluice.dev~1templated-volumes"

// reader is an API server or a cache that holds the objects.
func reader(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// getterFunc is a getter that fails as it is told.
type getterFunc func(ctx context.Context, key client.ObjectKey, obj client.Object) error

func (f getterFunc) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	return f(ctx, key, obj)
}

func failing(err error) getter {
	return getterFunc(func(context.Context, client.ObjectKey, client.Object) error { return err })
}

// hanging answers only when its caller gives up.
func hanging() getter {
	return getterFunc(func(ctx context.Context, _ client.ObjectKey, _ client.Object) error {
		<-ctx.Done()
		return ctx.Err()
	})
}

func named(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels}
}

func secretTemplate(name, secret string) apiv1.TemplatedVolume {
	return apiv1.TemplatedVolume{Name: name, Secret: &corev1.SecretVolumeSource{SecretName: secret}}
}

// cluster is a Kafka whose template lists the volumes, and its pool.
func cluster(volumes ...apiv1.TemplatedVolume) []client.Object {
	kafka := &apiv1.Kafka{ObjectMeta: named("c", nil)}
	kafka.Spec.Kafka.Template = &apiv1.KafkaTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: volumes}}
	return []client.Object{kafka, &apiv1.KafkaNodePool{ObjectMeta: named("brokers", map[string]string{apiv1.LabelCluster: "c"})}}
}

func broker(mounts ...string) *corev1.Pod {
	return podOf("kafka", "c", "brokers", "c-brokers-7", mounts...)
}

func podOf(component, cluster, pool, name string, mounts ...string) *corev1.Pod {
	labels := map[string]string{
		apiv1.LabelComponentType: component, apiv1.LabelCluster: cluster, apiv1.LabelPodName: name,
	}
	if pool != "" {
		labels[apiv1.LabelPoolName] = pool
	}
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
	}
	for _, m := range mounts {
		c := &pod.Spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: m, MountPath: "/mnt/" + m})
	}
	return pod
}

func request(t *testing.T, pod *corev1.Pod) admission.Request {
	t.Helper()
	raw, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return rawRequest(string(raw))
}

func rawRequest(raw string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "uid", Namespace: "ns", Operation: admissionv1.Create,
		Kind:   metav1.GroupVersionKind{Version: "v1", Kind: "Pod"},
		Object: runtime.RawExtension{Raw: []byte(raw)},
	}}
}

// ops lists a patch as "op path".
func ops(resp admission.Response) []string {
	var out []string
	for _, p := range resp.Patches {
		out = append(out, p.Operation+" "+p.Path)
	}
	return out
}

func TestPodsOfEachKindAreCompleted(t *testing.T) {
	list := []apiv1.TemplatedVolume{secretTemplate("creds", "creds-{nodeId}")}
	template := &apiv1.ConnectTemplate{Pod: &apiv1.PodTemplate{TemplatedVolumes: list}}
	objects := append(cluster(list...),
		&apiv1.KafkaConnect{ObjectMeta: named("c", nil), Spec: apiv1.ConnectSpec{Template: template}},
		&apiv1.KafkaMirrorMaker2{ObjectMeta: named("m", nil), Spec: apiv1.ConnectSpec{Template: template}},
	)
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"a broker":               {broker("creds"), "creds-7"},
		"a Connect worker":       {podOf("kafka-connect", "c", "", "c-connect-1", "creds"), "creds-1"},
		"a MirrorMaker 2 worker": {podOf("kafka-mirror-maker-2", "m", "", "m-mirrormaker2-0", "creds"), "creds-0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHandler(reader(t, objects...), failing(errors.New("no live read is needed")))
			resp := h.Handle(t.Context(), request(t, tt.pod))
			if !resp.Allowed || len(resp.Warnings) > 0 {
				t.Errorf("answer %+v", resp.AdmissionResponse)
			}
			if diff := cmp.Diff([]string{"add /spec/volumes", "add /metadata/annotations"}, ops(resp)); diff != "" {
				t.Fatalf("patch (-want +got):\n%s", diff)
			}
			want := []corev1.Volume{{Name: "creds", VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: tt.want},
			}}}
			if diff := cmp.Diff(any(want), resp.Patches[0].Value); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestThePatchIsOnlyOfWhatChanges(t *testing.T) {
	pod := broker("creds", "data", "extra")
	pod.Annotations = map[string]string{"strimzi.io/revision": "1"}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data"}}
	objects := cluster(secretTemplate("creds", "s"), secretTemplate("extra", "e"))
	resp := newHandler(reader(t, objects...), reader(t, objects...)).Handle(t.Context(), request(t, pod))
	want := []string{"add /spec/volumes/-", "add /spec/volumes/-", "add " + hashKey}
	if diff := cmp.Diff(want, ops(resp)); diff != "" || !resp.Allowed {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func TestPodsThatGoThroughUnchanged(t *testing.T) {
	objects := cluster(secretTemplate("creds", "creds-{nodeId}"))
	copied := broker("creds")
	copied.Name = "copy"
	generated := broker("creds")
	generated.Name, generated.GenerateName = "", "copy-"
	tests := map[string]struct {
		req         admission.Request
		wantWarning string
	}{
		"every mount names a volume":          {request(t, broker()), ""},
		"a copy made for debugging":           {request(t, copied), "metadata.name: no templated volumes added"},
		"a name to be generated":              {request(t, generated), "metadata.name: no templated volumes added"},
		"a mount of a volume that nobody has": {request(t, broker("creds", "other")), `"other" of container main`},
		"a pod without an owner": {
			request(t, podOf("kafka-connect", "gone", "", "gone-connect-0", "creds")), "KafkaConnect gone does not exist",
		},
		"not JSON":        {rawRequest("{"), "decoding the pod"},
		"no object":       {rawRequest(""), "decoding the pod"},
		"a list":          {rawRequest("[]"), "decoding the pod"},
		"a pod of spoilt": {rawRequest(`{"spec":{"containers":{"a":1}}}`), "decoding the pod"},
		"null":            {rawRequest("null"), ""},
		"another kind": {admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Kind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		}}, "Deployment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resp := newHandler(reader(t, objects...), reader(t, objects...)).Handle(t.Context(), tt.req)
			if !resp.Allowed || len(resp.Patches) > 0 {
				t.Errorf("answer %+v, patch %v", resp.AdmissionResponse, resp.Patches)
			}
			if got := strings.Join(resp.Warnings, "\n"); (tt.wantWarning == "") != (got == "") || !strings.Contains(got, tt.wantWarning) {
				t.Errorf("warnings %q, want %q", got, tt.wantWarning)
			}
		})
	}
}

func TestWhatCannotBeObservedIsTriedAgain(t *testing.T) {
	gr := schema.GroupResource{Group: apiv1.Group, Resource: "kafkas"}
	empty := func(t *testing.T) getter { return reader(t) }
	tests := map[string]struct {
		cache func(t *testing.T) getter
		live  getter
	}{
		"a live read that is forbidden":    {empty, failing(apierrors.NewForbidden(gr, "c", nil))},
		"a live read that is throttled":    {empty, failing(apierrors.NewTooManyRequests("slow down", 1))},
		"a live read that times out":       {empty, failing(apierrors.NewTimeoutError("timeout", 1))},
		"a live read that never ends":      {empty, hanging()},
		"a connection that is refused":     {empty, failing(errors.New("connection refused"))},
		"a cache that was not started":     {func(*testing.T) getter { return failing(&cache.ErrCacheNotStarted{}) }, failing(errors.New("unused"))},
		"a cache that does not sync":       {func(*testing.T) getter { return hanging() }, failing(errors.New("unused"))},
		"a fault in Sluice":                {func(*testing.T) getter { return nil }, nil},
		"a second owner that is forbidden": {func(t *testing.T) getter { return reader(t, cluster()[0]) }, failing(apierrors.NewForbidden(gr, "c", nil))},
		"a live read for a mount that dangles": {
			func(t *testing.T) getter { return reader(t, cluster()...) }, failing(apierrors.NewInternalError(errors.New("etcd"))),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHandler(tt.cache(t), tt.live)
			h.gatherer.bound = 10 * time.Millisecond
			resp := h.Handle(t.Context(), request(t, broker("creds")))
			if resp.Allowed || resp.Result.Code != http.StatusServiceUnavailable || resp.Result.Reason != metav1.StatusReasonServiceUnavailable {
				t.Errorf("answer %+v, want a refusal with 503", resp.AdmissionResponse)
			}
			if len(resp.Patches) > 0 {
				t.Errorf("patch %v beside a refusal", resp.Patches)
			}
			if !strings.Contains(resp.Result.Message, "completing") {
				t.Errorf("message %q does not say what was being done", resp.Result.Message)
			}
		})
	}
}

// What is not there costs one live read of each owner; what dangles costs no
// second one when everything was read live already.
func TestLiveReadsAreFew(t *testing.T) {
	full := cluster(secretTemplate("creds", "s"))
	tests := map[string]struct {
		cached, live []client.Object
		pod          *corev1.Pod
		wantReads    int
		wantPatch    bool
	}{
		"all in the cache":                             {full, full, broker("creds"), 0, true},
		"nothing in the cache":                         {nil, full, broker("creds"), 2, true},
		"the pool is not in the cache yet":             {full[:1], full, broker("creds"), 2, true},
		"the cache holds an old list":                  {cluster(), full, broker("creds"), 2, true},
		"a mount dangles though all was read live":     {nil, full, broker("creds", "other"), 2, false},
		"the owner was deleted, and the cache knows":   {nil, nil, broker("creds"), 2, false},
		"the owner was deleted, the cache is behind":   {cluster(), nil, broker("creds"), 2, false},
		"no mount dangles, so nobody is asked at all":  {nil, nil, broker(), 0, false},
		"the pod says nothing of a node, nobody asked": {nil, nil, podOf("kafka", "c", "", "x", "creds"), 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reads := 0
			live := interceptor.NewClient(reader(t, tt.live...), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					reads++
					if _, bounded := ctx.Deadline(); !bounded {
						t.Error("a live read without a bound")
					}
					return c.Get(ctx, key, obj, opts...)
				},
			})
			resp := newHandler(reader(t, tt.cached...), live).Handle(t.Context(), request(t, tt.pod))
			if !resp.Allowed || (len(resp.Patches) > 0) != tt.wantPatch {
				t.Errorf("answer %+v, patch %v", resp.AdmissionResponse, resp.Patches)
			}
			if reads != tt.wantReads {
				t.Errorf("%d live reads, want %d", reads, tt.wantReads)
			}
		})
	}
}

func TestTheOwnersBoundHoldsForAllReadsOfARound(t *testing.T) {
	h := newHandler(reader(t), hanging())
	if got := 2 * h.gatherer.bound; got >= 5*time.Second {
		t.Errorf("a round of the cache and one of live reads may take %s, longer than the webhook's timeout", got)
	}
}

func TestWarningsStayWithinWhatTheServerPassesOn(t *testing.T) {
	var many []apiv1.TemplatedVolume
	for range 30 {
		many = append(many, secretTemplate(strings.Repeat("ä", 500), "s"))
	}
	h := newHandler(reader(t, cluster(many...)...), reader(t, cluster(many...)...))
	resp := h.Handle(t.Context(), request(t, broker("creds")))
	if len(resp.Warnings) != 10 {
		t.Errorf("%d warnings, want 10", len(resp.Warnings))
	}
	for _, w := range resp.Warnings {
		if n := len([]rune(w)); n > 256 {
			t.Errorf("a warning of %d characters: %s", n, w)
		}
	}
	if last := resp.Warnings[len(resp.Warnings)-1]; !strings.Contains(last, "22 more warnings") {
		t.Errorf("the last warning is %q", last)
	}
}

// Whatever comes, there is an answer, and it never refuses for the content.
func FuzzHandle(f *testing.F) {
	for _, raw := range []string{
		"", "null", "{}", "[]", `{"metadata":{"name":"c-brokers-7"}}`,
		`{"metadata":{"name":"c-brokers-7","labels":{"strimzi.io/component-type":"kafka","strimzi.io/cluster":"c","strimzi.io/pool-name":"brokers","strimzi.io/pod-name":"c-brokers-7"}},"spec":{"containers":[{"name":"kafka","volumeMounts":[{"name":"creds"}]}],"volumes":null}}`,
	} {
		f.Add([]byte(raw), "[{name: creds, secret: {secretName: 's-{nodeId}'}}]")
	}
	f.Fuzz(func(t *testing.T, raw []byte, annotation string) {
		owners := cluster()
		owners[0].SetAnnotations(map[string]string{apiv1.AnnotationPodTemplatedVolumes: annotation})
		known := getterFunc(func(_ context.Context, key client.ObjectKey, obj client.Object) error {
			switch o := obj.(type) {
			case *apiv1.Kafka:
				owners[0].(*apiv1.Kafka).DeepCopyInto(o)
			case *apiv1.KafkaNodePool:
				owners[1].(*apiv1.KafkaNodePool).DeepCopyInto(o)
			default:
				return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
			}
			return nil
		})
		resp := newHandler(known, known).Handle(t.Context(), rawRequest(string(raw)))
		if !resp.Allowed {
			t.Errorf("refused: %+v", resp.Result)
		}
		if err := resp.Complete(admission.Request{}); err != nil {
			t.Error(err)
		}
		for _, w := range resp.Warnings {
			if _, err := utilnet.NewWarningHeader(299, "-", w); err != nil {
				t.Errorf("the API server drops the warning %q: %v", w, err)
			}
		}
	})
}
