package brokerpod

import (
	corev1 "k8s.io/api/core/v1"
)

// onNodesWith returns an affinity, which may be nil, that also asks for nodes with
// a label: on any other the container would wait for its rack for ever. Each of
// the terms asks for it, for one of them is enough.
func onNodesWith(label string, a *corev1.Affinity) *corev1.Affinity {
	if label == "" {
		return a
	}
	if a == nil {
		a = &corev1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{}
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: label, Operator: corev1.NodeSelectorOpExists,
		})
	}
	return a
}
