package reading

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/render"
)

// Change is what a loop changed in one file.
type Change struct {
	Path       string // from the root of the repository, with slashes
	Added      int    // lines
	Removed    int
	Binary     bool // its lines are not known
	Made       bool // the file is new
	Deleted    bool
	Executable bool // it can be run now, and could not before

	Lines []string // the first lines that were added or removed, each after its + or -
	Diff  string   // the beginning of the difference, clean

	header string // names the contents before and after
}

// Options are those of git diff for a patch that [Parse] reads: they do not depend on the settings
// of a person.
var Options = []string{
	"--patch", "--full-index", "--no-renames", "--no-color", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers",
	"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--line-prefix=", "--ws-error-highlight=none",
}

// Bounds of what is kept of one file.
const (
	linesKept = 2000
	diffKept  = 32 << 10
	lineKept  = 400 // bytes of one line
)

// Parse reads a patch of git.
func Parse(patch []byte) []Change {
	var p parser
	for line := range strings.Lines(string(patch)) {
		p.add(strings.TrimSuffix(line, "\n"))
	}
	p.end()
	return p.all
}

// parser reads a patch line by line. A line of a hunk is counted, so that a file with a patch in it
// is no other file.
type parser struct {
	all            []Change
	open           *Change
	header, diff   strings.Builder
	before, after  int // lines of the hunk that are still to come
	modeWas, modes string
}

func (p *parser) add(line string) {
	switch {
	case p.before > 0 || p.after > 0:
		p.ofHunk(line)
	case strings.HasPrefix(line, "diff --git "):
		p.end()
		p.open = &Change{Path: pathOf(strings.TrimPrefix(line, "diff --git "))}
		p.header.WriteString(line + "\n")
	case p.open == nil:
	case strings.HasPrefix(line, "@@ "):
		p.before, p.after = sizes(line)
		p.show(line)
	case strings.HasPrefix(line, `\`): // no newline at the end of the file
		p.show(line)
	default:
		p.ofHeader(line)
	}
}

func (p *parser) ofHeader(line string) {
	p.header.WriteString(line + "\n")
	c := p.open
	switch {
	case strings.HasPrefix(line, "new file mode "):
		c.Made = true
		c.Executable = strings.HasSuffix(line, "755")
	case strings.HasPrefix(line, "deleted file mode "):
		c.Deleted = true
	case strings.HasPrefix(line, "new mode "):
		c.Executable = strings.HasSuffix(line, "755")
		p.show(line)
	case strings.HasPrefix(line, "old mode "):
		p.show(line)
	case strings.HasPrefix(line, "Binary files "):
		c.Binary = true
		p.show("a binary file")
	}
}

func (p *parser) ofHunk(line string) {
	c := p.open
	sign := byte(' ')
	if line != "" {
		sign = line[0]
	}
	switch sign {
	case '+':
		p.after--
		c.Added++
	case '-':
		p.before--
		c.Removed++
	case '\\':
	default:
		p.before--
		p.after--
	}
	if (sign == '+' || sign == '-') && len(c.Lines) < linesKept {
		c.Lines = append(c.Lines, bounded(line))
	}
	p.show(line)
}

// show adds a line to what a person sees.
func (p *parser) show(line string) {
	if p.diff.Len() < diffKept {
		p.diff.Write(render.CleanText(bounded(line)))
		p.diff.WriteByte('\n')
	}
}

func (p *parser) end() {
	if c := p.open; c != nil {
		c.Diff, c.header = strings.TrimSuffix(p.diff.String(), "\n"), p.header.String()
		if p.diff.Len() >= diffKept {
			c.Diff += "\n…"
		}
		p.all = append(p.all, *c)
	}
	*p = parser{all: p.all}
}

func bounded(line string) string {
	if len(line) > lineKept {
		return strings.ToValidUTF8(line[:lineKept], "") + "…"
	}
	return line
}

// pathOf returns the path in "a/PATH b/PATH", where both are the same. git quotes a path with other
// than printable characters.
func pathOf(both string) string {
	if strings.HasPrefix(both, `"`) {
		if half, err := strconv.QuotedPrefix(both); err == nil {
			if path, err := strconv.Unquote(half); err == nil {
				return strings.TrimPrefix(path, "a/")
			}
		}
	}
	return strings.TrimPrefix(both[:len(both)/2], "a/")
}

// sizes returns how many lines a hunk has of the file before and after.
func sizes(head string) (before, after int) {
	words := strings.Fields(head)
	if len(words) < 3 {
		return 0, 0
	}
	return size(words[1]), size(words[2])
}

// size reads the length in "-12,3", which is 1 where it is left out.
func size(word string) int {
	_, length, given := strings.Cut(word, ",")
	if !given {
		return 1
	}
	n, _ := strconv.Atoi(length) // 0 of what git does not write
	return n
}

// digest names a content.
func digest(parts ...any) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%v\x00", part)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:idLength]
}

// idLength is how many hexadecimal digits an id has.
const idLength = 16
