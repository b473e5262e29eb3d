//go:build linux

// Package agent is a node, or several, whose pods are processes of this
// machine. It stands in for the scheduler, a volume provisioner, the kubelet, a
// container engine and the cluster's DNS, and knows nothing of what it runs.
//
// Left out: users, capabilities and limits of containers, sidecar and ephemeral
// containers, images other than folders, and all kinds of volumes that need a
// driver.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/sluice-kafka/sluice/test/nodeagent/sandbox"
)

// Node to register.
type Node struct {
	Name   string
	Labels map[string]string
}

// Image stands for a container image: a folder that is mounted, read-only, where
// the image would have it; nothing is where there is no folder.
type Image struct {
	Folder, Path string
}

// Config of an agent.
type Config struct {
	Client kubernetes.Interface
	Nodes  []Node
	// Images by the name that containers ask for. A container of any other waits.
	Images map[string]Image
	// Env is set in every container that does not set it itself.
	Env map[string]string
	// Root is the folder of pods and claims, Logs that of the containers' output.
	Root, Logs string
	// Hosts is a file that the agent keeps the names of all services and pods in,
	// for processes outside of pods; empty for none.
	Hosts string
	// Network that pods are connected to.
	Network *sandbox.Network
	// BackOff before the second restart in a row of a container; it doubles up to
	// MaxBackOff and begins anew when the container has run for MaxBackOff.
	BackOff, MaxBackOff time.Duration
	Log                 *slog.Logger
}

// Agent runs the pods of its nodes.
type Agent struct {
	Config

	pods     listers.PodLister
	nodes    listers.NodeLister
	claims   listers.PersistentVolumeClaimLister
	volumes  listers.PersistentVolumeLister
	services listers.ServiceLister

	toBind, toStore, toName *signal

	mu      sync.Mutex
	workers map[types.UID]*worker
	held    map[types.NamespacedName]bool
	lastIP  uint32
	running sync.WaitGroup
}

// New makes an agent.
func New(c Config) *Agent {
	return &Agent{
		Config: c,
		toBind: newSignal(), toStore: newSignal(), toName: newSignal(),
		workers: map[types.UID]*worker{}, held: map[types.NamespacedName]bool{},
	}
}

// Run registers the nodes and runs pods until the context is done; then it kills
// all their processes. It calls ready when pods can come.
func (a *Agent) Run(ctx context.Context, ready func()) error {
	group, ctx := errgroup.WithContext(ctx)
	factory := informers.NewSharedInformerFactory(a.Client, 0)
	core := factory.Core().V1()
	a.pods, a.nodes, a.claims = core.Pods().Lister(), core.Nodes().Lister(), core.PersistentVolumeClaims().Lister()
	a.volumes, a.services = core.PersistentVolumes().Lister(), core.Services().Lister()
	for informer, handle := range map[cache.SharedIndexInformer]func(object any){
		core.Nodes().Informer():                  func(any) { a.toBind.set() },
		core.PersistentVolumeClaims().Informer(): func(any) { a.toStore.set(); a.eachWorker((*worker).changedAny) },
		core.PersistentVolumes().Informer():      func(any) { a.toStore.set() },
		core.Services().Informer():               func(any) { a.toName.set() },
		core.ConfigMaps().Informer():             a.sourceChanged,
		core.Secrets().Informer():                a.sourceChanged,
		core.Pods().Informer(): func(o any) {
			a.toBind.set()
			a.toName.set()
			a.podChanged(ctx, o)
		},
	} {
		if _, err := informer.AddEventHandler(onAny(handle)); err != nil {
			return err
		}
	}
	if err := a.register(ctx); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	group.Go(func() error { return a.beat(ctx) })
	group.Go(func() error { return a.toBind.each(ctx, a.bindPods) })
	group.Go(func() error { return a.toStore.each(ctx, a.syncClaims) })
	group.Go(func() error { return a.toName.each(ctx, a.writeHosts) })
	if ctx.Err() == nil {
		ready()
	}
	err := group.Wait()
	a.running.Wait()
	factory.Shutdown()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func onAny(handle func(any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, o any) { handle(o) },
		DeleteFunc: func(o any) {
			if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			handle(gone{o})
		},
	}
}

// gone is an object that has been deleted.
type gone struct{ object any }

// podChanged hands a pod to its worker, which is made where it is new.
func (a *Agent) podChanged(ctx context.Context, o any) {
	deleted, isGone := o.(gone)
	if isGone {
		o = deleted.object
	}
	pod := o.(*corev1.Pod)
	if !a.mine(pod.Spec.NodeName) || ctx.Err() != nil {
		return
	}
	a.mu.Lock()
	w := a.workers[pod.UID]
	if w == nil && !isGone && !finished(pod) {
		w = newWorker(ctx, a, pod)
		a.workers[pod.UID] = w
		a.running.Go(func() {
			w.run()
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.workers, pod.UID)
		})
	}
	a.mu.Unlock()
	if w != nil {
		w.update(pod, isGone)
	}
}

// finished pods have no process left and never will.
func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (a *Agent) mine(node string) bool {
	for _, n := range a.Nodes {
		if n.Name == node {
			return true
		}
	}
	return false
}

// sourceChanged tells the workers of the object's namespace that volumes may
// have other content now.
func (a *Agent) sourceChanged(o any) {
	if deleted, isGone := o.(gone); isGone {
		o = deleted.object
	}
	namespace := ""
	switch o := o.(type) {
	case *corev1.ConfigMap:
		namespace = o.Namespace
	case *corev1.Secret:
		namespace = o.Namespace
	}
	a.eachWorker(func(w *worker) {
		if w.key.Namespace == namespace {
			w.stale.set()
			w.changedAny()
		}
	})
}

func (a *Agent) eachWorker(f func(*worker)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workers {
		f(w)
	}
}

// address gives each pod one that no other had lately.
func (a *Agent) address() (net.IP, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ones, bits := a.Network.Gateway.Mask.Size()
	size := uint32(1) << (bits - ones)
	base := a.Network.Gateway.IP.Mask(a.Network.Gateway.Mask).To4()
	used := map[string]bool{a.Network.Gateway.IP.String(): true}
	for _, w := range a.workers {
		used[w.address()] = true
	}
	for range size {
		a.lastIP = a.lastIP%(size-2) + 1
		ip := make(net.IP, net.IPv4len)
		copy(ip, base)
		for i := range ip {
			ip[i] |= byte(a.lastIP >> (8 * (net.IPv4len - 1 - i)))
		}
		if !used[ip.String()] {
			return ip, nil
		}
	}
	return nil, fmt.Errorf("the pod network %s has no address left", a.Network.Gateway)
}

// allPods are those of all nodes, by name.
func (a *Agent) allPods() []*corev1.Pod {
	all, err := a.pods.List(labels.Everything())
	if err != nil {
		// A lister reads from memory.
		a.Log.Error("Listing pods", "error", err)
	}
	sortByName(all)
	return all
}

func (a *Agent) podDir(pod *corev1.Pod) string {
	return filepath.Join(a.Root, "pods", pod.Namespace+"_"+pod.Name+"_"+string(pod.UID))
}

func (a *Agent) logPath(pod *corev1.Pod, container string) (string, error) {
	dir := filepath.Join(a.Logs, pod.Namespace+"_"+pod.Name)
	return filepath.Join(dir, container+".log"), os.MkdirAll(dir, 0o755)
}
