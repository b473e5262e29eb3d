package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-kafka/sluice/internal/brokerpod"
	"github.com/sluice-kafka/sluice/internal/nodepool"
)

// verb is what is done to an object.
type verb string

const (
	// create makes an object that is not changed afterwards.
	create verb = "create"
	// apply makes an object, or changes those fields of it that are the operator's.
	apply verb = "apply"
	// resize changes a claim.
	resize verb = "patch"
	// remove deletes the very object that was seen.
	remove verb = "delete"
)

// change of one object of Kubernetes.
type change struct {
	verb verb
	// object as it is wanted, or as it is to be deleted.
	object client.Object
	// live is the one that a resize is made from.
	live client.Object
	// why for the log.
	why string
}

// objects are the changes of Kubernetes that a plan needs.
type objects struct {
	// cluster are the services; budget comes after the pods.
	cluster, budget []change
	// nodes are in the order in which a node's objects are needed, by the index of
	// its member.
	nodes map[int][]change
}

// any tells whether there is anything to be changed.
func (o objects) any() bool { return len(o.cluster)+len(o.budget)+len(o.nodes) > 0 }

// changes compares what is with what is wanted.
func (p *plan) changes(s *state) (objects, error) {
	out := objects{nodes: map[int][]change{}}
	if len(p.faults) > 0 {
		return out, nil
	}
	services, err := brokerpod.Services(s.kafka)
	if err != nil {
		return out, err
	}
	for _, wanted := range services {
		if err := appendApply(&out.cluster, wanted, live(s.services, wanted.Name)); err != nil {
			return out, err
		}
	}
	budget, err := brokerpod.DisruptionBudget(s.kafka, p.existingPods(s))
	if err != nil {
		return out, err
	}
	if budget != nil && p.existingPods(s) > 0 {
		if err := appendApply(&out.budget, budget, live(s.budgets, budget.Name)); err != nil {
			return out, err
		}
	}
	for i := range p.members {
		changes, err := p.members[i].changes(s)
		if err != nil {
			return out, err
		}
		if len(changes) > 0 {
			out.nodes[i] = changes
		}
	}
	return out, nil
}

// live is an object without the pitfalls of a nil pointer in an interface.
func live[T client.Object](objects map[string]T, name string) client.Object {
	if o, ok := objects[name]; ok {
		return o
	}
	return nil
}

// existingPods are those that exist once this turn has made the missing ones. The
// disruption budget counts what exists: the number that is wanted is lowered
// before brokers are empty, and would let that many be evicted.
func (p *plan) existingPods(s *state) int {
	names := map[string]bool{}
	for name := range s.pods {
		names[name] = true
	}
	for _, m := range p.members {
		names[m.Pod] = true
	}
	for _, n := range p.removed {
		delete(names, n.Pod)
	}
	// Their pods are there until they have terminated, and are no part of it.
	for _, l := range p.layout.leaving {
		if !l.staysController {
			delete(names, nodepool.PodName(s.kafka.Name, l.pool, l.id))
		}
	}
	return len(names)
}

// changes of a member's objects; none where they cannot be made, which a condition
// tells. The ConfigMap and the claims come first: a pod
// would wait for them, and with an old ConfigMap it would start with old options.
func (m *member) changes(s *state) ([]change, error) {
	var changes []change
	if m.configMap == nil || m.pod == nil {
		return nil, nil
	}
	if err := appendApply(&changes, m.configMap, live(s.configMaps, m.configMap.Name)); err != nil {
		return nil, err
	}
	for _, wanted := range m.claims {
		claim := s.claims[wanted.Name]
		if claim == nil {
			changes = append(changes, change{verb: create, object: wanted, why: "the node's disk has no claim"})
			continue
		}
		if resized, why := brokerpod.ClaimChange(claim, wanted); resized != nil {
			changes = append(changes, change{verb: resize, object: resized, live: claim, why: fmt.Sprint(why)})
		}
	}
	switch pod := s.pods[m.Pod]; {
	case pod == nil:
		changes = append(changes, change{verb: create, object: m.pod, why: "the node has no pod"})
	case isLive(pod) && ended(pod):
		changes = append(changes, change{verb: remove, object: pod, why: "it has ended: " + pod.Status.Reason})
	}
	return changes, nil
}

// ended tells of a pod that never runs again, as one that the kubelet evicted.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func appendApply(changes *[]change, wanted, live client.Object) error {
	if live == nil {
		*changes = append(*changes, change{verb: apply, object: wanted, why: "it does not exist"})
		return nil
	}
	why, err := difference(wanted, live)
	if err != nil {
		return err
	}
	if why != "" {
		*changes = append(*changes, change{verb: apply, object: wanted, why: why})
	}
	return nil
}

// difference names the first field, in their order, in which a live object lacks
// what is wanted of it; empty where it has all. What others added to it, and what
// the API server filled in, is no difference, but for the data of a ConfigMap.
func difference(wanted, live client.Object) (string, error) {
	w, err := fieldsOf(wanted)
	if err != nil {
		return "", err
	}
	l, err := fieldsOf(live)
	if err != nil {
		return "", err
	}
	if a, ok := wanted.(*corev1.ConfigMap); ok {
		if b, ok := live.(*corev1.ConfigMap); ok && !maps.Equal(a.Data, b.Data) {
			return "data", nil
		}
	}
	delete(w, "status")
	return lacks(w, l, ""), nil
}

func fieldsOf(o client.Object) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding %T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("reading %T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	delete(fields, "kind")
	delete(fields, "apiVersion")
	return fields, nil
}

// lacks compares two values field by field; lists are compared item by item.
func lacks(wanted, live any, path string) string {
	switch w := wanted.(type) {
	case nil:
		return ""
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok && len(w) > 0 {
			return path
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if at := lacks(w[name], l[name], path+"."+name); at != "" {
				return at
			}
		}
		return ""
	case []any:
		return lacksItem(w, live, path)
	}
	if !reflect.DeepEqual(wanted, live) {
		return path
	}
	return ""
}

func lacksItem(wanted []any, live any, path string) string {
	l, ok := live.([]any)
	if !ok || len(l) != len(wanted) {
		return path
	}
	for i := range wanted {
		if at := lacks(wanted[i], l[i], fmt.Sprintf("%s[%d]", path, i)); at != "" {
			return at
		}
	}
	return ""
}

// unstructuredOf is an object in the form that a server-side apply takes.
func unstructuredOf(scheme *runtime.Scheme, o client.Object) (map[string]any, error) {
	gvks, _, err := scheme.ObjectKinds(o)
	if err != nil || len(gvks) == 0 {
		return nil, fmt.Errorf("naming the kind of %T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("encoding %T %s/%s: %w", o, o.GetNamespace(), o.GetName(), err)
	}
	fields["apiVersion"], fields["kind"] = gvks[0].GroupVersion().String(), gvks[0].Kind
	delete(fields, "status")
	return fields, nil
}
