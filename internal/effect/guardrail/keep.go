package guardrail

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// KeptDir is the folder in a loop's folder with the content of the protected files, each named by
// its SHA-256.
const KeptDir = loopfolder.Guardrails

// Records returns all entries of the snapshot, including absent files, settings first.
func (s *FileSnapshot) Records() []Record {
	records := make([]Record, len(s.entries))
	for i, e := range s.entries {
		records[i] = e.Record
	}
	return records
}

// Keep writes the content of the protected files into the loop's folder, where Reopen finds it. It
// is durable on return. An existing copy is read, and replaced if it was changed. Copies of other
// snapshots are removed, except those of the previous one: until its caller has made the new
// records durable, the next process may read the previous ones.
func (s *FileSnapshot) Keep(loopDir string, previous []Record) error {
	err := s.keep(loopDir, previous)
	if err != nil {
		return fmt.Errorf("keep the guardrails' files: %w", err)
	}
	return nil
}

func (s *FileSnapshot) keep(loopDir string, previous []Record) error {
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return err
	}
	defer loop.Close()
	wanted, known := map[string][]byte{}, map[string]bool{}
	for _, e := range s.entries {
		if e.Protected && e.content != nil {
			wanted[e.SHA256], known[e.SHA256] = e.content, true
		}
	}
	for _, r := range previous {
		known[r.SHA256] = known[r.SHA256] || r.Protected
	}
	info, err := loop.Lstat(KeptDir)
	switch {
	case err != nil && !missing(err):
		return err
	case err != nil && len(wanted) == 0:
		return nil
	case err == nil && !info.IsDir():
		if _, err := setAside(loop, KeptDir); err != nil {
			return err
		}
	}
	if err := loop.Mkdir(KeptDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	kept, err := loop.OpenRoot(KeptDir)
	if err != nil {
		return err
	}
	defer kept.Close()
	names, err := fs.ReadDir(kept.FS(), ".")
	for _, name := range names {
		if !known[name.Name()] {
			err = errors.Join(err, kept.RemoveAll(name.Name()))
		}
	}
	for sum := range wanted {
		if _, bad := readKept(kept, sum); bad == nil {
			delete(wanted, sum)
		} else {
			err = errors.Join(err, kept.RemoveAll(sum)) // it may be a folder
		}
	}
	if err != nil {
		return err
	}
	return put(safefile.Within(loop), safefile.Within(kept), wanted)
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

// ErrCopyChanged says that another program changed a kept copy in the loop's folder.
var ErrCopyChanged = errors.New("its copy in the loop's folder is not what was kept")

// readKept returns a copy whose content has the hash that is its name.
func readKept(kept *os.Root, sum string) ([]byte, error) {
	body, err := safefile.ReadIn(kept, sum, MaxKept)
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

// Reopen makes the snapshot of an earlier process from its records and from what it kept in the
// loop's folder. A copy is used only if its SHA-256 is that of the record. A missing or changed
// copy is no error here, but one of Restore. The guardrails may be other ones than before: files
// that define them and are in no record are read as they are now.
func Reopen(at Place, loopDir string, records []Record, guardrails []Guardrail) (*FileSnapshot, error) {
	s, err := NewSnapshot(at, guardrails)
	if err != nil {
		return nil, err
	}
	fresh := s.entries
	s.entries = nil
	for _, r := range records {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("reopen the snapshot of %s: %w", r.Path, err)
		}
		e := entry{Record: r}
		if r.Protected && r.Kind == KindFile {
			e.content, e.lost = readCopy(loopDir, r.SHA256)
		}
		s.entries = append(s.entries, e)
	}
	for _, e := range fresh {
		if at := slices.IndexFunc(s.entries, func(have entry) bool { return have.same(e.Record) }); at >= 0 {
			s.entries[at].commands = e.commands
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
	return readKept(kept, sum)
}

// check refuses a record that no snapshot can have written.
func (r Record) check() error {
	if !slices.Contains([]string{"", KindFile, KindLink}, r.Kind) {
		return fmt.Errorf("%q is not known", r.Kind)
	}
	if sum, err := hex.DecodeString(r.SHA256); r.Kind == KindFile && (err != nil || len(sum) != sha256.Size) {
		return fmt.Errorf("%q is no SHA-256", r.SHA256)
	}
	if !filepath.IsLocal(filepath.FromSlash(r.Path)) {
		return errors.New("it is outside the project")
	}
	return nil
}
