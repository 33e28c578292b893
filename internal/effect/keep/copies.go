package keep

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Single files are kept as copies in the loop's folder, also where there is no git.

// FoundDir is the folder in a loop's folder with files as they were before they were replaced, and
// with what a sandbox set aside.
const FoundDir = loopfolder.PutBack

// CopyFound keeps the content of a file in the loop's folder before the file is replaced: a person
// may have written it. It returns the name of the copy there, which is durable. The same content is
// kept once.
func CopyFound(loopDir, name string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	name = hex.EncodeToString(sum[:4]) + "-" + shorten(path.Base(name))
	err := inFolder(loopDir, FoundDir, func(loop, folder *os.Root) error {
		return put(safefile.Within(loop), safefile.Within(folder), map[string][]byte{name: content})
	})
	return path.Join(FoundDir, name), err
}

// shorten leaves room in 255 bytes for what is added to a name.
func shorten(name string) string { return units.Prefix(name, 220) }

// MoveFound moves what is at a path to a folder such as [FoundDir], or, if that is on another disk,
// beside itself, and returns where it is.
func MoveFound(folder, name string) (to string, err error) {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // it never fails
	id := hex.EncodeToString(random)
	if info, failed := os.Lstat(folder); failed == nil && !info.IsDir() { // a link would lead what is moved elsewhere
		if err = safefile.Move(folder, folder+".aside-"+id); err != nil {
			return "", err
		}
	}
	if err = safefile.Mkdir(safefile.Dir(filepath.Dir(folder)), filepath.Base(folder)); err != nil {
		return "", err
	}
	base := shorten(filepath.Base(name))
	to = filepath.Join(folder, id+"-"+base)
	if err = safefile.Move(name, to); err != nil {
		to = filepath.Join(filepath.Dir(name), base+".aside-"+id)
		err = safefile.Move(name, to)
	}
	return to, err
}

// StoreCopies makes a folder in the loop's folder have contents, each by its SHA-256. It is durable
// on return. A copy is read, and replaced if it was changed; those that are neither wanted nor
// known are removed.
func StoreCopies(loopDir, name string, wanted map[string][]byte, known map[string]bool, most int64) error {
	if _, err := os.Lstat(filepath.Join(loopDir, name)); errors.Is(err, fs.ErrNotExist) && len(wanted) == 0 {
		_, err := os.Lstat(loopDir)
		return err
	}
	return inFolder(loopDir, name, func(loop, kept *os.Root) error {
		names, err := fs.ReadDir(kept.FS(), ".")
		missing := map[string][]byte{}
		for sum, content := range wanted {
			if _, bad := readCopy(kept, sum, most); bad != nil {
				missing[sum] = content
			}
		}
		for _, name := range names {
			sum := name.Name()
			_, changed := missing[sum]
			if _, stays := wanted[sum]; changed || !stays && !known[sum] {
				err = errors.Join(err, kept.RemoveAll(sum)) // it may be a folder
			}
		}
		if err != nil {
			return err
		}
		return put(safefile.Within(loop), safefile.Within(kept), missing)
	})
}

// inFolder calls a function with the loop's folder, and with a folder in it. The latter is made;
// anything else of its name is set aside.
func inFolder(loopDir, name string, do func(loop, folder *os.Root) error) error {
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return err
	}
	defer loop.Close()
	if info, err := loop.Lstat(name); err == nil && !info.IsDir() {
		if _, err := setAside(loop, name); err != nil {
			return err
		}
	}
	if err := loop.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	folder, err := loop.OpenRoot(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(loop, folder)
}

// put writes copies into a folder within the loop's. The folder and its content are durable on
// return: a killed process may have created it and not synced its name.
func put(loop, kept safefile.Folder, copies map[string][]byte) error {
	for sum, body := range copies {
		if err := safefile.Replace(kept, sum, body, 0o600); err != nil {
			return err
		}
	}
	return errors.Join(kept.Sync(), loop.Sync())
}

// ErrCopyChanged says that another program changed a copy in the loop's folder.
var ErrCopyChanged = errors.New("its copy in the loop's folder is not what was kept")

// ReadCopy returns the content that StoreCopies has stored, or [ErrCopyChanged].
func ReadCopy(loopDir, name, sum string, most int64) ([]byte, error) {
	kept, err := os.OpenRoot(filepath.Join(loopDir, name))
	if err != nil {
		return nil, fmt.Errorf("its copy cannot be read: %w", err)
	}
	defer kept.Close()
	return readCopy(kept, sum, most)
}

func readCopy(kept *os.Root, sum string, most int64) ([]byte, error) {
	body, err := safefile.ReadIn(kept, sum, most)
	if wrong, ok := errors.AsType[*safefile.Error](err); ok && wrong.Problem == safefile.TooLarge {
		return nil, ErrCopyChanged
	}
	if err != nil {
		return nil, fmt.Errorf("its copy cannot be read: %w", err)
	}
	if is := sha256.Sum256(body); hex.EncodeToString(is[:]) != sum {
		return nil, ErrCopyChanged
	}
	return body, nil
}
