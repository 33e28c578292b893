package agent

import (
	"github.com/ralph-loop/ralph/internal/ground/redact"
)

// tailBytes is how much of an agent's standard error agent.exited holds.
const tailBytes = 64 << 10

// tail is the end of a text, masked as part of the complete text: it may begin within a secret.
type tail struct {
	stream *redact.Stream
	text   []byte
}

// write adds text.
func (t *tail) write(secrets *redact.Redactor, text []byte) {
	if secrets != nil {
		if t.stream == nil {
			t.stream = secrets.Stream()
		}
		text = t.stream.Write(text)
	}
	if t.text = append(t.text, text...); len(t.text) > 2*tailBytes {
		t.text = append(t.text[:0], t.text[len(t.text)-tailBytes:]...)
	}
}

// end returns the last of it.
func (t *tail) end() string {
	if t.stream != nil {
		t.text = append(t.text, t.stream.Flush()...)
	}
	return string(t.text[max(0, len(t.text)-tailBytes):])
}
