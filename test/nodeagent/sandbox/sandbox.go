//go:build linux

// Package sandbox runs the processes of a pod: in a network of its own, each
// container in a file tree of its own, by nothing but the kernel's namespaces.
// It needs to be root, if only of its own user namespace.
//
// Namespaces are entered by the program that imports this package, executed
// anew: its main must call Main first.
package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// The names under which the program executes itself.
const (
	asSandbox   = "sluice-pod-sandbox"
	asContainer = "sluice-pod-container"
	asExec      = "sluice-pod-exec"
)

// The descriptors that such an execution gets: what to do comes from the first,
// an error goes to the second, which closes without one when all is well.
const (
	fdSpec  = 3
	fdError = 4
)

// Main does what the program was executed for where that was by this package,
// and does not return then.
func Main() {
	roles := map[string]func() error{asSandbox: sandboxMain, asContainer: containerMain, asExec: execMain}
	role, ok := roles[os.Args[0]]
	if !ok {
		return
	}
	// Namespaces belong to a thread; so does what it executes.
	runtime.LockOSThread()
	syscall.CloseOnExec(fdSpec)
	syscall.CloseOnExec(fdError)
	err := role()
	_, _ = io.WriteString(os.NewFile(fdError, "error"), err.Error())
	os.Exit(127)
}

// Sandbox is a pod's network and host name. They outlive its containers.
type Sandbox struct {
	pid  int
	cmd  *exec.Cmd
	link netlink.Link
}

// Network is a bridge that all pods of a test cluster, and the process that
// holds the bridge, reach each other by.
type Network struct {
	bridge netlink.Link
	// Gateway is the bridge's own address.
	Gateway *net.IPNet
}

// NewNetwork makes the bridge, in the network namespace of this process, with
// an address in CIDR notation; pods get addresses of the same prefix.
func NewNetwork(name, cidr string) (*Network, error) {
	address, err := netlink.ParseAddr(cidr)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the pod network: %w", err)
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.NewLinkAttrs()}
	bridge.Name = name
	if err := netlink.LinkAdd(bridge); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, fmt.Errorf("adding the bridge %s (does the kernel have bridges, and is this process root of its network namespace?): %w", name, err)
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("looking at the bridge %s: %w", name, err)
	}
	if err := netlink.AddrReplace(link, address); err != nil {
		return nil, fmt.Errorf("giving %s to the bridge %s: %w", cidr, name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("raising the bridge %s: %w", name, err)
	}
	return &Network{bridge: link, Gateway: address.IPNet}, nil
}

// New makes a pod's sandbox with the host name and the address.
func (n *Network) New(hostname string, ip net.IP) (_ *Sandbox, err error) {
	s := &Sandbox{}
	attr := attributes(unix.CLONE_NEWNET | unix.CLONE_NEWUTS)
	if s.cmd, err = execute(asSandbox, attr, []byte(hostname), nil); err != nil {
		return nil, fmt.Errorf("making the sandbox of %s: %w", hostname, err)
	}
	s.pid = s.cmd.Process.Pid
	if err := n.connect(s, ip); err != nil {
		s.Close()
		return nil, fmt.Errorf("connecting %s (%s) to the pod network: %w", hostname, ip, err)
	}
	return s, nil
}

func (n *Network) connect(s *Sandbox, ip net.IP) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = fmt.Sprintf("pod%d", s.pid)
	attrs.MasterIndex = n.bridge.Attrs().Index
	pair := netlink.NewVeth(attrs)
	pair.PeerName = "eth0"
	pair.PeerNamespace = netlink.NsPid(s.pid)
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("adding a link: %w", err)
	}
	s.link = pair
	if err := netlink.LinkSetUp(pair); err != nil {
		return fmt.Errorf("raising the link: %w", err)
	}
	ns, err := netns.GetFromPid(s.pid)
	if err != nil {
		return err
	}
	defer func() { _ = ns.Close() }()
	inside, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer inside.Close()
	for _, name := range []string{"lo", "eth0"} {
		link, err := inside.LinkByName(name)
		if err != nil {
			return fmt.Errorf("looking at %s: %w", name, err)
		}
		if name == "eth0" {
			address := &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: n.Gateway.Mask}}
			if err := inside.AddrAdd(link, address); err != nil {
				return fmt.Errorf("adding the address: %w", err)
			}
		}
		if err := inside.LinkSetUp(link); err != nil {
			return fmt.Errorf("raising %s: %w", name, err)
		}
	}
	return nil
}

// SetConnected takes the pod off the network, as a pulled plug would, or back.
func (s *Sandbox) SetConnected(connected bool) error {
	if connected {
		return netlink.LinkSetUp(s.link)
	}
	return netlink.LinkSetDown(s.link)
}

// Close ends the sandbox; its address is free then.
func (s *Sandbox) Close() {
	if s.link != nil {
		// Else the kernel drops it some time after the namespace.
		_ = netlink.LinkDel(s.link)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// sandboxMain holds the namespaces until it is killed.
func sandboxMain() error {
	name, err := io.ReadAll(os.NewFile(fdSpec, "spec"))
	if err != nil {
		return err
	}
	if err := unix.Sethostname(name); err != nil {
		return fmt.Errorf("setting the host name %s: %w", name, err)
	}
	if err := unix.Close(fdError); err != nil {
		return err
	}
	for {
		_ = unix.Pause()
	}
}

// attributes of a child that dies with this process.
//
// The signal is sent when the thread that started the child ends
// (prctl(2), PR_SET_PDEATHSIG); the runtime ends a thread only when a goroutine
// that is locked to it does, and nothing here leaves one locked.
func attributes(namespaces uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: namespaces}
}

// execute starts this program in one of its roles and waits until that has
// either failed or executed what it was asked to, or said that it is ready.
func execute(role string, attr *syscall.SysProcAttr, spec []byte, output *os.File) (*exec.Cmd, error) {
	specRead, specWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, specRead.Close(), specWrite.Close())
	}
	defer func() { _ = errRead.Close() }()
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{role}, SysProcAttr: attr, ExtraFiles: []*os.File{specRead, errWrite}}
	if output != nil {
		cmd.Stdout, cmd.Stderr = output, output
	}
	err = cmd.Start()
	_, _ = specRead.Close(), errWrite.Close()
	if err != nil {
		_ = specWrite.Close()
		return nil, err
	}
	_, writeErr := specWrite.Write(spec)
	_ = specWrite.Close()
	failure, readErr := io.ReadAll(errRead)
	if len(failure) > 0 {
		err = errors.New(string(failure))
	}
	if err := errors.Join(err, writeErr, readErr); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return cmd, nil
}
