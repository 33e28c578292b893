package projector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Projections is what [Write] and [Compare] found in a journal, up to the event that could not be
// read.
type Projections struct {
	Seq        event.Seq // of the last event
	Iterations int       // that ended
	// State is the event that state.json is of, and Differ are the places in which the files are
	// not what the journal says: the file, and the key if it has one. Both are only of Compare.
	State  event.Seq
	Differ []string
}

// Write writes state.json and iterations/NNN.json again from the journal. It does not use later
// checkpoints than the first that the journal still has. No runner may have the loop: it writes the
// same files, with a newer state.
func Write(loopDir string) (Projections, error) {
	var p Projections
	w := loopstate.NewWriter(loopDir, nil)
	s, err := p.refold(loopDir, func(s *loopstate.State, ended bool) {
		if ended {
			w.Iteration(*s.Last)
		}
	})
	if err == nil && s.Seq > 0 {
		w.State(&s)
	}
	return p, errors.Join(err, w.Close())
}

// Compare compares state.json and iterations/NNN.json with the journal. state.json may be older,
// since it is not written after every event; it must be the state after the event that it names.
func Compare(loopDir string) (Projections, error) {
	var p Projections
	saved, err := safefile.Read(filepath.Join(loopDir, loopstate.StateFile), loopstate.MaxState)
	if err != nil {
		return p, fmt.Errorf("check the projections: %w", err)
	}
	var head struct {
		Seq event.Seq `json:"seq"`
	}
	if err := json.Unmarshal(saved, &head); err != nil {
		p.Differ = append(p.Differ, "state.json is not JSON: "+err.Error())
		return p, nil
	}
	p.State = head.Seq
	var expected []byte
	_, err = p.refold(loopDir, func(s *loopstate.State, ended bool) {
		if s.Seq == head.Seq {
			expected = loopstate.Encode(s)
		}
		if ended { // one that ended after state.json was written may not be there yet
			p.compareIteration(loopDir, *s.Last, s.Seq > head.Seq)
		}
	})
	switch {
	case err != nil:
	case expected == nil:
		p.Differ = append(p.Differ, fmt.Sprintf("state.json is at event %d, and the journal ends with %d", p.State, p.Seq))
	case !bytes.Equal(saved, expected):
		p.Differ = append(p.Differ, jsonscan.Differences(loopstate.StateFile, saved, expected)...)
	}
	return p, err
}

// refold folds a journal from the first segment that it still has. each is called after every
// event; ended says that it ended an iteration, whose telemetry is the state's last.
func (p *Projections) refold(loopDir string, each func(s *loopstate.State, ended bool)) (loopstate.State, error) {
	var s loopstate.State
	for e, err := range journal.Read(loopDir, journal.ReadOptions{}) {
		if err != nil {
			return s, err
		}
		if err := s.Fold(e); err != nil {
			return s, err
		}
		ended := e.Type == event.TypeIterationEnded
		if p.Seq = s.Seq; ended {
			p.Iterations++
		}
		each(&s, ended)
	}
	return s, nil
}

func (p *Projections) compareIteration(loopDir string, want loopstate.Telemetry, mayLack bool) {
	name := filepath.Join(loopstate.IterationsDir, fmt.Sprintf("%03d.json", want.N))
	saved, err := safefile.Read(filepath.Join(loopDir, name), loopstate.MaxState)
	if errors.Is(err, os.ErrNotExist) && mayLack {
		return
	}
	expected, failed := json.Marshal(want)
	if err := errors.Join(err, failed); err != nil {
		p.Differ = append(p.Differ, name+": "+err.Error())
		return
	}
	p.Differ = append(p.Differ, jsonscan.Differences(name, saved, expected)...)
}
