//go:build !linux

package harness

import "errors"

// Isolate fails: nodes need Linux's namespaces.
func Isolate(func() error) error {
	return CanIsolate()
}

// CanIsolate is why Isolate would fail here.
func CanIsolate() error {
	return errors.New("running pods as processes needs Linux's namespaces")
}

func isIsolated() bool { return false }
