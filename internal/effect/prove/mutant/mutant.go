package mutant

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// The operators, as [event.Mutant] names them.
const (
	NegatedCondition  = "negated condition"
	SwappedComparison = "swapped comparison"
	SwappedArithmetic = "swapped arithmetic"
	SwappedLogic      = "swapped and/or"
	ChangedConstant   = "changed constant"
	RemovedStatement  = "removed statement"
	EarlyReturn       = "early return"
	EmptiedBody       = "emptied body"
)

// most bounds the size of a file in bytes: a larger one is hardly written by hand.
const most = 1 << 20

// file is a text that mutants are found in.
type file struct {
	*language
	path    string
	lines   []line
	changed func(line int) bool // from 1
	found   []event.Mutant
}

// harmful is in a text that removes folders, ends processes or publishes. A mutant of it could do
// that to another folder or process than its author meant, with the rights of a person.
var harmful = units.Pattern(`(?i)\brm\s+(?:-\S+\s+)*-\w*r|\brm\s[^\n]*--recursive|\bfind\s[^\n]*-delete\b|\brsync\s[^\n]*--del|removeall\(|rmtree\(|rimraf|` +
	`remove_dir_all|\brm_rf?\b|remove_entry|deleterecursively|\brm(?:sync|dir|dirsync)?\([^)\n]*recursive|directory\.delete\(|\bmkfs|\bdd\s+(?:if|of)=|` +
	`\b(?:killall|pkill)\b|\bkill\s+["-]|syscall\.kill\(|os\.kill(?:pg)?\(|process\.kill\(|\bgit\s+push\b|\bdrop\s+(?:table|database)\b|\btruncate\s+table\b`)

// Find returns the mutants of a text in which a line, from 1, may differ if changed says so.
func Find(name, content string, changed func(line int) bool) []event.Mutant {
	if len(content) > most || strings.IndexByte(content, 0) >= 0 || harmful().MatchString(content) {
		return nil
	}
	l := languageOf(name, content)
	f := &file{language: l, path: name, lines: scan(l, content), changed: changed}
	run := false
	for i := range f.lines {
		if code := f.lines[i].code; strings.TrimSpace(code) != "" && indentOf(code) == "" {
			run = started().MatchString(code)
		}
		if changed(i+1) && !run && !f.isSkipped(i) {
			f.inLine(i)
			f.statement(i)
		}
	}
	f.functions()
	slices.SortStableFunc(f.found, func(a, b event.Mutant) int { return a.Line - b.Line })
	return f.found
}

// Apply returns the text with a mutant; false if the text has not the lines that it changes.
func Apply(content string, m event.Mutant) (string, bool) {
	at := 0
	for range m.Line - 1 {
		next := strings.IndexByte(content[at:], '\n')
		if next < 0 {
			return content, false
		}
		at += next + 1
	}
	rest, ok := strings.CutPrefix(content[at:], m.Was)
	if !ok || rest != "" && rest[0] != '\n' && !strings.HasPrefix(rest, "\r\n") {
		return content, false
	}
	if m.Now == "" {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "\r"), "\n")
	}
	return content[:at] + m.Now + rest, true
}

// add adds a mutant of the lines from i up to, but without, end. One that changes nothing but white
// space is none.
func (f *file) add(operator string, i, end int, now string) {
	var was []string
	for _, l := range f.lines[i:end] {
		was = append(was, l.text)
	}
	m := event.Mutant{File: f.path, Line: i + 1, Operator: operator, Was: strings.Join(was, "\n"), Now: now}
	if squeeze(m.Was) != squeeze(m.Now) {
		f.found = append(f.found, m)
	}
}

// replace adds a mutant of a part of a line.
func (f *file) replace(operator string, i int, part span, now string) {
	text := f.lines[i].text
	f.add(operator, i, i+1, text[:part.from]+now+text[part.to:])
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// balanced reports whether the brackets of a text pair up.
func balanced(code string) bool {
	var open []byte
	for i := range len(code) {
		switch c := code[i]; c {
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			const pairs = "()[]{}"
			if len(open) == 0 || pairs[strings.IndexByte(pairs, c)-1] != open[len(open)-1] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

func indentOf(text string) string { return text[:len(text)-len(strings.TrimLeft(text, " \t"))] }
