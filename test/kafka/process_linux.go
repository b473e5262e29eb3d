package kafka

import (
	"fmt"
	"syscall"
)

// childAttr makes a child die with its parent and keeps a terminal's Ctrl-C
// from it: the parent stops its children in order.
//
// The signal is sent when the thread that started the child ends
// (prctl(2), PR_SET_PDEATHSIG); the runtime ends a thread only when a goroutine
// that is locked to it does, and nothing here locks one.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// port is a port on loopback that belongs to one node for the life of its
// cluster, also while the node is down.
type port struct {
	number int
	fd     int
}

// reservePort binds a socket that never listens. The kernel then gives the port
// to nobody else, but a server that sets SO_REUSEADDR, as Java does, can bind
// and listen on it (socket(7)).
func reservePort() (port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	p := port{fd: fd}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		p.release()
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		p.release()
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		p.release()
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	p.number = address.(*syscall.SockaddrInet4).Port
	return p, nil
}

func (p port) release() { _ = syscall.Close(p.fd) }
