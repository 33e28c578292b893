package cast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Recording is a complete recording.
type Recording struct {
	Header
	Events []Event
}

// Event is one event of a recording.
type Event struct {
	At   time.Duration // since the beginning
	Code Code
	Text string
}

// longest bounds the intervals and the length of a recording.
const longest = 10 * 365 * 24 * time.Hour

// Parse reads a recording. It accepts what the format allows and nothing else; an error names the
// line.
func Parse(data []byte) (r Recording, err error) {
	if !bytes.HasSuffix(data, []byte{'\n'}) {
		return r, fmt.Errorf("read the recording: its last line is not complete")
	}
	var at time.Duration
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte{'\n'}), []byte{'\n'}) {
		switch {
		case i == 0:
			r.Header, err = parseHeader(line)
		case len(line) == 0 || line[0] == '#':
			continue
		default:
			var e Event
			if e, err = parseEvent(line); err == nil {
				at += e.At
				e.At = at
				if at > longest {
					err = fmt.Errorf("longer than %v", longest)
				}
				r.Events = append(r.Events, e)
			}
		}
		if err != nil {
			return r, fmt.Errorf("read the recording: line %d: %w", i+1, err)
		}
	}
	return r, nil
}

func parseHeader(line []byte) (h Header, err error) {
	var head struct {
		Version int `json:"version"`
		Term    struct {
			Columns int `json:"cols"`
			Rows    int `json:"rows"`
		} `json:"term"`
		Timestamp int64  `json:"timestamp"`
		Command   string `json:"command"`
		Title     string `json:"title"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return h, err
	}
	if head.Version != 3 {
		return h, fmt.Errorf("version %d, want 3", head.Version)
	}
	if !validSize(head.Term.Columns) || !validSize(head.Term.Rows) {
		return h, fmt.Errorf("%d columns and %d rows are no size", head.Term.Columns, head.Term.Rows)
	}
	h = Header{Columns: head.Term.Columns, Rows: head.Term.Rows, Command: head.Command, Title: head.Title}
	if head.Timestamp != 0 {
		h.At = time.Unix(head.Timestamp, 0).UTC()
	}
	return h, nil
}

// parseEvent returns an event whose At is its interval.
func parseEvent(line []byte) (e Event, err error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return e, err
	}
	if len(parts) != 3 {
		return e, fmt.Errorf("%d parts, want 3", len(parts))
	}
	var seconds float64
	for i, to := range []any{&seconds, &e.Code, &e.Text} {
		if err := json.Unmarshal(parts[i], to); err != nil {
			return e, err
		}
	}
	if seconds < 0 || seconds > longest.Seconds() {
		return e, fmt.Errorf("interval %v", seconds)
	}
	e.At = time.Duration(math.Round(seconds*1e6)) * time.Microsecond
	return e, e.check()
}

func (e Event) check() error {
	switch e.Code {
	case "":
		return fmt.Errorf("no code")
	case CodeResize:
		columns, rows, _ := strings.Cut(e.Text, "x")
		c, _ := strconv.Atoi(columns)
		r, _ := strconv.Atoi(rows)
		if !validSize(c) || !validSize(r) {
			return fmt.Errorf("%q is no size", e.Text)
		}
	case CodeExit:
		if _, err := strconv.Atoi(e.Text); err != nil {
			return fmt.Errorf("%q is no exit code", e.Text)
		}
	}
	return nil
}

func validSize(n int) bool { return n > 0 && n <= math.MaxUint16 }
