package attach

import (
	"bytes"
	"io"
)

// history buffers the rendered past until it is known how many lines of it fit on the screen.
type history struct {
	io.Writer // past, later to

	to   io.Writer
	past bytes.Buffer
}

func newHistory(to io.Writer) *history {
	h := &history{to: to}
	h.Writer = &h.past
	return h
}

// open writes the last lines of the past, and passes on what is written from now on.
func (h *history) open(lines int) error {
	text := h.past.Bytes()
	from := len(text)
	for range lines + 1 {
		if from = bytes.LastIndexByte(text[:max(from, 0)], '\n'); from < 0 {
			break
		}
	}
	_, err := h.to.Write(text[from+1:])
	h.Writer, h.past = h.to, bytes.Buffer{}
	return err
}
