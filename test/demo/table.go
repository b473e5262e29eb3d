package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiv1 "github.com/sluice-kafka/sluice/api/v1"
)

// show shows resources in the columns that the API server gives them.
func (k *kubectl) show(ctx context.Context, resources string) error {
	k.command("kubectl get %s -n %s", resources, namespace)
	cfg := rest.CopyConfig(k.config)
	cfg.GroupVersion, cfg.APIPath = &apiv1.GroupVersion, "/apis"
	cfg.NegotiatedSerializer = serializer.WithoutConversionCodecFactory{CodecFactory: scheme.Codecs}
	c, err := rest.RESTClientFor(cfg)
	if err != nil {
		return err
	}
	for i, resource := range strings.Split(resources, ",") {
		if i > 0 {
			k.blank()
		}
		table := &metav1.Table{}
		err := c.Get().Namespace(namespace).Resource(plural(resource)).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx).Into(table)
		if err != nil {
			return fmt.Errorf("getting %s: %w", resource, err)
		}
		k.answer(columns(table))
	}
	return nil
}

func plural(resource string) string {
	if resource == "kafka" {
		return "kafkas"
	}
	return resource
}

// columns are those that kubectl shows without -o wide.
func columns(t *metav1.Table) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	row := func(cell func(i int) string) {
		var cells []string
		for i, c := range t.ColumnDefinitions {
			if c.Priority == 0 {
				cells = append(cells, cell(i))
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	row(func(i int) string { return strings.ToUpper(t.ColumnDefinitions[i].Name) })
	for _, r := range t.Rows {
		row(func(i int) string {
			if r.Cells[i] == nil {
				return ""
			}
			return fmt.Sprint(r.Cells[i])
		})
	}
	_ = w.Flush()
	return out.String()
}

// scale uses the scale subresource, as kubectl scale does.
func (k *kubectl) scale(ctx context.Context, pool string, replicas int32) error {
	k.command("kubectl scale kafkanodepool %s -n %s --replicas=%d", pool, namespace, replicas)
	p := &apiv1.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pool}}
	s := &autoscalingv1.Scale{}
	if err := k.SubResource("scale").Get(ctx, p, s); err != nil {
		return fmt.Errorf("reading the scale of pool %s: %w", pool, err)
	}
	s.Spec.Replicas = replicas
	err := k.SubResource("scale").Update(ctx, p, client.WithSubResourceBody(s))
	for _, text := range k.warnings.take() {
		k.answer("Warning: " + text)
	}
	if err != nil {
		return fmt.Errorf("scaling pool %s: %w", pool, err)
	}
	k.answer(fmt.Sprintf("kafkanodepool.kafka.strimzi.io/%s scaled", pool))
	return nil
}
