//go:build !linux

package kafka

import (
	"fmt"
	"net"
	"syscall"
)

// childAttr keeps a terminal's Ctrl-C from the children: the parent stops them
// in order.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// port is a port on loopback that was free a moment ago.
type port struct {
	number int
}

func reservePort() (port, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return port{}, fmt.Errorf("reserving a port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return port{number: l.Addr().(*net.TCPAddr).Port}, nil
}

func (port) release() {}
