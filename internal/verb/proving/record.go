package proving

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/prove"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// maxRecord bounds one, in bytes.
	maxRecord = 64 << 20
	// forgotten is the age at which one that no process continued is removed.
	forgotten = 7 * 24 * time.Hour
)

// record has the trials of a proof that is not complete, a line of JSON each.
type record struct {
	file *os.File
	path string
	done []event.ProofTried
}

// digest names a text.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// openRecord opens the record of a proof, with what an earlier process tried. No other process may
// have it open.
func openRecord(e *cli.Env, s subject) (*record, error) {
	folder := prove.Folder(e.Home, s.ID)
	sweep(filepath.Dir(folder), e.Now())
	parts := []string{s.Start, s.Claimed, s.Dir, fmt.Sprint(s.Seed)}
	for _, g := range s.Guardrails {
		parts = append(parts, g.Command)
	}
	r := &record{path: filepath.Join(folder, digest(parts...)+".jsonl")}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return nil, fmt.Errorf("record the proof: %w", err)
	}
	var err error
	if r.file, err = safefile.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("record the proof: %w", err)
	}
	alone, err := filelock.TryExclusive(r.file)
	if err == nil && !alone {
		err = cli.Refuse("wait for it, or end it", "another 'ralph prove' does the same")
	}
	if err == nil {
		err = r.read()
	}
	if err != nil {
		return nil, errors.Join(err, r.file.Close())
	}
	return r, nil
}

// read reads the trials, and cuts off a line that is not complete.
func (r *record) read() error {
	text, err := safefile.ReadAll(r.file, maxRecord)
	if err != nil {
		return fmt.Errorf("read what was tried before: %w", err)
	}
	good := 0
	for line := range bytes.Lines(text) {
		var t event.ProofTried
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &t) != nil {
			break
		}
		good += len(line)
		r.done = append(r.done, t)
	}
	if err := r.file.Truncate(int64(good)); err != nil {
		return err
	}
	_, err = r.file.Seek(int64(good), io.SeekStart)
	return err
}

func (r *record) add(t event.ProofTried) error {
	line, err := json.Marshal(t)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	if err != nil {
		err = fmt.Errorf("record the proof: %w", err)
	}
	return err
}

// close closes the record, and removes that of a proof that is complete.
func (r *record) close(complete bool) error {
	if complete {
		if err := os.Remove(r.path); err != nil {
			return errors.Join(err, r.file.Close())
		}
		removeEmpty(filepath.Dir(r.path))
	}
	return r.file.Close()
}

// sweep removes records that no process has continued for long, and old outputs of guardrails.
func sweep(folder string, now time.Time) {
	found, _ := filepath.Glob(filepath.Join(folder, "*", "*.*"))
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > forgotten {
			_ = os.Remove(path)
			removeEmpty(filepath.Dir(path))
		}
	}
}

// removeEmpty removes the folder of records, and the one of all, unless there are others.
func removeEmpty(folder string) {
	if os.Remove(folder) == nil {
		_ = os.Remove(filepath.Dir(folder))
	}
}

// headBefore returns what was checked out before the first iteration; "" if that is not known.
func headBefore(dir string, changes *policy.Changes) string {
	root, err := repo.WorkTree(dir)
	if err != nil {
		return ""
	}
	for _, name := range []string{".", root} {
		if before, ok := changes.Before(name); ok {
			return before.Head
		}
	}
	return ""
}
