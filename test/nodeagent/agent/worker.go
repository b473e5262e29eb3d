//go:build linux

package agent

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-kafka/sluice/test/nodeagent/sandbox"
)

// worker runs one pod.
type worker struct {
	*Agent
	key types.NamespacedName
	// exists ends when the pod is gone from the API or the agent stops: what runs
	// is killed. wanted ends when the pod is to be deleted: what runs is stopped.
	exists, wanted             context.Context
	goneFromAPI, noLongerNeeds context.CancelFunc
	// changed wakes all who wait for anything; stale says that volumes may have
	// to be filled anew.
	changed broadcast
	stale   *signal

	mu      sync.Mutex
	pod     *corev1.Pod
	sandbox *sandbox.Sandbox
	ip      net.IP
	begun   metav1.Time
	stopAt  time.Time
	inits   []*container
	mains   []*container
	folders map[string]string
	// trouble holds the pod before its containers.
	trouble string

	publishing sync.Mutex
	published  *corev1.PodStatus
}

func newWorker(ctx context.Context, a *Agent, pod *corev1.Pod) *worker {
	w := &worker{Agent: a, key: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod: pod, stale: newSignal(), begun: metav1.Now()}
	w.exists, w.goneFromAPI = context.WithCancel(ctx)
	w.wanted, w.noLongerNeeds = context.WithCancel(w.exists)
	for _, c := range pod.Spec.InitContainers {
		w.inits = append(w.inits, newContainer(w, c))
	}
	for _, c := range pod.Spec.Containers {
		w.mains = append(w.mains, newContainer(w, c))
	}
	return w
}

// update takes what the API says of the pod.
func (w *worker) update(pod *corev1.Pod, isGone bool) {
	w.mu.Lock()
	if grace := pod.DeletionGracePeriodSeconds; pod.DeletionTimestamp != nil && grace != nil {
		// A second request may shorten it.
		at := time.Now().Add(time.Duration(*grace) * time.Second)
		if w.stopAt.IsZero() || at.Before(w.stopAt) {
			w.stopAt = at
		}
	}
	w.pod = pod
	w.mu.Unlock()
	if isGone {
		w.goneFromAPI()
	}
	if pod.DeletionTimestamp != nil {
		w.noLongerNeeds()
	}
	w.stale.set()
	w.changed.wake()
}

func (w *worker) changedAny() { w.changed.wake() }

func (w *worker) current() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod
}

func (w *worker) address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ip == nil {
		return ""
	}
	return w.ip.String()
}

// asSeen is the pod with the addresses that it has, whatever the API knows.
func (w *worker) asSeen() *corev1.Pod {
	pod := w.current().DeepCopy()
	pod.Status.PodIP, pod.Status.HostIP = w.address(), w.Network.Gateway.IP.String()
	return pod
}

// run brings the pod up, keeps it so, and takes it down.
func (w *worker) run() {
	w.Log.Info("Starting pod", "pod", w.key, "node", w.current().Spec.NodeName)
	if w.prepare() {
		var side sync.WaitGroup
		side.Go(w.keepVolumes)
		w.runContainers()
		if w.wanted.Err() == nil {
			// All have ended for good; the pod waits for its deletion.
			w.publish()
			<-w.wanted.Done()
		}
		w.goodbye(&side)
		return
	}
	w.goodbye(nil)
}

// goodbye removes the pod, whose processes have ended, from this machine and
// from the API.
func (w *worker) goodbye(side *sync.WaitGroup) {
	if w.exists.Err() == nil {
		w.publish()
	}
	w.mu.Lock()
	s := w.sandbox
	w.sandbox = nil
	w.mu.Unlock()
	if s != nil {
		s.Close()
	}
	for w.exists.Err() == nil {
		w.Log.Info("Deleting pod", "pod", w.key)
		now := int64(0)
		uid := w.current().UID
		err := w.Client.CoreV1().Pods(w.key.Namespace).Delete(w.exists, w.key.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid},
		})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || w.exists.Err() != nil {
			break
		}
		w.Log.Error("Deleting a pod", "pod", w.key, "error", err)
		w.pause(w.exists)
	}
	w.goneFromAPI()
	if side != nil {
		side.Wait()
	}
	if err := os.RemoveAll(w.podDir(w.current())); err != nil {
		w.Log.Error("Removing the folder of a pod", "pod", w.key, "error", err)
	}
	w.toName.set()
}

// prepare gives the pod its address and its volumes; it returns false when the
// pod is to go before that is done.
func (w *worker) prepare() bool {
	for w.wanted.Err() == nil {
		err := w.tryPrepare()
		trouble := ""
		if err != nil {
			trouble = err.Error()
		}
		w.mu.Lock()
		news := w.trouble != trouble
		w.trouble = trouble
		w.mu.Unlock()
		w.publish()
		if err == nil {
			return true
		}
		if news {
			w.Log.Info("Pod waits", "pod", w.key, "reason", trouble)
		}
		w.pause(w.wanted)
	}
	return false
}

func (w *worker) tryPrepare() error {
	pod := w.current()
	if w.folders == nil {
		if err := os.MkdirAll(filepath.Join(w.podDir(pod), "volumes"), 0o755); err != nil {
			return err
		}
	}
	if w.sandbox == nil {
		ip, err := w.Agent.address()
		if err != nil {
			return err
		}
		hostname := pod.Spec.Hostname
		if hostname == "" {
			hostname = pod.Name
		}
		s, err := w.Network.New(hostname, ip)
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.sandbox, w.ip = s, ip
		w.mu.Unlock()
	}
	if err := w.writeHosts(w.serviceNames()); err != nil {
		return err
	}
	folders, err := w.mountVolumes(w.wanted)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.folders = folders
	w.mu.Unlock()
	return nil
}

// writeHosts writes the pod's hosts file: its own name, then those of services.
func (w *worker) writeHosts(shared string) error {
	pod, ip := w.current(), w.address()
	if ip == "" {
		return nil
	}
	hostname := pod.Spec.Hostname
	if hostname == "" {
		hostname = pod.Name
	}
	own := hostname
	if pod.Spec.Subdomain != "" {
		own = domains(hostname+"."+pod.Spec.Subdomain, pod.Namespace)[0] + " " + hostname
	}
	err := overwrite(w.hostsPath(pod), localhost+fmt.Sprintf("%s %s\n", ip, own)+shared)
	if os.IsNotExist(err) {
		return nil // on its way out
	}
	return err
}

func (w *worker) hostsPath(pod *corev1.Pod) string { return filepath.Join(w.podDir(pod), "hosts") }

// runContainers returns when no process is left and none will come.
func (w *worker) runContainers() {
	for _, c := range w.inits {
		if !c.keep(initPolicy(w.current().Spec.RestartPolicy)) {
			return
		}
	}
	var all sync.WaitGroup
	for _, c := range w.mains {
		all.Go(func() { c.keep(w.current().Spec.RestartPolicy) })
	}
	all.Wait()
}

// initPolicy: an init container is run until it succeeds, but never again where
// the pod's policy is Never.
func initPolicy(p corev1.RestartPolicy) corev1.RestartPolicy {
	if p == corev1.RestartPolicyNever {
		return p
	}
	return corev1.RestartPolicyOnFailure
}

// pause waits for a change, but not long.
func (w *worker) pause(ctx context.Context) {
	timer := time.NewTimer(retryEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-w.changed.next():
	case <-timer.C:
	}
}
