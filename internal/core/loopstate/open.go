package loopstate

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal"
)

// Open returns the present state of a loop from its files. It reads state.json and the later events
// of the journal; if state.json is missing, torn or not of this journal, it folds from the last
// segment's checkpoint. It takes no lock and writes nothing.
func Open(loopDir string) (State, error) {
	if s, ok := saved(loopDir); ok {
		if ok, err := catchUp(loopDir, &s); ok && err == nil {
			return s, nil
		}
	}
	return Rebuild(loopDir)
}

// Rebuild folds the journal from the last segment's checkpoint, whatever
// state.json says. A folder without a journal gives the zero State.
func Rebuild(loopDir string) (State, error) {
	var s State
	for e, err := range journal.Read(loopDir, journal.ReadOptions{FromCheckpoint: true}) {
		if err != nil {
			return s, err
		}
		if err := s.Fold(e); err != nil {
			return s, err
		}
	}
	return s, nil
}

// MaxState is the longest projection that is read, in bytes. A longer state.json is made again from
// the journal.
const MaxState = 64 << 20

// saved returns the state that state.json holds, if it can be read.
func saved(loopDir string) (State, bool) {
	var f File
	data, err := safefile.Read(filepath.Join(loopDir, StateFile), MaxState)
	if err != nil || json.Unmarshal(data, &f) != nil {
		return State{}, false
	}
	return f.State, f.State.Seq > 0 && f.Seq == f.State.Seq
}

// catchUp folds the events after the state. ok is false if the journal does not contain the state's
// last event: after a power cut the projection may be ahead of the journal.
func catchUp(loopDir string, s *State) (ok bool, err error) {
	for e, err := range journal.Read(loopDir, journal.ReadOptions{FromSeq: s.Seq}) {
		switch {
		case err != nil:
			return false, err
		case !ok && (e.Seq != s.Seq || !e.At.Equal(s.At)):
			return false, nil
		case !ok:
			ok = true
		default:
			if err := s.Fold(e); err != nil {
				return false, err
			}
		}
	}
	return ok, nil
}

// PromptCopy is the file in a loop's folder to which an export copies a prompt file from outside.
const PromptCopy = "prompt.md"

// PromptFile returns where the prompt file of a loop is whose folder is dir; empty if it has none.
// If the loop was moved, it is the file at the same place in its project, else the copy of an
// export. The journal may be a stranger's: no link leads out of the project.
func (s *State) PromptFile(dir string) string {
	life := &s.Lifecycle
	host, _ := os.Hostname()
	if life.Task.File == "" || life.Dir == dir && (life.Host == host || isFile(filepath.Split(life.Task.File))) {
		return life.Task.File
	}
	projectOf := func(dir string) string { return filepath.Dir(filepath.Dir(dir)) }
	project := projectOf(dir)
	inside, err := filepath.Rel(projectOf(life.Dir), life.Task.File)
	local := err == nil && filepath.IsLocal(inside)
	if local && isFile(project, inside) {
		return filepath.Join(project, inside)
	}
	if isFile(dir, PromptCopy) {
		return filepath.Join(dir, PromptCopy)
	}
	if local {
		return filepath.Join(project, inside) // the error of a missing file names the place
	}
	return life.Task.File
}

// isFile reports whether there is a file in a folder, to which no link leads from outside.
func isFile(folder, name string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
