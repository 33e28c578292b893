package agentstream

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// corpusBytes is enough that pieces of it do not repeat soon.
const corpusBytes = 4 << 20

// GoSource returns some megabytes of the Go toolchain's own source: there is one
// wherever a benchmark is run.
func GoSource() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of Go: %w", err)
	}
	var corpus strings.Builder
	root := filepath.Join(strings.TrimSpace(string(out)), "src", "cmd", "compile", "internal")
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		if corpus.Len() >= corpusBytes {
			return fs.SkipAll
		}
		text, err := os.ReadFile(path)
		corpus.Write(text)
		return err
	})
	if err == nil && corpus.Len() < corpusBytes/4 {
		err = fmt.Errorf("only %d bytes of source under %s", corpus.Len(), root)
	}
	return corpus.String(), err
}

// stream writes lines until there is as much as was asked for.
type stream struct {
	out     *bufio.Writer
	corpus  string
	dice    *rand.Rand
	line    []byte
	left    int64
	message int
	clock   int64 // milliseconds since the epoch
}

func newStream(w io.Writer, corpus string, size int64) *stream {
	return &stream{
		out: bufio.NewWriterSize(w, 1<<20), corpus: corpus, left: size,
		dice: rand.New(rand.NewPCG(1, 2)), clock: 1_795_225_332_861,
	}
}

// print writes a line. A "%q" in it is a string, as JSON, and "%r" JSON as it is.
func (s *stream) print(format string, args ...any) {
	s.line = s.line[:0]
	for format != "" {
		before, after, found := strings.Cut(format, "%")
		s.line = append(s.line, before...)
		if !found {
			break
		}
		switch after[0] {
		case 'q':
			s.line = jsonscan.AppendString(s.line, args[0].(string))
		default:
			s.line = fmt.Append(s.line, args[0])
		}
		format, args = after[1:], args[1:]
	}
	s.line = append(s.line, '\n')
	s.out.Write(s.line) // bufio keeps the error for Flush
	s.left -= int64(len(s.line))
	s.clock += 20
}

// piece returns about n bytes of the corpus.
func (s *stream) piece(n int) string {
	n = min(n, len(s.corpus)/2)
	from := s.dice.IntN(len(s.corpus) - n)
	to := from + n
	for from < to && !utf8.RuneStart(s.corpus[from]) {
		from++
	}
	for to > from && !utf8.RuneStart(s.corpus[to]) {
		to--
	}
	return s.corpus[from:to]
}

// skewed returns a length whose logarithm is normally distributed: many short, few
// very long.
func (s *stream) skewed(median, sigma float64, longest int) int {
	return min(longest, int(median*math.Exp(sigma*s.dice.NormFloat64())))
}

// id returns n hexadecimal digits.
func (s *stream) id(n int) string {
	const digits = "0123456789abcdef"
	text := make([]byte, n)
	for i := range text {
		text[i] = digits[s.dice.IntN(16)]
	}
	return string(text)
}

func (s *stream) uuid() string {
	return s.id(8) + "-" + s.id(4) + "-4" + s.id(3) + "-a" + s.id(3) + "-" + s.id(12)
}

// cuts returns the text in pieces as a model says it.
func (s *stream) cuts(text string) []string {
	var pieces []string
	for len(text) > 0 {
		n := min(len(text), 8+s.dice.IntN(40))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}
