package inbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Reject moves inbox/<name> to inbox/rejected/<name>, or from-agent/<name> to
// from-agent/rejected/<name>, and writes the reason beside it, in <name>.reason. Where either name
// is taken, both get a number; a name too long for a suffix is shortened. A file that is not there
// is rejected already. If a file cannot be moved (it or the folder is another user's, or may not be
// changed), Reject returns an error, and this Box does not return the file again. Nothing is read,
// followed or copied.
func (b *Box) Reject(name, reason string) error {
	part := b
	if of, ok := strings.CutPrefix(name, AgentFolder+"/"); ok {
		part, name = b.agent, of
	}
	if err := part.reject(name, reason); err != nil {
		return fmt.Errorf("reject inbox file %.80q: %w", name, err)
	}
	return nil
}

func (b *Box) reject(name, reason string) error {
	if _, concerns := parseName(name); !concerns || filepath.Base(name) != name {
		return errors.New("not the name of a file in an inbox")
	}
	d, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.moveToRejected(name, reason); err != nil {
		b.remember(d, name)
		return err
	}
	return nil
}

// rejectTries is how many names are tried for a rejected file.
const rejectTries = 1024

func (d *dir) moveToRejected(name, reason string) error {
	rejected, err := d.openRejected()
	if err != nil {
		return err
	}
	defer rejected.close()
	base := shorten(name)
	for n := range rejectTries {
		target := base
		if n > 0 {
			target += "." + strconv.Itoa(n)
		}
		err := d.rejectAs(name, rejected, target, reason)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("%d files of that name are there: %w", rejectTries, fs.ErrExist)
}

// rejectAs writes the reason first: after a crash in between, the file is still in the inbox and is
// rejected again.
func (d *dir) rejectAs(name string, rejected *dir, target, reason string) error {
	note := target + ".reason"
	f, err := rejected.root.OpenFile(note, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, reason+"\n")
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.moveTo(name, rejected, target)
	}
	if err != nil {
		_ = rejected.root.Remove(note) // what went wrong is in err
	}
	return err
}

// openRejected opens inbox/rejected. If that is not a folder, it is renamed to a hidden name first.
func (d *dir) openRejected() (*dir, error) {
	for n := range rejectTries {
		if info, err := d.root.Lstat(RejectedFolder); err != nil || info.IsDir() {
			return makeWithin(d.root, RejectedFolder)
		}
		err := d.moveTo(RejectedFolder, d, "."+RejectedFolder+"."+strconv.Itoa(n))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s is not a folder, and all names to move it to are taken: %w", RejectedFolder, fs.ErrExist)
}

// shorten leaves room in 255 bytes for a number and ".reason". It cuts between characters: macOS
// refuses names that are not UTF-8.
func shorten(name string) string { return units.Prefix(name, 220) }
