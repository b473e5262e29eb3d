package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
	"github.com/sluice-kafka/sluice/internal/validation"
	"github.com/sluice-kafka/sluice/test/bench/workload"
)

const (
	benchCluster = "bench"
	benchTopics  = 10_000
)

// BenchmarkHandlers measures whole requests, from the body of a review to the
// body of its answer, over the manager's kind of cache with 10,000 topics in it.
func BenchmarkHandlers(b *testing.B) {
	s := source{reader: informed(b)}
	decoder := admission.NewDecoder(benchScheme(b))
	topics := &webhook.Admission{Handler: &handler[*apiv1.KafkaTopic]{
		answers: silent(apiv1.KindKafkaTopic), decoder: decoder, judge: judgeTopic(s, validation.Options{}),
	}}
	kafkas := &webhook.Admission{Handler: &handler[*apiv1.Kafka]{
		answers: silent(apiv1.KindKafka), decoder: decoder, judge: judgeKafka(s, func() validation.Options { return validation.Options{} }),
	}}
	topic, kafka := workload.Topic(benchCluster, benchTopics/2), workload.Kafka(benchCluster)
	for _, bm := range []struct {
		name     string
		handler  http.Handler
		obj, old runtime.Object
	}{
		{"topic create", topics, workload.Topic(benchCluster, benchTopics), nil},
		{"topic update", topics, workload.SetTopicOption(topic, 1), topic},
		{"kafka create", kafkas, kafka, nil},
		{"kafka update", kafkas, workload.SetKafkaOption(kafka, 1), kafka},
	} {
		b.Run(bm.name, func(b *testing.B) {
			body := reviewOf(b, bm.obj, bm.old)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				bm.handler.ServeHTTP(w, r)
				if !bytes.Contains(w.Body.Bytes(), []byte(`"allowed":true`)) {
					b.Fatal(w.Body.String())
				}
			}
		})
	}
}

func reviewOf(b *testing.B, obj, old runtime.Object) []byte {
	b.Helper()
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Operation: admissionv1.Create, Object: encoded(b, obj),
		},
	}
	if old != nil {
		review.Request.Operation, review.Request.OldObject = admissionv1.Update, encoded(b, old)
	}
	body, err := json.Marshal(review)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

func encoded(b *testing.B, obj runtime.Object) runtime.RawExtension {
	b.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		b.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

func benchScheme(b *testing.B) *runtime.Scheme {
	b.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiv1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// stored answers the informers in the API server's place. It has no watch list,
// and so is asked for a list.
type stored struct {
	toolscache.ListWatch
}

func (*stored) IsWatchListSemanticsUnSupported() bool { return true }

// informed is the manager's kind of cache, with the indexes of admission, over
// the objects of the benchmark. It stops with the benchmark.
func informed(b *testing.B) cache.Cache {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := benchScheme(b)
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk := range s.AllKnownTypes() {
		mapper.Add(gvk, meta.RESTScopeNamespace)
	}
	c, err := cache.New(&rest.Config{}, cache.Options{
		Scheme: s, Mapper: mapper, HTTPClient: http.DefaultClient,
		NewInformer: func(_ toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, ix toolscache.Indexers) toolscache.SharedIndexInformer {
			lw := &stored{toolscache.ListWatch{
				ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return listFor(b, s, obj) },
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
			}}
			return toolscache.NewSharedIndexInformer(lw, obj, resync, ix)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := addIndexes(ctx, c); err != nil {
		b.Fatal(err)
	}
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &apiv1.KafkaRebalance{}, &apiv1.Kafka{}} {
		if _, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false)); err != nil {
			b.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	syncing, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if !c.WaitForCacheSync(syncing) {
		b.Fatal("the cache did not sync")
	}
	return c
}

// listFor is everything that is stored of the object's kind.
func listFor(b *testing.B, s *runtime.Scheme, obj runtime.Object) (runtime.Object, error) {
	gvk, err := apiutil.GVKForObject(obj, s)
	if err != nil {
		return nil, err
	}
	var items []runtime.Object
	switch gvk.Kind {
	case apiv1.KindKafkaTopic:
		for n := range benchTopics {
			items = append(items, workload.Topic(benchCluster, n))
		}
	case apiv1.KindKafkaNodePool:
		for _, p := range workload.NodePools(benchCluster) {
			items = append(items, p)
		}
	case apiv1.KindKafka:
		items = append(items, workload.Kafka(benchCluster))
	}
	b.Logf("the cache holds %d of kind %s", len(items), gvk.Kind)
	list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, i := range items {
		list.Items = append(list.Items, runtime.RawExtension{Object: i})
	}
	return list, nil
}
