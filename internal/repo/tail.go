package repo

import (
	"bytes"
	"strings"
)

const (
	maxTail = 16 << 10 // bytes of output that an error carries
	maxLine = 4 << 10  // bytes after which a line is logged in pieces
)

// A tail keeps the end of what is written to it and hands on each line. Both streams of a process write to the same one, which
// os/exec does one after the other.
type tail struct {
	log  func(line string)
	kept []byte
	part []byte // of a line that is not complete
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*maxTail {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-maxTail:]...)
	}
	if t.log == nil {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		t.part, rest = append(t.part, line...), after
		for len(t.part) > maxLine {
			t.log(string(t.part[:maxLine]))
			t.part = append(t.part[:0], t.part[maxLine:]...)
		}
		if whole {
			t.flush(true)
		}
	}
	return len(p), nil
}

// flush hands on what is there of a line.
func (t *tail) flush(whole bool) {
	if t.log != nil && (whole || len(t.part) > 0) {
		t.log(strings.ToValidUTF8(strings.TrimSuffix(string(t.part), "\r"), "\ufffd"))
	}
	t.part = t.part[:0]
}

// String returns at most maxTail bytes and begins with a whole line, where there is one.
func (t *tail) String() string {
	kept := t.kept
	if len(kept) > maxTail {
		kept = kept[len(kept)-maxTail:]
		if i := bytes.IndexByte(kept, '\n'); i >= 0 {
			kept = kept[i+1:]
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(kept), "\ufffd"))
}
