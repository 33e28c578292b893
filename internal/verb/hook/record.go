package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A record is what ralph remembers of one session between its hooks.
type record struct {
	Session string `json:"session"`
	// Alerted are the thresholds that the agent was warned of, in percent.
	Alerted []int `json:"alerted,omitempty"`
	// Compacted is the place of the last compaction in the transcript that is known.
	Compacted int64 `json:"compacted,omitempty"`
	// Held counts the stops in a row that were blocked for the same problems, HeldAll all of them.
	Held     int    `json:"held,omitempty"`
	HeldAll  int    `json:"heldAll,omitempty"`
	Problems string `json:"problems,omitempty"` // a hash of them
}

const (
	recordFolder = "hooks" // in ralph's home
	mostRecord   = 64 << 10
	recordLife   = 14 * 24 * time.Hour
	mostRecords  = 4096 // are looked at when old ones are removed
)

// How long a lock is tried, and after how long again: a program that is being started may hold a
// copy of its file for a moment.
const (
	recordWait = 100 * time.Millisecond
	lockPoll   = 5 * time.Millisecond
)

var errBusy = errors.New("another process is at work there")

// locked calls do while no other process has the lock, a file in a folder. The error, which names
// what is locked, is errBusy if another process has it for longer than wait.
func locked(folder *os.Root, name, what string, wait time.Duration, do func() error) error {
	lock, err := safefile.OpenFileIn(folder, name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock %s: %w", what, err)
	}
	defer lock.Close()
	for left := wait; ; left -= lockPoll {
		mine, err := filelock.TryExclusive(lock)
		if mine {
			return do()
		}
		if err == nil && left <= 0 {
			err = errBusy
		}
		if err != nil {
			return fmt.Errorf("lock %s: %w", what, err)
		}
		time.Sleep(lockPoll)
	}
}

// records is the private folder of the records.
type records struct{ root *os.Root }

// openRecords opens the folder, and makes it if it is missing. A link in its place is an error.
func openRecords(e Env) (records, error) {
	path := filepath.Join(e.Home, recordFolder)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return records{}, fmt.Errorf("make the folder for hooks: %w", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return records{}, err
	}
	if !info.IsDir() {
		return records{}, fmt.Errorf("%s is not a folder", path)
	}
	root, err := os.OpenRoot(path)
	return records{root}, err
}

func (r records) Close() error { return r.root.Close() }

// nameOf returns a file's name for a text of any kind.
func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// read returns the record of a session; a new one if there is none, or none that can be read.
func (r records) read(session string) record {
	got := record{Session: session}
	if data, err := safefile.ReadIn(r.root, nameOf(session)+".json", mostRecord); err == nil {
		if json.Unmarshal(data, &got) != nil || got.Session != session {
			got = record{Session: session}
		}
	}
	return got
}

// change changes the record of a session. Only one hook of a session does so at a time: the error
// of the others is errBusy.
func (r records) change(session string, do func(*record)) error {
	return locked(r.root, nameOf(session)+".lock", "the session's record", recordWait, func() error {
		next := r.read(session)
		do(&next)
		data, err := json.Marshal(next)
		if err == nil {
			err = safefile.Replace(safefile.Within(r.root), nameOf(session)+".json", append(data, '\n'), 0o600)
		}
		if err != nil {
			return fmt.Errorf("write the session's record: %w", err)
		}
		return nil
	})
}

// removeOld removes the records of sessions that have not changed for two weeks.
func (r records) removeOld(now time.Time) {
	folder, err := r.root.Open(".")
	if err != nil {
		return
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(mostRecords)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < recordLife || !isRecord(entry.Name()) {
			continue
		}
		if err := r.root.Remove(entry.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// isRecord reports whether a name is one of the files that are written here.
func isRecord(name string) bool {
	if of, ok := safefile.Leftover(name); ok {
		name = of
	}
	stem, ending, _ := strings.Cut(name, ".")
	_, err := hex.DecodeString(stem)
	return err == nil && len(stem) == 32 && (ending == "json" || ending == "lock")
}
