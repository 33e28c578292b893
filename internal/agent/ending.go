package agent

import (
	"github.com/ralph-loop/ralph/internal/secret"
)

// endingBytes is how much of what an agent prints to its standard error is told when it exits.
const endingBytes = 64 << 10

// ending is the end of a text, masked as a part of the whole: its own beginning may be in the middle of a secret.
type ending struct {
	stream *secret.Stream
	text   []byte
}

// write takes a line, or the part of one that has come.
func (e *ending) write(secrets *secret.Masker, line []byte, whole bool) {
	add := func(text []byte) {
		if e.text = append(e.text, text...); len(e.text) > 2*endingBytes {
			e.text = append(e.text[:0], e.text[len(e.text)-endingBytes:]...)
		}
	}
	if secrets == nil {
		add(line)
		if whole {
			add([]byte{'\n'})
		}
		return
	}
	if e.stream == nil {
		e.stream = secrets.Stream()
	}
	add(e.stream.Write(line))
	if whole {
		add(e.stream.Write([]byte{'\n'}))
	}
}

// end returns the last of it.
func (e *ending) end() string {
	if e.stream != nil {
		e.text = append(e.text, e.stream.Flush()...)
	}
	return string(e.text[max(0, len(e.text)-endingBytes):])
}
