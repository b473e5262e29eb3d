package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/test/harness"
)

// orders are those that all manifests together are applied in. The last is as
// good as any other, and the same in every run.
var orders = []struct {
	name string
	sort func([]manifest)
}{
	{"forwards", func([]manifest) {}},
	{"backwards", slices.Reverse[[]manifest]},
	{"shuffled", func(m []manifest) {
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
	}},
}

// applyInOrders leaves each object in place, so that the later ones meet it, and
// updates what is there already. Every order has namespaces of its own.
func applyInOrders(ctx context.Context, cp *harness.ControlPlane, manifests []manifest) (refused int, err error) {
	for _, order := range orders {
		list := slices.Clone(manifests)
		order.sort(list)
		bad := 0
		for _, m := range list {
			o := m.object.DeepCopy()
			o.SetNamespace(o.GetNamespace() + "-" + order.name)
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
			if err := cp.Client.Create(ctx, ns); err != nil && !apierrors.IsAlreadyExists(err) {
				return refused, err
			}
			if err := apply(ctx, cp.Client, o); err != nil {
				fmt.Printf("%s: %s/%s: REFUSED %s: %v\n", m.file, o.GetKind(), o.GetName(), order.name, err)
				bad++
			}
		}
		fmt.Printf("%d manifests applied together, %s: %d refused\n", len(list), order.name, bad)
		refused += bad
	}
	return refused, nil
}

func apply(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	err := c.Create(ctx, o)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(o.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), there); err != nil {
		return err
	}
	o.SetResourceVersion(there.GetResourceVersion())
	return c.Update(ctx, o)
}
