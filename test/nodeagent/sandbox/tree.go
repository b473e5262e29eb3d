//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Mount shows a file or folder of this machine in a container's tree.
type Mount struct {
	Source, Target string
	ReadOnly       bool
	// Shared is a source that several containers use, such as an image: what has
	// to be added for a mount below it is added to a copy of its folders.
	Shared bool
}

// node is a folder or file of the tree to be built.
type node struct {
	// source on this machine; empty for a folder that is nowhere.
	source string
	// mount is what is asked to be here, if anything.
	mount    *Mount
	children map[string]*node
}

// fresh are folders of the root that every container has for itself.
var fresh = []string{"tmp", "run", "proc"}

// buildTree mounts a container's tree on an empty folder. The mounts are seen in
// this mount namespace only.
func buildTree(root string, mounts []Mount) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	top := &node{source: "/", children: map[string]*node{}}
	mounts = slices.Clone(mounts)
	// A folder before what is mounted inside it.
	slices.SortStableFunc(mounts, func(a, b Mount) int { return strings.Compare(filepath.Clean(a.Target), filepath.Clean(b.Target)) })
	for i := range mounts {
		if err := top.insert(&mounts[i]); err != nil {
			return err
		}
	}
	if err := top.mirror(root); err != nil {
		return err
	}
	for _, name := range fresh {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	return mountProc(filepath.Join(root, "proc"))
}

// mountProc shows the container's own processes, or where the kernel does not
// let it (below a /proc that is masked), all of them.
func mountProc(target string) error {
	err := unix.Mount("proc", target, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err == nil {
		return nil
	}
	return bind("/proc", target, false)
}

// insert adds a mount to the tree; a path through a symbolic link of this
// machine leads where the link does.
func (n *node) insert(m *Mount) error {
	target := filepath.Clean(m.Target)
	if !filepath.IsAbs(target) || target == "/" {
		return fmt.Errorf("mounting %s: %q is no absolute path below /", m.Source, m.Target)
	}
	const maxLinks = 40
	for range maxLinks {
		next, err := n.place(m, target)
		if err != nil || next == "" {
			return err
		}
		target = next
	}
	return fmt.Errorf("mounting on %s: too many symbolic links", m.Target)
}

// place puts the mount at its path, or returns the path to try instead where a
// symbolic link is on the way.
func (n *node) place(m *Mount, target string) (elsewhere string, err error) {
	parts := strings.Split(target[1:], "/")
	at := n
	for i, part := range parts {
		child := at.children[part]
		if child == nil {
			source, link, err := at.lookUp(part)
			if err != nil {
				return "", err
			}
			if link != "" {
				if !filepath.IsAbs(link) {
					link = filepath.Join("/", filepath.Join(parts[:i]...), link)
				}
				return filepath.Join(append([]string{link}, parts[i+1:]...)...), nil
			}
			child = &node{source: source, children: map[string]*node{}}
			at.children[part] = child
		}
		at = child
	}
	if _, err := os.Stat(m.Source); err != nil {
		return "", fmt.Errorf("mounting on %s: %w", m.Target, err)
	}
	at.mount, at.source = m, m.Source
	return "", nil
}

// lookUp finds what a folder of the tree has under a name before anything is
// mounted there: a source, a symbolic link, or nothing.
func (n *node) lookUp(name string) (source, link string, err error) {
	if n.source == "" || n.source == "/" && slices.Contains(fresh, name) {
		return "", "", nil
	}
	path := filepath.Join(n.source, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", "", nil
	case err != nil:
		return "", "", err
	case info.Mode()&os.ModeSymlink != 0 && n.mount == nil:
		link, err = os.Readlink(path)
		return "", link, err
	}
	return path, "", nil
}

// build makes the node appear at target; visible tells that what the node's
// parent shows there already is the node's source.
func (n *node) build(target string, visible bool) error {
	if n.source == "" {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		return n.buildChildren(target, func(string) bool { return false })
	}
	missing := n.missing()
	if len(missing) > 0 && (n.mount == nil || n.mount.Shared) {
		return n.mirror(target)
	}
	for _, name := range missing {
		// As container engines do in a volume that lacks a mount point.
		if err := makeLike(n.children[name].source, filepath.Join(n.source, name)); err != nil {
			return err
		}
	}
	if n.mount != nil || !visible {
		if err := bindNew(n.source, target, n.readOnly()); err != nil {
			return err
		}
	}
	return n.buildChildren(target, func(string) bool { return true })
}

// readOnly is all of this machine but its devices.
func (n *node) readOnly() bool {
	if n.mount != nil {
		return n.mount.ReadOnly
	}
	return n.source != "/dev"
}

func (n *node) buildChildren(target string, visible func(name string) bool) error {
	for _, name := range n.names() {
		if err := n.children[name].build(filepath.Join(target, name), visible(name)); err != nil {
			return err
		}
	}
	return nil
}

// mirror makes target a new folder with everything that the source has, so that
// more can be added without touching the source.
func (n *node) mirror(target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", target, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting a new folder on %s: %w", target, err)
	}
	entries, err := os.ReadDir(n.source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if n.children[name] != nil || n.source == "/" && slices.Contains(fresh, name) {
			continue
		}
		if err := mirrorEntry(e, filepath.Join(n.source, name), filepath.Join(target, name)); err != nil {
			return err
		}
	}
	return n.buildChildren(target, func(string) bool { return false })
}

func mirrorEntry(e os.DirEntry, source, target string) error {
	if e.Type()&os.ModeSymlink != 0 {
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	}
	return bindNew(source, target, source != "/dev")
}

// missing are the children that the source lacks.
func (n *node) missing() []string {
	var names []string
	for _, name := range n.names() {
		if _, err := os.Lstat(filepath.Join(n.source, name)); err != nil {
			names = append(names, name)
		}
	}
	return names
}

func (n *node) names() []string {
	var names []string
	for name := range n.children {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// makeLike makes an empty folder or file, as the source is one.
func makeLike(source, target string) error {
	if source != "" {
		info, err := os.Stat(source)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			f, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			return f.Close()
		}
	}
	return os.MkdirAll(target, 0o755)
}

func bindNew(source, target string, readOnly bool) error {
	if _, err := os.Lstat(target); errors.Is(err, os.ErrNotExist) {
		if err := makeLike(source, target); err != nil {
			return err
		}
	}
	return bind(source, target, readOnly)
}

func bind(source, target string, readOnly bool) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mounting %s on %s: %w", source, target, err)
	}
	if !readOnly {
		return nil
	}
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("making %s read-only: %w", target, err)
	}
	return nil
}
