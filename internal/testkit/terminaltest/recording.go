package terminaltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Recorded is an event of a recording in the format asciicast v3.
type Recorded struct {
	At   time.Duration // since the beginning
	Code string        // "o" is output, "m" a marker, "r" a size, "x" an exit code
	Text string
}

// ReadRecording returns the first line of a recording, and its events.
func ReadRecording(data []byte) (head string, events []Recorded, err error) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var at time.Duration
	for line := range bytes.Lines(rest) {
		var e Recorded
		var seconds float64
		parts := []any{&seconds, &e.Code, &e.Text}
		if err := json.Unmarshal(line, &parts); err != nil {
			return "", nil, fmt.Errorf("an event of a recording: %q: %w", line, err)
		}
		if len(parts) != 3 || seconds < 0 || !bytes.HasSuffix(line, []byte("\n")) {
			return "", nil, fmt.Errorf("%q is no event of a recording", line)
		}
		at += time.Duration(math.Round(seconds*1e6)) * time.Microsecond
		e.At = at
		events = append(events, e)
	}
	return string(first), events, nil
}
