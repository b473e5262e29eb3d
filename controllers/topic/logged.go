package topic

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// logged tells in the log what would be Events.
type logged struct{ log logr.Logger }

// Eventf implements recorder.
func (l logged) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	var of types.NamespacedName
	if ref, ok := regarding.(*corev1.ObjectReference); ok {
		of = types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	} else if o, err := meta.Accessor(regarding); err == nil {
		of = types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
	}
	l.log.Info("Something happened to a resource", "controller", "topic", "of", of.String(), "reason", reason, "what", fmt.Sprintf(note, args...))
}
