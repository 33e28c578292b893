package process

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// feed pushes data through a splitter in reads of at most step bytes and returns copies of what
// comes out.
func feed(data []byte, step, buffer, maxLine int, raw bool) []Chunk {
	var got []Chunk
	s := newSplitter(Stdout, buffer, maxLine, raw, func(c Chunk) {
		lines := make([][]byte, len(c.Lines))
		for i := range c.Lines {
			lines[i] = bytes.Clone(c.Lines[i])
		}
		c.Lines = lines
		got = append(got, c)
	})
	for len(data) > 0 {
		n := copy(s.space(), data[:min(step, len(data))])
		data = data[n:]
		s.advance(n)
	}
	s.end()
	return got
}

// join puts the pieces together again as Chunk's documentation says; terminated reports whether the
// last line had a newline.
func join(chunks []Chunk) (lines []string, problem string) {
	open := false
	for i, c := range chunks {
		if c.Continued != open {
			return lines, fmt.Sprintf("chunk %d: Continued is %v after Partial %v", i, c.Continued, open)
		}
		if c.End != (i == len(chunks)-1) {
			return lines, fmt.Sprintf("chunk %d of %d: End is %v", i, len(chunks), c.End)
		}
		for k, line := range c.Lines {
			if k == 0 && c.Continued {
				lines[len(lines)-1] += string(line)
			} else {
				lines = append(lines, string(line))
			}
		}
		open = c.Partial
	}
	return lines, ""
}

func wantLines(data []byte) []string {
	lines := strings.Split(string(data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestSplitter(t *testing.T) {
	long := strings.Repeat("l", 300)
	for name, data := range map[string]string{
		"nothing":                             "",
		"one newline":                         "\n",
		"many newlines":                       strings.Repeat("\n", 3*maxBatch),
		"a line without end":                  "half",
		"lines of many lengths":               "a\nbb\n\n" + long + "\nc",
		"a line as long as the longest":       strings.Repeat("m", 64) + "\n" + strings.Repeat("m", 64),
		"a line one longer than the longest":  strings.Repeat("m", 65) + "\nx",
		"a line twice as long as the longest": strings.Repeat("m", 128) + "\nx\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{1, 7, 64, 1 << 20} {
				for _, raw := range []bool{false, true} {
					chunks := feed([]byte(data), step, 16, 64, raw)
					got, problem := join(chunks)
					if problem != "" || !slices.Equal(got, wantLines([]byte(data))) {
						t.Errorf("step %d, raw %v: %s; got %q", step, raw, problem, got)
					}
					for _, c := range chunks {
						if !raw && c.Partial && len(c.Lines[len(c.Lines)-1]) != 64 {
							t.Errorf("step %d: a piece of %d bytes, want the longest line", step, len(c.Lines[len(c.Lines)-1]))
						}
						if len(c.Lines) > maxBatch {
							t.Errorf("a chunk with %d lines", len(c.Lines))
						}
					}
				}
			}
		})
	}
}

func TestSplitterReleasesLargeBuffer(t *testing.T) {
	s := newSplitter(Stdout, 1<<10, 1<<20, false, func(Chunk) {})
	put := func(text string) {
		for data := []byte(text); len(data) > 0; {
			n := copy(s.space(), data)
			data = data[n:]
			s.advance(n)
		}
	}
	put(strings.Repeat("x", 500_000))
	if len(s.buf) < 500_000 {
		t.Fatalf("the buffer has %d bytes", len(s.buf))
	}
	put("\n")
	if len(s.buf) != 1<<10 {
		t.Errorf("the buffer still has %d bytes", len(s.buf))
	}
}

func TestSplitterAllocatesNothingPerLine(t *testing.T) {
	block := bytes.Repeat([]byte(strings.Repeat("x", 200)+"\n"), 1000)
	lines := 0
	s := newSplitter(Stdout, stdoutBuffer, defaultMaxLine, false, func(c Chunk) { lines += len(c.Lines) })
	allocations := testing.AllocsPerRun(50, func() {
		for data := block; len(data) > 0; {
			n := copy(s.space(), data)
			data = data[n:]
			s.advance(n)
		}
	})
	if allocations > 0 || lines < 50_000 {
		t.Errorf("%v allocations for a thousand lines (%d seen)", allocations, lines)
	}
}

func TestWriters(t *testing.T) {
	for _, step := range []int{1, 3, 10, 25, 1000} {
		head, tail := &Head{Max: 10}, &Tail{Max: 10}
		var all strings.Builder
		for i := range 100 {
			part := strings.Repeat(string(rune('a'+i%26)), step)
			all.WriteString(part)
			_, _ = head.Write([]byte(part))
			_, _ = tail.Write([]byte(part))
			text := all.String()
			if want := text[:min(len(text), 10)]; string(head.Bytes()) != want || head.Over != (len(text) > 10) {
				t.Fatalf("step %d: the head is %q, %v", step, head.Bytes(), head.Over)
			}
			if want := text[max(0, len(text)-10):]; tail.String() != want {
				t.Fatalf("step %d: the tail is %q, want %q", step, tail, want)
			}
		}
		if len(tail.kept) > 20 {
			t.Errorf("step %d: %d bytes are kept", step, len(tail.kept))
		}
	}
	tail := &Tail{Max: 10}
	_, _ = tail.Write([]byte("a first line\nlast\xff\n"))
	if got := tail.String(); got != "last\ufffd" {
		t.Errorf("the tail is %q", got)
	}
	if n, err := (&Head{Max: 2, Fail: true}).Write([]byte("abc")); n != 2 || !errors.Is(err, ErrFull) {
		t.Errorf("%d, %v", n, err)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("one\ntwo\nthree"), uint8(1), uint8(20), false)
	f.Add([]byte("\n\n\xff\xfe\x00\r\n"), uint8(3), uint8(1), true)
	f.Add(bytes.Repeat([]byte("long "), 100), uint8(200), uint8(64), false)
	f.Fuzz(func(t *testing.T, data []byte, step, maxLine uint8, raw bool) {
		got, problem := join(feed(data, int(step)+1, 8, int(maxLine)+1, raw))
		if problem != "" || !slices.Equal(got, wantLines(data)) {
			t.Errorf("%s; got %q from %q", problem, got, data)
		}
	})
}
