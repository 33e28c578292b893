package guardrail

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
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
	wanted, known := map[string][]byte{}, map[string]bool{}
	for _, e := range s.entries {
		if e.Protected && e.content != nil {
			wanted[e.SHA256] = e.content
		}
	}
	for _, r := range previous {
		known[r.SHA256] = known[r.SHA256] || r.Protected
	}
	err := keep.StoreCopies(loopDir, KeptDir, wanted, known, MaxKept)
	if err != nil {
		return fmt.Errorf("keep the guardrails' files: %w", err)
	}
	return nil
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
			e.content, e.lost = keep.ReadCopy(loopDir, KeptDir, r.SHA256, MaxKept)
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
