package gaming

import (
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	// longestLine is how many bytes of a line are read, longestBlock how many lines of a block.
	longestLine  = 4000
	longestBlock = 1000
)

// A source is a file as the rules read it.
type source struct {
	path, ext string
	class     fileclass.Class
	text      string
	lines     []line
	inFile    int // the first line of the tests in a file of the program
	helpers   map[string]*helper
}

// A line is without its comment.
type line struct {
	code   string // with its strings
	bare   string // what strings contain is replaced by spaces
	indent int    // -1 if there is no code
}

func newSource(name, text string, class fileclass.Class) *source {
	s := &source{path: name, ext: strings.ToLower(path.Ext(name)), class: class, text: text}
	if s.ext == "" && strings.HasPrefix(text, "#!") {
		first, _, _ := strings.Cut(text, "\n")
		switch {
		case strings.Contains(first, "python"):
			s.ext = ".py"
		case strings.Contains(first, "node"):
			s.ext = ".js"
		default:
			s.ext = ".sh"
		}
	}
	s.lines = scan(text, s.ext)
	s.inFile = strings.Count(text[:fileclass.TestsBegin(name, []byte(text))], "\n")
	if class != fileclass.Program || s.inFile == strings.Count(text, "\n") {
		s.inFile = len(s.lines)
	}
	return s
}

// isTest reports whether a line of the file is part of a test.
func (s *source) isTest(at int) bool { return s.class == fileclass.Test || at >= s.inFile }

// isProgram reports whether a line of the file is part of the program.
func (s *source) isProgram(at int) bool { return s.class == fileclass.Program && at < s.inFile }

// next returns the first line after at that has code, or len(s.lines).
func (s *source) next(at int) int {
	for at++; at < len(s.lines) && s.lines[at].indent < 0; at++ {
	}
	return at
}

// back returns the first line before at for which is holds, and that is less indented if inner is
// set; 0 if there is none.
func (s *source) back(at int, inner bool, is func(line) bool) int {
	i := at
	for i--; i > 0; i-- {
		if l := s.lines[i]; l.indent >= 0 && (!inner || l.indent < s.lines[at].indent) && is(l) {
			return i
		}
	}
	return 0
}

// block returns the lines after the one that a block begins on.
func (s *source) block(at int) []line { return s.lines[at+1 : max(at+1, s.blockEnd(at))] }

// atTop reports whether a line is in no block.
func atTop(l line) bool { return l.indent == 0 }

// blockEnd returns the line after the last one that is more indented than the line at, where a
// block begins. A line that closes the brackets of a long header does not end it.
func (s *source) blockEnd(at int) int {
	end := at + 1
	for i := at + 1; i < min(len(s.lines), at+longestBlock); i++ {
		l := s.lines[i]
		if l.indent < 0 {
			continue
		}
		if l.indent <= s.lines[at].indent && !(strings.HasPrefix(strings.TrimSpace(l.code), ")") && strings.ContainsAny(l.bare, "{:")) {
			break
		}
		end = i + 1
	}
	return end
}

var hashComments = map[string]bool{
	".py": true, ".pyi": true, ".sh": true, ".bash": true, ".zsh": true, ".bats": true, ".rb": true, ".ex": true, ".exs": true, ".pl": true,
	".pm": true, ".t": true,
	".r": true, ".jl": true, ".yml": true, ".yaml": true, ".toml": true, ".ini": true, ".cfg": true, ".mk": true, "": true, ".awk": true, ".nim": true,
	".coveragerc": true,
}

// charOrLifetime is a character, not the lifetime of Rust or a digit separator.
var charOrLifetime = units.Pattern(`^'(?:\\.[^']{0,8}|[^'\\])'`)

// A scanner goes through the lines of a file.
type scanner struct {
	hash, python, template, quoted bool
	open                           string // the end of a comment or string that goes on
	comment                        bool   // which it is
}

// scan splits a text into lines without comments. It knows no language in full: a string that is
// misread ends with its line.
func scan(text, ext string) []line {
	sc := scanner{hash: hashComments[ext], python: ext == ".py" || ext == ".pyi"}
	switch ext {
	case ".go", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		sc.template = true
	}
	sc.quoted = sc.hash || ext == ".php" || ext == ".dart" || sc.template && ext != ".go"
	var lines []line
	for text := range strings.Lines(text) {
		text = strings.TrimRight(text, "\r\n")
		lines = append(lines, sc.line(text[:min(len(text), longestLine)]))
	}
	return lines
}

func (sc *scanner) line(text string) line {
	code, bare := []byte(text), []byte(text)
	blank := func(b []byte, from, to int) {
		for i := from; i < to; i++ {
			if b[i] != '\t' {
				b[i] = ' '
			}
		}
	}
	i := 0
	for i < len(text) {
		if sc.open != "" {
			end := strings.Index(text[i:], sc.open)
			stop := len(text)
			if end >= 0 {
				stop = i + end
			}
			blank(bare, i, stop)
			if sc.comment {
				blank(code, i, min(stop+len(sc.open), len(text)))
				blank(bare, i, min(stop+len(sc.open), len(text)))
			}
			if end < 0 {
				break
			}
			i, sc.open = stop+len(sc.open), ""
			continue
		}
		rest := text[i:]
		switch {
		case sc.startsComment(rest, i, text):
			blank(code, i, len(text))
			blank(bare, i, len(text))
			i = len(text)
		case !sc.hash && strings.HasPrefix(rest, "/*"):
			sc.open, sc.comment = "*/", true
			blank(code, i, i+2)
			blank(bare, i, i+2)
			i += 2
		case sc.python && (strings.HasPrefix(rest, `"""`) || strings.HasPrefix(rest, "'''")):
			// A text without code before it is documentation.
			sc.open, sc.comment = rest[:3], strings.TrimSpace(text[:i]) == ""
			if sc.comment {
				blank(code, i, i+3)
				blank(bare, i, i+3)
			}
			i += 3
		case sc.template && rest[0] == '`':
			sc.open, sc.comment = "`", false
			i++
		case rest[0] == '"' || rest[0] == '\'' && sc.quoted:
			end := endOfString(rest)
			blank(bare, i+1, i+end)
			i += end + 1
		case rest[0] == '\'':
			if char := charOrLifetime().FindString(rest); char != "" {
				blank(bare, i+1, i+len(char)-1)
				i += len(char)
			} else {
				i++
			}
		case rest[0] == '\\':
			i += 2
		default:
			i++
		}
	}
	l := line{code: strings.TrimRight(string(code), " \t"), bare: strings.TrimRight(string(bare), " \t"), indent: -1}
	if strings.TrimSpace(l.code) != "" {
		l.indent = indentOf(l.code)
	}
	return l
}

// startsComment reports whether the rest of a line is a comment. In a shell a # in a word is none.
func (sc *scanner) startsComment(rest string, at int, text string) bool {
	if sc.hash {
		return rest[0] == '#' && (at == 0 || text[at-1] == ' ' || text[at-1] == '\t' || text[at-1] == ';' || sc.python)
	}
	return strings.HasPrefix(rest, "//") && (at == 0 || text[at-1] != ':')
}

// endOfString returns where the string that text begins with ends: at its quote, or at the end.
func endOfString(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i
		}
	}
	return len(text) - 1
}

func indentOf(code string) int {
	columns := 0
	for _, c := range code {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4
		default:
			return columns
		}
	}
	return columns
}

// brief is a line of code as a person reads it in a fact.
func brief(code string) string { return fmt.Sprintf("%.120s", strings.TrimSpace(code)) }

// normal is a line of code without its white space.
func normal(code string) string { return strings.Join(strings.Fields(code), "") }

var word = units.Pattern(`[A-Za-z_]\w*`)

// wordsIn are the words of lines, without those of their texts.
func wordsIn(lines []line) map[string]bool {
	words := map[string]bool{}
	for _, l := range lines {
		wordsOf(l.bare, words)
	}
	return words
}

// meets reports whether two sets have something in common.
func meets(a, b map[string]bool) bool {
	for v := range a {
		if b[v] {
			return true
		}
	}
	return false
}

// wordsOf adds the words of the code to a set.
func wordsOf(code string, to map[string]bool) {
	for _, w := range word().FindAllString(code, -1) {
		to[w] = true
	}
}

var definition = units.Pattern(`\b(?:func(?: \([^)]*\))?|def|class|function\*?|fn|type|interface|struct|enum|trait|const|fun|object|module|defmodule|defp)\s+([A-Za-z_]\w*)|` +
	`^\s*(?:export )?(?:let|var|val|static) ([A-Za-z_]\w*)|^([A-Za-z_][\w-]*)\s*\(\)\s*\{|` +
	`^\s*(?:(?:public|private|protected|static|async|final|override|virtual|internal|get|set)\s+)+(?:[\w<>\[\],.?]+\s+)?([A-Za-z_]\w*)\s*\(|^([A-Z_][A-Z_0-9]+)\s*=`)

// definedNames returns what the program defines.
func definedNames(files []*source) map[string]bool {
	names := map[string]bool{}
	for _, s := range files {
		for i, l := range s.lines {
			if !s.isProgram(i) || l.indent < 0 {
				continue
			}
			for _, m := range definition().FindAllStringSubmatch(l.bare, -1) {
				for _, name := range m[1:] {
					if len(name) > 2 {
						names[name] = true
					}
				}
			}
		}
	}
	return names
}

// removedNames returns what the program defined at the start, or had as a text, and does not
// mention any more.
func removedNames(start, claimed []*source) map[string]bool {
	still := map[string]bool{}
	for _, s := range claimed {
		for i, l := range s.lines {
			if s.isProgram(i) {
				wordsOf(l.code, still)
			}
		}
	}
	names := definedNames(start)
	for _, s := range start {
		for i, l := range s.lines {
			if !s.isProgram(i) {
				continue
			}
			for _, v := range literals(l.code) {
				if v = strings.Trim(v, "-./: "); len(v) > 2 && word().FindString(v) == v {
					names[v] = true
				}
			}
		}
	}
	for name := range names {
		if still[name] {
			delete(names, name)
		}
	}
	return names
}
