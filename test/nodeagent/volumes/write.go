// Package volumes fills the folders of volumes whose content comes from the
// API, as a kubelet does.
package volumes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File of a volume.
type File struct {
	Data []byte
	Mode os.FileMode
}

// dataLink names the current content; every name that a user sees is a link
// through it, so that all files change at once.
const dataLink = "..data"

// Write makes the folder hold exactly the files, by their paths in it. Readers
// see either all of the old content or all of the new. Where nothing differs,
// nothing is written.
func Write(dir string, files map[string]File) (changed bool, err error) {
	if err := inside(files); err != nil {
		return false, fmt.Errorf("writing %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	old, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	if old != "" {
		same, err := holds(filepath.Join(dir, old), files)
		if err != nil || same {
			return false, err
		}
	}
	if err := replace(dir, files); err != nil {
		return false, err
	}
	if old == "" {
		return true, nil
	}
	return true, os.RemoveAll(filepath.Join(dir, old))
}

func inside(files map[string]File) error {
	for path := range files {
		if !filepath.IsLocal(path) || strings.HasPrefix(path, "..") {
			return fmt.Errorf("%q is no path inside a volume", path)
		}
	}
	return nil
}

// replace writes the files beside the old ones and turns the link to them.
func replace(dir string, files map[string]File) error {
	current, err := writeNew(dir, files)
	if err != nil {
		return err
	}
	next := filepath.Join(dir, dataLink+"_tmp")
	if err := errors.Join(os.RemoveAll(next), os.Symlink(filepath.Base(current), next)); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(dir, dataLink)); err != nil {
		return err
	}
	return link(dir, files)
}

func writeNew(dir string, files map[string]File) (string, error) {
	current, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(current, 0o755); err != nil {
		return "", err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		target := filepath.Join(current, path)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(target, files[path].Data, files[path].Mode); err != nil {
			return "", err
		}
		// Whatever the umask says.
		if err := os.Chmod(target, files[path].Mode); err != nil {
			return "", err
		}
	}
	return current, nil
}

// link makes the names that a user sees and removes those that are gone.
func link(dir string, files map[string]File) error {
	wanted := map[string]bool{}
	for path := range files {
		first, _, _ := strings.Cut(path, "/")
		wanted[first] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case wanted[name]:
			delete(wanted, name)
		case strings.HasPrefix(name, ".."):
		default:
			// A mount point inside the volume may be busy, and stays.
			if err := os.Remove(filepath.Join(dir, name)); err != nil && e.Type()&os.ModeSymlink != 0 {
				return err
			}
		}
	}
	for name := range wanted {
		if err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// holds tells whether the folder has exactly the files.
func holds(dir string, files map[string]File) (bool, error) {
	seen := 0
	same := true
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, ok := files[name]
		seen++
		same = same && ok && info.Mode().Perm() == file.Mode && bytes.Equal(data, file.Data)
		return nil
	})
	return same && seen == len(files), err
}
