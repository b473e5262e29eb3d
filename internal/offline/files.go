package offline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Stdin is the name of the standard input, as an argument and in messages.
const Stdin = "-"

// ErrNoFiles tells that a folder holds no manifests.
var ErrNoFiles = errors.New("no file ends with .yaml, .yml or .json")

// File is one to be read.
type File struct {
	// Name as it is shown.
	Name string
	// Relative is the name below what was given, by which a file and the one that
	// it replaces know each other.
	Relative string
	// Open gives the content.
	Open func() (io.ReadCloser, error)
}

// OneFile is a file that was given by name, whatever its ending.
func OneFile(name string, open func() (io.ReadCloser, error)) File {
	return File{Name: name, Relative: path.Base(name), Open: open}
}

// Folder lists the manifests of a folder, in order of name; of its subfolders
// too where recursive. Shown turns a path in the folder into what is shown.
func Folder(folder fs.FS, recursive bool, shown func(string) string) ([]File, error) {
	var files []File
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("listing %s: %w", shown(name), err)
		case entry.IsDir() && name != "." && !recursive:
			return fs.SkipDir
		case entry.IsDir() || !isManifest(name) || linksFolder(folder, name, entry):
			return nil
		}
		files = append(files, File{Name: shown(name), Relative: name, Open: func() (io.ReadCloser, error) { return folder.Open(name) }})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: %w", shown("."), ErrNoFiles)
	}
	return files, err
}

// isManifest goes by the endings that kubectl reads.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// linksFolder tells a symbolic link to a folder, which is not followed.
func linksFolder(folder fs.FS, name string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := fs.Stat(folder, name)
	return err == nil && info.IsDir()
}

func (f File) read() ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", f.Name, err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name, err)
	}
	return data, nil
}
