package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Summary is the first line of state.json: what a list of loops shows.
type Summary struct {
	Seq    event.Seq    `json:"seq"` // of the last event in it
	Status event.Status `json:"status"`
	Reason string       `json:"reason"` // why the loop ended, else ""
	// how well the done of a loop that completed is supported; empty where that is not known
	Strength          event.Grade `json:"strength,omitempty"`
	Iteration         int         `json:"iteration"`         // from 1; 0 before the first
	MaximumIterations int         `json:"maximumIterations"` // 0: no limit
	Since             time.Time   `json:"since"`             // when the loop started
	At                time.Time   `json:"at"`                // of the event Seq
	Cost              *float64    `json:"cost"`              // USD; null if it is unknown
	TokensIn          *int64      `json:"tokensIn"`          // null if not all are known
	TokensOut         *int64      `json:"tokensOut"`
	Agent             string      `json:"agent"`
	Waiting           string      `json:"waiting"` // for what and until when, else ""
	// a pause or stop that is still to come
	Pending string `json:"pending,omitempty"`
	// of the iterations: the others are used
	Refunded int `json:"refunded,omitempty"`
	// of a loop that works on the stories of a plan: how many there are, and how many are done
	Stories     int `json:"storiesTotal,omitempty"`
	StoriesDone int `json:"storiesDone,omitempty"`
	// questions of the agent that have no answer
	Questions int `json:"openQuestions,omitempty"`
	// the number of the one that the loop waits for; 0 if it waits for none
	Awaited int `json:"awaitedQuestion,omitempty"`
	// the host of the pool that has the loop now, if that is not this one
	ContinuesOn string `json:"continuesOn,omitempty"`
}

// stateFile is the name of the projection in a loop's folder that begins with the Summary.
const stateFile = "state.json"

const (
	// maxSummary is how much of a state.json is read for its first line, in bytes.
	maxSummary = 4 << 10
	// maxState bounds a state.json whose first line is not a Summary, such as a reformatted one.
	maxState = 8 << 20
)

// readSummary reads the summary of a loop. Its status is event.StatusUnknown where state.json
// cannot be read. found is false if there is no such file.
func readSummary(path string) (s Summary, found bool) {
	unknown := Summary{Status: event.StatusUnknown}
	f, err := safefile.Open(path)
	if err != nil {
		return unknown, !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	// Only the first line is decoded: the rest is a hundred times as long, and a list of 1,000
	// loops would take a second for it.
	start := make([]byte, maxSummary)
	n, err := f.Read(start)
	if err != nil {
		return unknown, true
	}
	if line, _, ok := bytes.Cut(start[:n], []byte{'\n'}); ok && json.Unmarshal(append(line, '}'), &s) == nil && s.Status != "" {
		return s, true
	}
	all, err := safefile.Read(path, maxState)
	if s = (Summary{}); err != nil || json.Unmarshal(all, &s) != nil || s.Status == "" {
		return unknown, true
	}
	return s, true
}
