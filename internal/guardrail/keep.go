package guardrail

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// KeptDir is the folder in a loop's folder with the content of the files that were sealed and are protected, each under its SHA-256.
const KeptDir = "sealed"

// Record is what a seal knows of a path but for its content. Kind is "file", "link", or empty where nothing was.
type Record struct {
	Path      string
	Role      Role
	Kind      string
	SHA256    string // of a file, in hex
	Size      int64  // of a file
	Mode      fs.FileMode
	Target    string // of a link
	Protected bool
}

const (
	kindFile = "file"
	kindLink = "link"
)

// Records returns all that was sealed, what was absent included, settings first.
func (s *Seal) Records() []Record {
	records := make([]Record, len(s.entries))
	for i, e := range s.entries {
		r := Record{Path: e.path, Role: e.role, Protected: e.protect}
		switch e.was.kind {
		case regular:
			r.Kind, r.SHA256, r.Size, r.Mode = kindFile, e.was.String(), e.was.size, e.was.mode
		case link:
			r.Kind, r.Target = kindLink, e.was.target
		}
		records[i] = r
	}
	return records
}

// Keep writes the content of what is protected into the loop's folder, where Reopen finds it. On return it is on the disk. A copy that is
// there already is read, and written anew where somebody changed it. What is there of other seals is removed, but for the one before: until
// whoever keeps the records has them on the disk, the next process may still be told of that one.
func (s *Seal) Keep(loopDir string, before []Record) error {
	err := s.keep(loopDir, before)
	if err != nil {
		return fmt.Errorf("keep the guardrails' files: %w", err)
	}
	return nil
}

func (s *Seal) keep(loopDir string, before []Record) error {
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return err
	}
	defer loop.Close()
	wanted := map[string][]byte{}
	for _, e := range s.entries {
		if e.protect && e.body != nil {
			wanted[e.was.String()] = e.body
		}
	}
	known := func(sum string) bool {
		return wanted[sum] != nil || slices.ContainsFunc(before, func(r Record) bool { return r.Protected && r.SHA256 == sum })
	}
	kept, err := clearKept(loop, len(wanted) > 0, known)
	if err != nil || len(wanted) == 0 {
		return err
	}
	for sum := range wanted {
		if _, err := readKept(kept, sum); err == nil {
			delete(wanted, sum)
		} else if info, failed := kept.Lstat(sum); failed == nil && info.IsDir() {
			if err := kept.RemoveAll(sum); err != nil {
				return errors.Join(err, kept.Close())
			}
		}
	}
	return errors.Join(put(safefile.Within(loop), safefile.Within(kept), wanted), kept.Close())
}

// put writes copies into a folder within the loop's. All that is in it is durable on return, and the folder itself: a process that
// was killed may have put it there and not synced its name.
func put(loop, kept safefile.Folder, copies map[string][]byte) error {
	for sum, body := range copies {
		if err := safefile.Replace(kept, sum, body, 0o600); err != nil {
			return err
		}
	}
	return errors.Join(kept.Sync(), loop.Sync())
}

// clearKept opens the folder of what is kept, without what is not known in it. Where nothing is to be kept and nothing was there is none.
func clearKept(loop *os.Root, wanted bool, known func(sum string) bool) (*os.Root, error) {
	info, err := loop.Lstat(KeptDir)
	switch {
	case missing(err) && !wanted:
		return nil, nil
	case err == nil && !info.IsDir():
		if err := setAside(loop, KeptDir); err != nil {
			return nil, err
		}
	case err != nil && !missing(err):
		return nil, err
	}
	if err := loop.Mkdir(KeptDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	kept, err := loop.OpenRoot(KeptDir)
	if err != nil {
		return nil, err
	}
	names, err := fs.ReadDir(kept.FS(), ".")
	for _, name := range names {
		if !known(name.Name()) {
			err = errors.Join(err, kept.RemoveAll(name.Name()))
		}
	}
	if err != nil || !wanted {
		return nil, errors.Join(err, kept.Close())
	}
	return kept, nil
}

// ErrCopyChanged says that the copy of a sealed file is not what was sealed: somebody else wrote to the loop's folder.
var ErrCopyChanged = errors.New("its copy in the loop's folder is not what was sealed")

// readKept returns a copy, after it was held against the name under which it is kept.
func readKept(kept *os.Root, sum string) ([]byte, error) {
	file, err := kept.OpenFile(sum, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	body, err := io.ReadAll(io.LimitReader(file, MaxKept+1))
	if err != nil {
		return nil, err
	}
	if is := sha256.Sum256(body); hex.EncodeToString(is[:]) != sum {
		return nil, ErrCopyChanged
	}
	return body, nil
}

// Reopen makes a seal of another process again, from its records and from what it kept in the loop's folder. A copy is believed only where
// its SHA-256 is that of the record. What cannot be believed or is not there is no error here, but one of Restore.
// What guardrails, which may be others than they were, are defined by besides is sealed as it is now.
func Reopen(project, loopDir string, records []Record, guardrails []Guardrail) (*Seal, error) {
	s, err := NewSeal(project, guardrails)
	if err != nil {
		return nil, err
	}
	fresh := s.entries
	s.entries = nil
	for _, r := range records {
		e, err := r.entry()
		if err != nil {
			return nil, fmt.Errorf("reopen the seal of %s: %w", r.Path, err)
		}
		if e.protect && e.was.kind == regular {
			e.body, e.unkept = readCopy(loopDir, r.SHA256)
		}
		s.entries = append(s.entries, e)
	}
	for _, e := range fresh {
		if at := slices.IndexFunc(s.entries, func(have entry) bool { return have.path == e.path }); at >= 0 {
			s.entries[at].of = e.of
			continue
		}
		s.entries = append(s.entries, e)
	}
	return s, nil
}

func readCopy(loopDir, sum string) ([]byte, error) {
	kept, err := os.OpenRoot(filepath.Join(loopDir, KeptDir))
	if err != nil {
		return nil, fmt.Errorf("its copy cannot be read: %w", err)
	}
	defer kept.Close()
	body, err := readKept(kept, sum)
	if err != nil && !errors.Is(err, ErrCopyChanged) {
		err = fmt.Errorf("its copy cannot be read: %w", err)
	}
	return body, err
}

func (r Record) entry() (entry, error) {
	e := entry{path: r.Path, role: r.Role, protect: r.Protected}
	switch r.Kind {
	case "":
	case kindLink:
		e.was = state{kind: link, target: r.Target}
	case kindFile:
		e.was = state{kind: regular, mode: r.Mode, size: r.Size}
		sum, err := hex.DecodeString(r.SHA256)
		if err != nil || len(sum) != sha256.Size {
			return e, fmt.Errorf("%q is no SHA-256", r.SHA256)
		}
		e.was.sum = [sha256.Size]byte(sum)
	default:
		return e, fmt.Errorf("%q is not known", r.Kind)
	}
	if !filepath.IsLocal(filepath.FromSlash(r.Path)) {
		return e, errors.New("it is outside the project")
	}
	return e, nil
}
