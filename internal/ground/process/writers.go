package process

import (
	"bytes"
	"errors"
	"strings"
)

// ErrFull is the error of a Head that was given more than its size.
var ErrFull = errors.New("more was printed than is kept")

// Head keeps the first bytes that are written to it.
type Head struct {
	Max int
	// Fail makes a write beyond the size fail with ErrFull. Otherwise the rest is dropped.
	Fail bool
	Over bool // more was written
	kept []byte
}

func (h *Head) Write(p []byte) (int, error) {
	space := h.Max - len(h.kept)
	h.kept = append(h.kept, p[:min(len(p), space)]...)
	if len(p) > space {
		h.Over = true
		if h.Fail {
			return space, ErrFull
		}
	}
	return len(p), nil
}

// Bytes returns what is kept.
func (h *Head) Bytes() []byte { return h.kept }

// Tail keeps the last bytes that are written to it, Max at most.
type Tail struct {
	Max  int
	kept []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*t.Max {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.Max:]...)
	}
	return len(p), nil
}

// String returns what is kept as valid UTF-8, from the beginning of a line where there is one.
func (t *Tail) String() string {
	kept := t.kept
	if len(kept) > t.Max {
		kept = kept[len(kept)-t.Max:]
		if i := bytes.IndexByte(kept, '\n'); i >= 0 {
			kept = kept[i+1:]
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(kept), "\ufffd"))
}
