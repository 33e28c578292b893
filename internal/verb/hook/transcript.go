package hook

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A transcript is an agent's own record of a session, with one JSON object in each line. Claude
// Code keeps them in ~/.claude/projects, Codex in ~/.codex/sessions. Their formats are not
// documented: what is read here was observed with Claude Code 2.1.329 and Codex 0.169.0, and a line
// that looks different is skipped.
type transcript struct {
	file *os.File
	size int64
}

var errNoTranscript = errors.New("the agent named no transcript")

// openTranscript opens a regular file; a link may lead to it. It never blocks.
func openTranscript(path string) (*transcript, error) {
	if path == "" {
		return nil, errNoTranscript
	}
	f, err := safefile.OpenLinked(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &transcript{f, info.Size()}, nil
}

func (t *transcript) Close() error { return t.file.Close() }

// tail returns the last bytes of the transcript, at most n, from the beginning of a line, and
// where in the file they begin.
func (t *transcript) tail(n int64) (data []byte, offset int64, err error) {
	offset = max(0, t.size-n)
	data = make([]byte, t.size-offset)
	read, err := t.file.ReadAt(data, offset)
	if err != nil && !errors.Is(err, io.EOF) { // it may have become shorter
		return nil, 0, err
	}
	data = data[:read]
	if offset > 0 { // the first line is cut
		cut := 1 + bytes.IndexByte(data, '\n')
		if cut == 0 {
			cut = len(data)
		}
		data, offset = data[cut:], offset+int64(cut)
	}
	return data, offset, nil
}

// longestLine is the longest line that is read, in bytes. Longer ones are a tool's answers.
const longestLine = 4 << 20

// backward yields the lines of data from the last to the first, with their offsets in data.
func backward(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for end := len(data); end > 0; {
			at := 1 + bytes.LastIndexByte(data[:end], '\n')
			if line := data[at:end]; len(line) > 0 && len(line) <= longestLine && !yield(at, line) {
				return
			}
			end = at - 1
		}
	}
}

// parsed reads a line if one of the words is in it. Most lines are not worth parsing.
func parsed(doc *jsonscan.Document, line []byte, words ...string) (jsonscan.Value, bool) {
	for _, word := range words {
		if bytes.Contains(line, []byte(word)) {
			v, err := doc.Read(line)
			return v, err == nil
		}
	}
	return jsonscan.Value{}, false
}
