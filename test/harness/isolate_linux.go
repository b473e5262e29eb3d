package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolated marks a program that Isolate has executed anew, and its children:
// isolatedNew until its namespaces are set up, isolatedReady from then on.
const (
	isolated      = "SLUICE_ISOLATED"
	isolatedNew   = "new"
	isolatedReady = "ready"
)

// Isolate moves the running program, a test or the demo, into a network and a
// mount namespace of its own, as nodes need (StartNodes): it executes the
// program anew in there and exits as that does. It returns in the new execution
// only, which has a loopback device and nothing else of a network: what has to
// be downloaded or built is for prepare, which is called outside. In a program
// that is inside already Isolate does nothing.
//
// It needs no root: a user namespace in which this user is root does.
func Isolate(prepare func() error) error {
	switch os.Getenv(isolated) {
	case isolatedReady:
		return nil
	case isolatedNew:
		if err := setUpNamespaces(); err != nil {
			return err
		}
		return os.Setenv(isolated, isolatedReady)
	}
	if err := prepare(); err != nil {
		return err
	}
	code, err := executeIsolated()
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}

// startIsolated executes this program in new namespaces.
func startIsolated() (*exec.Cmd, error) {
	return startInNamespaces(func() *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = os.Args
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), isolated+"="+isolatedNew)
		return cmd
	})
}

// CanIsolate is why Isolate would fail here; nil where it would not.
func CanIsolate() error {
	cmd, err := startInNamespaces(func() *exec.Cmd { return exec.Command("/bin/true") })
	if err != nil {
		return err
	}
	return cmd.Wait()
}

// startInNamespaces starts a command in user, mount and network namespaces of its
// own. Root, too, has a user namespace, where it can do less harm; but it needs
// none.
func startInNamespaces(command func() *exec.Cmd) (*exec.Cmd, error) {
	start := func(user bool) (*exec.Cmd, error) {
		cmd := command()
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET}
		if user {
			cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
		}
		return cmd, cmd.Start()
	}
	cmd, err := start(true)
	if err != nil && os.Geteuid() == 0 {
		cmd, err = start(false)
	}
	if err != nil {
		return nil, fmt.Errorf("making user, mount and network namespaces (allowed here? as root, or by sysctl kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns): %w", err)
	}
	return cmd, nil
}

// executeIsolated runs this program in new namespaces and returns its exit code.
func executeIsolated() (int, error) {
	// A terminal's Ctrl-C reaches the child by itself. The timeout of go test is
	// a SIGQUIT.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	defer signal.Stop(signals)
	cmd, err := startIsolated()
	if err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s != os.Interrupt {
				_ = cmd.Process.Signal(s)
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, err
			}
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				return 128 + int(status.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}

// setUpNamespaces raises the loopback device and puts a hosts file that can be
// written in place of this machine's.
func setUpNamespaces() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("raising the loopback device: %w", err)
	}
	if err := mountHosts(); err != nil {
		return fmt.Errorf("mounting a hosts file: %w", err)
	}
	return nil
}

// mountHosts takes the file from a file system in memory, so that nothing of it
// stays on this machine. A removed file would do to read, but nothing can be
// mounted over one, as pods do.
func mountHosts() (err error) {
	dir, err := os.MkdirTemp("", "sluice-hosts-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(dir)) }()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH)) }()
	hosts := filepath.Join(dir, "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost\n::1 localhost\n"), 0o644); err != nil {
		return err
	}
	return unix.Mount(hosts, hostsFile, "", unix.MS_BIND, "")
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// isIsolated tells whether the program runs where Isolate takes it.
func isIsolated() bool { return os.Getenv(isolated) == isolatedReady }
