package proving

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	// lockFile says which process proves, in the folder of the records of one loop.
	lockFile = "proof.lock"
	// maxHolder bounds what it says, in bytes.
	maxHolder = 200
)

// record has the trials of a proof that is not complete, a line of JSON each.
type record struct {
	lock, file *os.File
	path       string
	done       []event.ProofTried
}

// digest names a text.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// openRecord opens the record of a proof, with what an earlier process tried. No other process may
// prove the same loop or project meanwhile, also with another seed or other guardrails: the
// guardrails of both would share a sandbox, and the first to end would end it.
func openRecord(e *cli.Env, s subject) (*record, error) {
	folder := prove.Folder(e.Home, s.ID)
	sweep(filepath.Dir(folder), e.Now())
	parts := []string{s.Start, s.Claimed, s.Dir, fmt.Sprint(s.Seed)}
	for _, g := range s.Guardrails {
		parts = append(parts, g.Command)
	}
	r := &record{path: filepath.Join(folder, digest(parts...)+".jsonl")}
	if err := r.begin(filepath.Join(folder, lockFile), e.Now(), cmp.Or(s.name, s.Dir)); err != nil {
		return nil, fmt.Errorf("lock the proof: %w", err)
	}
	var err error
	if r.file, err = safefile.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("record the proof: %w", err), r.lock.Close())
	}
	if err := r.read(); err != nil {
		return nil, errors.Join(err, r.file.Close(), r.lock.Close())
	}
	return r, nil
}

// begin takes the lock, and writes into it who has it.
func (r *record) begin(path string, now time.Time, what string) error {
	for {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		lock, err := safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the last proof ended and removed the folder
		}
		if err != nil {
			return err
		}
		alone, err := filelock.TryExclusive(lock)
		switch {
		case err != nil:
		case !alone:
			err = heldBy(lock, what)
		case !isAt(lock, path): // its holder has removed it
			_ = lock.Close()
			continue
		default:
			r.lock = lock
			if err = lock.Truncate(0); err == nil {
				_, err = fmt.Fprintf(lock, "process %d, since %s", os.Getpid(), now.Format(time.DateTime))
			}
			return err
		}
		return errors.Join(err, lock.Close())
	}
}

// heldBy says which process has the lock. It may not have written that yet.
func heldBy(lock *os.File, what string) error {
	holder, err := safefile.ReadAll(lock, maxHolder)
	if err != nil || len(holder) == 0 {
		holder = []byte("which has just begun")
	}
	return cli.Refuse("wait until it has ended, or end it; its own command continues it",
		"another 'ralph prove' of %s is at work: %s", cli.Clean(what), cli.Clean(string(holder)))
}

// isAt reports whether a path leads to an open file.
func isAt(f *os.File, path string) bool {
	open, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(open, there)
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

// close closes the record, and removes that of a proof that is complete. The lock ends last.
func (r *record) close(complete bool) (err error) {
	if complete {
		if err = os.Remove(r.path); err == nil {
			err = os.Remove(r.lock.Name())
			removeEmpty(filepath.Dir(r.path))
		}
	}
	return errors.Join(err, r.file.Close(), r.lock.Close())
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
