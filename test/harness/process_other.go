//go:build !linux

package harness

import "syscall"

// childAttr keeps a terminal's Ctrl-C from the children: the parent stops them
// in order.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
