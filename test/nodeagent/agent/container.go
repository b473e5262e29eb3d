//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-kafka/sluice/test/nodeagent/sandbox"
	"github.com/sluice-kafka/sluice/test/nodeagent/volumes"
)

// Reasons of a waiting container, a kubelet's own but for the last.
const (
	reasonCreating    = "ContainerCreating"
	reasonInitWaits   = "PodInitializing"
	reasonConfigError = "CreateContainerConfigError"
	reasonImageError  = "ErrImagePull"
	reasonRunError    = "RunContainerError"
	reasonBackOff     = "CrashLoopBackOff"
	reasonHeld        = "HeldDown"
)

// container is one of a pod, over all of its restarts.
type container struct {
	w    *worker
	spec corev1.Container

	mu       sync.Mutex
	process  *sandbox.Process
	env      map[string]string
	state    corev1.ContainerState
	last     corev1.ContainerState
	restarts int32
	runs     int
	// started and ready are what probes say.
	started, ready bool
}

func newContainer(w *worker, spec corev1.Container) *container {
	return &container{w: w, spec: spec, state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reasonInitWaits}}}
}

// keep runs the container, again and again as the policy says, until it has
// ended for good or the pod is no longer wanted; it tells whether it succeeded.
func (c *container) keep(policy corev1.RestartPolicy) bool {
	backOff := time.Duration(0)
	for c.w.wanted.Err() == nil {
		if c.w.isHeld(c.w.key) {
			c.wait(reasonHeld, "a test holds the pod down")
			c.w.pause(c.w.wanted)
			continue
		}
		p, reason, err := c.start()
		if err != nil {
			c.wait(reason, err.Error())
			c.w.pause(c.w.wanted)
			continue
		}
		code := c.attend(p)
		if c.w.wanted.Err() != nil || code == 0 && policy != corev1.RestartPolicyAlways || policy == corev1.RestartPolicyNever {
			return code == 0
		}
		if time.Since(p.Started) > c.w.MaxBackOff {
			backOff = 0
		}
		backOff = c.backOff(backOff)
	}
	return false
}

// backOff waits before a restart, and returns how long to wait before the next.
func (c *container) backOff(d time.Duration) time.Duration {
	if d > 0 {
		c.wait(reasonBackOff, fmt.Sprintf("back-off %s restarting container %s", d, c.spec.Name))
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-c.w.wanted.Done():
		case <-timer.C:
		}
	}
	return min(max(2*d, c.w.BackOff), c.w.MaxBackOff)
}

// wait says why the container does not run.
func (c *container) wait(reason, message string) {
	c.mu.Lock()
	if c.state.Terminated != nil {
		c.last = c.state
	}
	waiting := corev1.ContainerStateWaiting{Reason: reason, Message: message}
	news := c.state.Waiting == nil || *c.state.Waiting != waiting
	c.state = corev1.ContainerState{Waiting: &waiting}
	c.mu.Unlock()
	if news {
		c.w.Log.Info("Container waits", "pod", c.w.key, "container", c.spec.Name, "reason", reason, "message", message)
		c.w.publish()
	}
}

// start makes the environment and the mounts anew and runs the command.
func (c *container) start() (*sandbox.Process, string, error) {
	if _, ok := c.w.Images[c.spec.Image]; !ok {
		return nil, reasonImageError, fmt.Errorf("this node has no image %q", c.spec.Image)
	}
	pod := c.w.asSeen()
	env, err := c.environment(pod)
	if err != nil {
		return nil, reasonConfigError, err
	}
	mounts, err := c.w.mounts(c.spec, env)
	if err != nil {
		return nil, reasonConfigError, err
	}
	var command []string
	for _, text := range slices.Concat(c.spec.Command, c.spec.Args) {
		command = append(command, volumes.Expand(text, env))
	}
	log, err := c.w.logPath(pod, c.spec.Name)
	if err != nil {
		return nil, reasonRunError, err
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, reasonRunError, err
	}
	// The process has its own copy of it.
	defer func() { _ = output.Close() }()
	root := filepath.Join(c.w.podDir(pod), "roots", c.spec.Name)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, reasonRunError, err
	}
	p, err := c.w.sandbox.Start(sandbox.Container{
		Root: root, Mounts: mounts, Command: command, Env: volumes.Pairs(env), Dir: c.spec.WorkingDir,
	}, output)
	if err != nil {
		return nil, reasonRunError, err
	}
	c.mu.Lock()
	if c.state.Terminated != nil {
		c.last = c.state
	}
	c.runs++
	c.restarts = int32(c.runs - 1)
	c.process, c.env, c.started, c.ready = p, env, false, false
	c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(p.Started)}}
	c.mu.Unlock()
	return p, "", nil
}

func (c *container) environment(pod *corev1.Pod) (map[string]string, error) {
	own, err := volumes.Environment(c.w.wanted, source{c.w.Agent}, pod, c.spec)
	if err != nil {
		return nil, err
	}
	hostname := pod.Spec.Hostname
	if hostname == "" {
		hostname = pod.Name
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": "/tmp", "HOSTNAME": hostname}
	maps.Copy(env, c.w.Env)
	maps.Copy(env, own)
	return env, nil
}

// attend watches a running process until it has ended, and returns its exit
// code. It ends it when the pod is no longer wanted or a probe says so.
func (c *container) attend(p *sandbox.Process) int32 {
	c.w.Log.Info("Container runs", "pod", c.w.key, "container", c.spec.Name, "pid", p.PID)
	alive, died := context.WithCancel(c.w.exists)
	fail := make(chan string, 1)
	var probes sync.WaitGroup
	probes.Go(func() { c.probe(alive, p, fail) })
	c.w.publish()
	select {
	case <-p.Done():
	case <-c.w.wanted.Done():
		c.stop(p, c.w.deadline)
	case why := <-fail:
		c.w.Log.Info("Probe ends container", "pod", c.w.key, "container", c.spec.Name, "reason", why)
		at := time.Now().Add(time.Duration(ptrOr(c.w.current().Spec.TerminationGracePeriodSeconds, 30)) * time.Second)
		c.stop(p, func() time.Time { return at })
	}
	died()
	probes.Wait()
	code, signal, at := p.Exit()
	reason := "Error"
	if code == 0 {
		reason = "Completed"
	}
	c.w.Log.Info("Container ended", "pod", c.w.key, "container", c.spec.Name, "pid", p.PID, "code", code)
	c.mu.Lock()
	c.process, c.started, c.ready = nil, false, false
	c.state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Signal: signal, Reason: reason, StartedAt: metav1.NewTime(p.Started), FinishedAt: metav1.NewTime(at),
	}}
	c.mu.Unlock()
	c.w.publish()
	return code
}

// deadline of a pod's end; it moves when a deletion with less grace follows.
func (w *worker) deadline() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopAt
}

// stop asks a process to end, after its hook, and kills it at the deadline or
// when the pod is gone. It returns when the process has ended.
func (c *container) stop(p *sandbox.Process, deadline func() time.Time) {
	if hook := c.spec.Lifecycle; hook != nil && hook.PreStop != nil && hook.PreStop.Exec != nil {
		ctx, cancel := context.WithDeadline(c.w.exists, deadline())
		if err := c.exec(ctx, p, hook.PreStop.Exec.Command); err != nil {
			c.w.Log.Info("Hook failed", "pod", c.w.key, "container", c.spec.Name, "reason", err.Error())
		}
		cancel()
	}
	p.Signal(syscall.SIGTERM)
	for {
		timer := time.NewTimer(time.Until(deadline()))
		select {
		case <-p.Done():
			timer.Stop()
			return
		case <-c.w.changed.next():
			timer.Stop()
			continue
		case <-c.w.exists.Done():
			timer.Stop()
		case <-timer.C:
			c.w.Log.Info("Grace is over", "pod", c.w.key, "container", c.spec.Name)
		}
		p.Signal(syscall.SIGKILL)
		<-p.Done()
		return
	}
}

// exec runs a command in the container; it fails where that does not end with 0.
func (c *container) exec(ctx context.Context, p *sandbox.Process, command []string) error {
	c.mu.Lock()
	env := volumes.Pairs(c.env)
	c.mu.Unlock()
	code, err := p.Exec(ctx, command, env, nil)
	if err != nil {
		return err
	}
	if code != 0 {
		return errors.New("exit code " + fmt.Sprint(code))
	}
	return nil
}

// running is the container's process, nil where there is none.
func (c *container) running() *sandbox.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

func ptrOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
