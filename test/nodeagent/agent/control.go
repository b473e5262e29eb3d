//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// SocketName is the file in Root that the agent takes commands of tests at:
// POST /COMMAND/NAMESPACE/POD, where the command is
//
//	kill        the pod's containers with SIGKILL; they are restarted
//	hold        kill them and start none of that pod's name until it is released
//	release     let a held pod start
//	pause       stop its processes (SIGSTOP), so that it neither answers nor ends
//	resume      let them go on
//	disconnect  take the pod off the network
//	connect     put it back
//
// A command has been done when it is answered.
const SocketName = "control.sock"

// ServeControl takes commands until the context is done.
func (a *Agent) ServeControl(ctx context.Context, socket string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listening for commands: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{command}/{namespace}/{pod}", func(out http.ResponseWriter, req *http.Request) {
		key := types.NamespacedName{Namespace: req.PathValue("namespace"), Name: req.PathValue("pod")}
		if err := a.command(req.Context(), req.PathValue("command"), key); err != nil {
			http.Error(out, err.Error(), http.StatusConflict)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (a *Agent) command(ctx context.Context, command string, pod types.NamespacedName) error {
	a.Log.Info("Command", "command", command, "pod", pod)
	switch command {
	case "kill":
		return a.kill(ctx, pod)
	case "hold":
		a.setHeld(pod, true)
		err := a.kill(ctx, pod)
		if errors.Is(err, errNothingRuns) {
			return nil
		}
		return err
	case "release":
		a.setHeld(pod, false)
		return nil
	case "pause":
		return a.signal(pod, syscall.SIGSTOP)
	case "resume":
		return a.signal(pod, syscall.SIGCONT)
	case "disconnect", "connect":
		w := a.worker(pod)
		if w == nil {
			return errNothingRuns
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.sandbox == nil {
			return errNothingRuns
		}
		return w.sandbox.SetConnected(command == "connect")
	}
	return fmt.Errorf("unknown command %q", command)
}

var errNothingRuns = errors.New("no container of the pod runs")

// kill ends all containers of the pod and waits until they have ended.
func (a *Agent) kill(ctx context.Context, pod types.NamespacedName) error {
	w := a.worker(pod)
	if w == nil {
		return errNothingRuns
	}
	killed := false
	for _, c := range append(append([]*container{}, w.inits...), w.mains...) {
		p := c.running()
		if p == nil {
			continue
		}
		killed = true
		p.Signal(syscall.SIGKILL)
		select {
		case <-p.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if !killed {
		return errNothingRuns
	}
	return nil
}

func (a *Agent) signal(pod types.NamespacedName, s syscall.Signal) error {
	w := a.worker(pod)
	if w == nil {
		return errNothingRuns
	}
	sent := false
	for _, c := range w.mains {
		if p := c.running(); p != nil {
			p.Signal(s)
			sent = true
		}
	}
	if !sent {
		return errNothingRuns
	}
	return nil
}

func (a *Agent) worker(pod types.NamespacedName) *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workers {
		if w.key == pod && w.exists.Err() == nil {
			return w
		}
	}
	return nil
}

func (a *Agent) setHeld(pod types.NamespacedName, held bool) {
	a.mu.Lock()
	if held {
		a.held[pod] = true
	} else {
		delete(a.held, pod)
	}
	a.mu.Unlock()
	a.eachWorker((*worker).changedAny)
}

func (a *Agent) isHeld(pod types.NamespacedName) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held[pod]
}
