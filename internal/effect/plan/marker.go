package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Marker is the content of .ralph-active. A loop writes it before each iteration and removes it at
// its end; hooks read it. It is foreign text: agents can change it, and a killed loop leaves it.
type Marker struct {
	Timestamp     time.Time       `json:"timestamp"` // when it was written; in whole seconds, UTC
	PID           int             `json:"pid"`       // the runner's
	MaxIterations int             `json:"max_iterations"`
	Mode          string          `json:"mode"` // ModeDirect or ModeSandbox
	SkipReview    bool            `json:"skipReview"`
	ReviewCap     int             `json:"reviewCap"`
	IterationMode event.StoryMode `json:"iterationMode"`
	// PreIterationSnapshot holds the stories as they were before the iteration, by their id; nil if
	// the file has none.
	PreIterationSnapshot map[string]Snapshot `json:"preIterationSnapshot"`

	Loop  string `json:"loop,omitempty"`  // the name of the loop
	Dir   string `json:"dir,omitempty"`   // the folder of the loop
	Story string `json:"story,omitempty"` // id of the story of this iteration
}

// Values of [Marker.Mode].
const (
	ModeDirect  = "direct"
	ModeSandbox = "sandbox"
)

// Snapshot is what a marker keeps of one story.
type Snapshot struct {
	Passes       bool              `json:"passes"`
	ReviewStatus event.StoryStatus `json:"reviewStatus"` // null in the file where it is empty
	ReviewCount  int               `json:"reviewCount"`
	Feedback     string            `json:"feedback,omitempty"` // a fingerprint of reviewFeedback
}

// MarshalJSON writes an empty review status as null, as tasks.json has it.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	var status *event.StoryStatus
	if s.ReviewStatus != "" {
		status = &s.ReviewStatus
	}
	return json.Marshal(struct {
		Passes       bool               `json:"passes"`
		ReviewStatus *event.StoryStatus `json:"reviewStatus"`
		ReviewCount  int                `json:"reviewCount"`
		Feedback     string             `json:"feedback,omitempty"`
	}{s.Passes, status, s.ReviewCount, s.Feedback})
}

// SnapshotOf returns what a marker keeps of these stories. It is never nil.
func SnapshotOf(states []event.StoryState) map[string]Snapshot {
	all := make(map[string]Snapshot, len(states))
	for _, s := range states {
		all[s.ID] = Snapshot{s.Passes, s.ReviewStatus, s.ReviewCount, s.Feedback}
	}
	return all
}

// States returns the stories of the snapshot, sorted by their id and without titles; nil if the
// marker has no snapshot.
func (m Marker) States() []event.StoryState {
	if m.PreIterationSnapshot == nil {
		return nil
	}
	states := make([]event.StoryState, 0, len(m.PreIterationSnapshot))
	for _, id := range slices.Sorted(maps.Keys(m.PreIterationSnapshot)) {
		s := m.PreIterationSnapshot[id]
		states = append(states, event.StoryState{ID: id, Passes: s.Passes, ReviewStatus: s.ReviewStatus, ReviewCount: s.ReviewCount, Feedback: s.Feedback})
	}
	return states
}

// ReadMarker returns the marker of a project. The error is fs.ErrNotExist if there is none. A link,
// a FIFO or anything else that is no regular file is a *[safefile.Error].
func ReadMarker(project string) (Marker, error) {
	var m Marker
	root, err := os.OpenRoot(project)
	if err != nil {
		return m, fmt.Errorf("open the project: %w", err)
	}
	defer root.Close()
	data, err := safefile.ReadIn(root, Active, maxMarker)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return Marker{}, fmt.Errorf("read %s: %w", Active, err)
	}
	return m, nil
}

// WriteMarker replaces the marker of a project. A link or a FIFO in its place is replaced, not
// followed; a folder is an error.
func WriteMarker(project string, m Marker) error {
	m.Timestamp = m.Timestamp.UTC().Truncate(time.Second)
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", Active, err)
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return fmt.Errorf("open the project: %w", err)
	}
	defer root.Close()
	if err := replace(root, Active, append(data, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", Active, err)
	}
	return nil
}

// RemoveMarker removes the marker of the loop with this folder; of any loop if loopDir is empty.
// The marker of another loop stays. One that cannot be read is removed. A missing one is no error.
func RemoveMarker(project, loopDir string) error {
	m, err := ReadMarker(project)
	if errors.Is(err, fs.ErrNotExist) || err == nil && loopDir != "" && m.Dir != loopDir {
		return nil
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return fmt.Errorf("open the project: %w", err)
	}
	defer root.Close()
	if err := root.Remove(Active); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", Active, err)
	}
	return nil
}
