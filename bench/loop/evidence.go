package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Types of entries of a trial's own journal.
const (
	trialStarted  = "trial.started"  // Trial
	loopStarted   = "loop.started"   // Person: a person started it again
	loopExited    = "loop.exited"    // Code, with 0 for a done
	modelAsked    = "model.asked"    // N, Fault
	modelAnswered = "model.answered" // N, In, Out, Claim
	killed        = "killed"         // Fault, N: how many processes
	judged        = "judged"         // Verdict
	trialEnded    = "trial.ended"    // Why
)

// An entry is one line of a trial's journal. Everything that a figure needs is in such lines and,
// for the arms that are ralph, in ralph's journal of the loop.
type entry struct {
	MS      int64    `json:"ms"` // since the start of the arm's command
	Type    string   `json:"type"`
	Trial   *trial   `json:"trial,omitempty"`
	Person  bool     `json:"person,omitempty"`
	Code    *int     `json:"code,omitempty"`
	N       int      `json:"n,omitempty"`
	Fault   string   `json:"fault,omitempty"`
	In      int      `json:"in,omitempty"`
	Out     int      `json:"out,omitempty"`
	Claim   bool     `json:"claim,omitempty"`
	Verdict *verdict `json:"verdict,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// A trialLog writes the journal of one trial. Its methods may be called from several goroutines.
type trialLog struct {
	mu    sync.Mutex
	file  *os.File
	start time.Time
	over  bool // the last line was written: what a process that is being ended still asks is left out
}

func (l *trialLog) add(e entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	l.over = e.Type == trialEnded
	e.MS = time.Since(l.start).Milliseconds()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

// readEntries reads the journal of a trial. A line that is not one is an error.
func readEntries(from io.Reader) ([]entry, error) {
	var all []entry
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var e entry
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+1, err)
		}
		all = append(all, e)
	}
	return all, lines.Err()
}
