package every

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// What became of a run.
const (
	starting = "starting" // recorded before the start; the last word only where ralph died in it
	started  = "started"
	queued   = "queued"  // started, to begin when the loop of the run before has ended
	skipped  = "skipped" // that loop was alive
	refused  = "refused" // Why says what 'ralph start' said
)

// A Record is a line of the record of runs. A later line with the same loop replaces it.
type Record struct {
	At      time.Time `json:"at"`
	Due     time.Time `json:"due,omitzero"`     // of a run at its time; none for one by hand
	Missed  int       `json:"missed,omitempty"` // times before Due at which nothing ran
	Outcome string    `json:"outcome"`
	ID      string    `json:"id,omitempty"` // of its loop
	Loop    string    `json:"loop,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Why     string    `json:"why,omitempty"`
	Hint    string    `json:"hint,omitempty"`
}

func recordFile(home, name string) string { return filepath.Join(folder(home, name), "runs.jsonl") }

func lockFile(home, name string) string { return filepath.Join(folder(home, name), "lock") }

// maxRecord is how much of the end of a record is read: some hundred runs.
const maxRecord = 256 << 10

// add appends to the record.
func add(home, name string, r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := safefile.OpenFile(recordFile(home, name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = safefile.AppendLine(f, line)
	}
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	return nil
}

// records reads the last runs, of each the last line.
func records(home, name string) (all []Record, err error) {
	f, err := safefile.Open(recordFile(home, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of runs: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the record of runs: %w", err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxRecord), maxRecord))
	if err != nil {
		return nil, fmt.Errorf("read the record of runs: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		var r Record
		if json.Unmarshal([]byte(line), &r) != nil {
			continue // its beginning was not read, or a loss of power cut it off
		}
		if last := len(all) - 1; last >= 0 && r.ID != "" && all[last].ID == r.ID {
			all[last] = r
			continue
		}
		all = append(all, r)
	}
	return all, nil
}

// since returns the time after which a time of the schedule is due. A run of a time that has not
// come is of a clock that was wrong.
func (s *Schedule) since(all []Record, now time.Time) time.Time {
	last := s.Made
	for _, r := range all {
		if r.Due.After(last) && !r.Due.After(now) {
			last = r.Due
		}
	}
	return last
}

// loops returns the ids of the loops that were started, the last one last.
func loops(all []Record) (ids []string) {
	for _, r := range all {
		if r.ID != "" && (r.Outcome == started || r.Outcome == queued || r.Outcome == starting) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
