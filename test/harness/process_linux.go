package harness

import "syscall"

// childAttr makes a child die with its parent and keeps a terminal's Ctrl-C
// from it: the parent stops its children in order.
//
// The signal is sent when the thread that started the child ends
// (prctl(2), PR_SET_PDEATHSIG); the runtime ends a thread only when a goroutine
// that is locked to it does, and nothing here locks one.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
