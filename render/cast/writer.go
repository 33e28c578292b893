package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// Header describes a recording.
type Header struct {
	Columns, Rows int
	Title         string    // empty is left out
	Command       string    // what was recorded; empty is left out
	At            time.Time // of the recording; zero is left out
}

// Code says what an event of a recording is.
type Code string

// The codes of asciicast v3 that ralph writes.
const (
	CodeOutput Code = "o" // written to the terminal
	CodeMarker Code = "m" // a place that the player can go to, with its label
	CodeResize Code = "r" // the terminal has this size: 80x24
	CodeExit   Code = "x" // the program ended, with its exit code
)

// Writer writes a recording. It belongs to one goroutine. Moments are given as the time since the
// beginning of the recording; one before the last counts as the last. The first error of the
// underlying writer is returned by Close.
type Writer struct {
	w    *bufio.Writer
	last time.Duration // of the last event, as far as it is written
	rest string        // the beginning of a character that the next output completes
}

// NewWriter writes the header and returns the writer for what follows.
func NewWriter(w io.Writer, h Header) *Writer {
	type size struct {
		Columns int `json:"cols"`
		Rows    int `json:"rows"`
	}
	head := struct {
		Version   int    `json:"version"`
		Term      size   `json:"term"`
		Timestamp int64  `json:"timestamp,omitempty"`
		Command   string `json:"command,omitempty"`
		Title     string `json:"title,omitempty"`
	}{Version: 3, Term: size{h.Columns, h.Rows}, Command: h.Command, Title: h.Title}
	if !h.At.IsZero() {
		head.Timestamp = h.At.Unix()
	}
	c := &Writer{w: bufio.NewWriterSize(w, 64<<10)}
	_, _ = c.w.Write(append(encoded(head), '\n')) // Close returns its error
	return c
}

// Output records what the program wrote. A character may be cut between two outputs.
func (c *Writer) Output(at time.Duration, text string) {
	text, c.rest = whole(c.rest + text)
	if text != "" {
		c.event(at, CodeOutput, text)
	}
}

// Marker records a place that the player can go to.
func (c *Writer) Marker(at time.Duration, label string) { c.event(at, CodeMarker, label) }

// Resize records another size of the terminal.
func (c *Writer) Resize(at time.Duration, columns, rows int) {
	c.event(at, CodeResize, fmt.Sprintf("%dx%d", columns, rows))
}

// Exit records the end of the program.
func (c *Writer) Exit(at time.Duration, code int) { c.event(at, CodeExit, strconv.Itoa(code)) }

// Close writes what is held back. The underlying writer is not closed.
func (c *Writer) Close() error {
	if c.rest != "" {
		text := c.rest
		c.rest = ""
		c.event(c.last, CodeOutput, text)
	}
	if err := c.w.Flush(); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

func (c *Writer) event(at time.Duration, code Code, text string) {
	interval := max(at-c.last, 0).Round(time.Millisecond)
	c.last += interval
	line := strconv.AppendFloat([]byte{'['}, interval.Seconds(), 'f', 3, 64)
	line = append(append(line, `, "`...), code...)
	line = append(append(line, `", `...), encoded(text)...)
	_, _ = c.w.Write(append(line, "]\n"...)) // Close returns its error
}

// encoded returns v as JSON. It must be of a type that can be encoded.
func encoded(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// whole cuts an incomplete character off the end of a text.
func whole(text string) (complete, rest string) {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if !utf8.RuneStart(text[i]) {
			continue
		}
		if !utf8.FullRuneInString(text[i:]) {
			return text[:i], text[i:]
		}
		break
	}
	return text, ""
}
