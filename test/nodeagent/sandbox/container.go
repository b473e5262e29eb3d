//go:build linux

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Container says what to run.
type Container struct {
	// Root is an empty folder that the container's file tree is mounted on; only
	// the container sees what is there.
	Root string
	// Mounts in the tree. All else of it is this machine's, read-only, but for
	// an empty /tmp and /run.
	Mounts []Mount
	// Command and its arguments; it is looked up in the PATH of Env.
	Command []string
	Env     []string
	// Dir is the working directory, / if empty.
	Dir string

	// Sandbox is filled in by Start.
	Sandbox int
}

// Process is a running container. It is the first process of its own process
// namespace: when it ends, whatever it started ends.
type Process struct {
	// PID as this process sees it.
	PID     int
	Started time.Time

	done  chan struct{}
	state *os.ProcessState
	ended time.Time
}

// Start runs a container in the sandbox; its output goes to the file. An error
// means that the command was not executed.
func (s *Sandbox) Start(c Container, output *os.File) (*Process, error) {
	c.Sandbox = s.pid
	spec, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd, err := execute(asContainer, attributes(unix.CLONE_NEWNS|unix.CLONE_NEWPID), spec, output)
	if err != nil {
		return nil, err
	}
	p := &Process{PID: cmd.Process.Pid, Started: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
		p.state, p.ended = cmd.ProcessState, time.Now()
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is the code (128 + the signal where one ended the process), the signal,
// and the time; only to be called when the process has ended.
func (p *Process) Exit() (code, signal int32, at time.Time) {
	status, ok := p.state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int32(status.Signal()), int32(status.Signal()), p.ended
	}
	return int32(p.state.ExitCode()), 0, p.ended
}

// Signal sends a signal to the process where it still runs.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(p.PID, s)
	}
}

// containerMain enters the namespaces, builds the tree and executes the command.
func containerMain() error {
	var c Container
	if err := json.NewDecoder(os.NewFile(fdSpec, "spec")).Decode(&c); err != nil {
		return err
	}
	// Opened before the tree changes.
	net, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", c.Sandbox))
	if err != nil {
		return err
	}
	uts, err := os.Open(fmt.Sprintf("/proc/%d/ns/uts", c.Sandbox))
	if err != nil {
		return err
	}
	if err := buildTree(c.Root, c.Mounts); err != nil {
		return err
	}
	if err := unix.Setns(int(net.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("joining the pod's network: %w", err)
	}
	if err := unix.Setns(int(uts.Fd()), unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("joining the pod's host name: %w", err)
	}
	if err := unix.Chroot(c.Root); err != nil {
		return fmt.Errorf("entering the container's file tree: %w", err)
	}
	return become(c.Dir, c.Command, c.Env)
}

// become executes a command in place of this process.
func become(dir string, command, env []string) error {
	if dir == "" {
		dir = "/"
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("entering the working directory: %w", err)
	}
	if len(command) == 0 {
		return errors.New("no command: an image of this node has none of its own")
	}
	path, err := lookPath(command[0], env)
	if err != nil {
		return err
	}
	return fmt.Errorf("executing %s: %w", path, syscall.Exec(path, command, env))
}

func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				candidate := filepath.Join(dir, name)
				if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
					return candidate, nil
				}
			}
		}
	}
	return "", fmt.Errorf("executing %s: %w in the container's PATH", name, exec.ErrNotFound)
}

// command to execute inside a running container.
type command struct {
	PID          int
	Command, Env []string
}

// Exec runs a command inside the container until it ends or the context is done,
// and returns its exit code.
func (p *Process) Exec(ctx context.Context, args, env []string, output *os.File) (int, error) {
	spec, err := json.Marshal(command{PID: p.PID, Command: args, Env: env})
	if err != nil {
		return 0, err
	}
	cmd, err := execute(asExec, attributes(0), spec, output)
	if err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	select {
	case <-ended:
		return cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		return 0, ctx.Err()
	}
}

// execMain joins the namespaces of a container and executes the command.
func execMain() error {
	var c command
	if err := json.NewDecoder(os.NewFile(fdSpec, "spec")).Decode(&c); err != nil {
		return err
	}
	proc := fmt.Sprintf("/proc/%d/", c.PID)
	root, err := os.Open(proc + "root")
	if err != nil {
		return err
	}
	// Threads share their root and working directory until one says otherwise,
	// and only one that does may change its mount namespace (setns(2)).
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	var joined []*os.File
	for _, name := range []string{"net", "uts", "mnt"} {
		ns, err := os.Open(proc + "ns/" + name)
		if err != nil {
			return err
		}
		joined = append(joined, ns)
	}
	for _, ns := range joined {
		if err := unix.Setns(int(ns.Fd()), 0); err != nil {
			return fmt.Errorf("joining %s: %w", ns.Name(), err)
		}
	}
	if err := unix.Fchdir(int(root.Fd())); err != nil {
		return err
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return become("/", c.Command, c.Env)
}
