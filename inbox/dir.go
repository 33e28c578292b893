package inbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// The parts of an inbox, as folders of the loop's. A sandbox shows the loop's agent its part alone.
const (
	Folder         = "inbox"
	AgentFolder    = "from-agent"
	RejectedFolder = "rejected" // in each part
)

// folderOf returns the part into which a command of a kind is dropped.
func folderOf(kind Kind) string {
	if kind.IsAgents() {
		return AgentFolder
	}
	return Folder
}

// dir is an open folder of an inbox. Names are resolved in it alone, even if its path changes. Each
// operation opens it again, since it may vanish and return.
type dir struct {
	root   *os.Root
	handle *os.File // the same folder, for what os.Root cannot do: rename without replacing
}

func openDir(loopDir, name string) (*dir, error) { return inLoop(loopDir, name, openWithin) }

// makeDir is openDir, and makes the folder if it is missing.
func makeDir(loopDir, name string) (*dir, error) { return inLoop(loopDir, name, makeWithin) }

func inLoop(loopDir, name string, open func(parent *os.Root, name string) (*dir, error)) (*dir, error) {
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return nil, err
	}
	defer loop.Close()
	return open(loop, name)
}

func makeWithin(parent *os.Root, name string) (*dir, error) {
	if err := safefile.Mkdir(safefile.Within(parent), name); err != nil {
		return nil, err
	}
	return openWithin(parent, name)
}

func openWithin(parent *os.Root, name string) (*dir, error) {
	root, err := safefile.FolderIn(parent, name)
	if err != nil {
		return nil, err
	}
	handle, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &dir{root, handle}, nil
}

func (d *dir) close() {
	d.handle.Close()
	d.root.Close()
}

// moveTo renames name in d to newName in to, and is fs.ErrExist if that name is taken.
func (d *dir) moveTo(name string, to *dir, newName string) error {
	if err := renameNoReplace(d.handle, name, to.handle, newName); err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: filepath.Join(to.root.Name(), newName), Err: err}
	}
	return nil
}

// newFile is a file that a drop creates. Its Stat returns the time of the file system's clock.
type newFile interface {
	safefile.File
	Stat() (fs.FileInfo, error)
}

// openBox is an open inbox, as a drop and a claim change it.
type openBox interface {
	create(name string) (newFile, error)
	place(name, newName string) error // as moveTo
	names() safefile.Folder
	close()
}

func makeBox(loopDir, name string) (openBox, error) { return makeDir(loopDir, name) }

func (d *dir) create(name string) (newFile, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (d *dir) place(name, newName string) error { return d.moveTo(name, d, newName) }
func (d *dir) names() safefile.Folder           { return safefile.Within(d.root) }
