//go:build linux

package agent

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const localhost = "127.0.0.1 localhost\n::1 localhost\n"

// writeHosts stands in for the cluster's DNS: it writes the names of services
// and of their pods into the hosts file of every pod and into the agent's own.
func (a *Agent) writeHosts(context.Context) (done bool) {
	shared := a.serviceNames()
	done = true
	if a.Hosts != "" {
		if err := overwrite(a.Hosts, localhost+shared); err != nil {
			a.Log.Error("Writing the hosts file", "error", err)
			done = false
		}
	}
	a.eachWorker(func(w *worker) {
		if err := w.writeHosts(shared); err != nil {
			a.Log.Error("Writing the hosts file of a pod", "pod", w.key, "error", err)
			done = false
		}
	})
	return done
}

// serviceNames are the records that a cluster's DNS would have: for a headless
// service its pods, and each that has a host name below the service's; for any
// other its pods as well, since nothing else stands for its own address.
func (a *Agent) serviceNames() string {
	services, err := a.services.List(labels.Everything())
	if err != nil {
		a.Log.Error("Listing services", "error", err)
	}
	sortByName(services)
	pods := a.allPods()
	var text strings.Builder
	for _, s := range services {
		if len(s.Spec.Selector) == 0 {
			continue
		}
		for _, p := range pods {
			if p.Namespace != s.Namespace || !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(p.Labels)) || !published(s, p) {
				continue
			}
			var names []string
			if s.Spec.ClusterIP == corev1.ClusterIPNone && p.Spec.Subdomain == s.Name && p.Spec.Hostname != "" {
				// First, since the first is what an address's name is.
				names = domains(p.Spec.Hostname+"."+s.Name, s.Namespace)
			}
			names = append(names, domains(s.Name, s.Namespace)...)
			fmt.Fprintf(&text, "%s %s\n", p.Status.PodIP, strings.Join(names, " "))
		}
	}
	return text.String()
}

// published tells whether the service's DNS record has the pod.
func published(s *corev1.Service, p *corev1.Pod) bool {
	if p.Status.PodIP == "" || finished(p) {
		return false
	}
	ready := p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	return ready || s.Spec.PublishNotReadyAddresses
}

func domains(name, namespace string) []string {
	short := name + "." + namespace
	return []string{short + ".svc.cluster.local", short + ".svc", short}
}

// overwrite replaces a file's content in place: the file is mounted, and a new
// one of the same name would not be seen.
func overwrite(path, text string) error {
	old, err := os.ReadFile(path)
	if err == nil && string(old) == text {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	// One write, then the cut: no reader finds the file empty.
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
