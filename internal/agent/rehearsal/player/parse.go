package player

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// ParseError is a mistake in a scenario.
type ParseError struct {
	Scenario string
	Line     int // from 1
	Problem  string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.Scenario, e.Line, e.Problem)
}

// Parse reads a scenario. The error joins one *ParseError for each mistake.
func Parse(name, text string) (*Scenario, error) {
	p := parser{scenario: &Scenario{Name: name}}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for at := 0; at < len(lines); {
		at += p.statement(lines, at)
	}
	if len(p.scenario.sections) == 0 {
		p.fault(len(lines), errors.New("nothing to play: say what happens, as in 'say hello'"))
	}
	if p.faults != nil {
		return nil, errors.Join(p.faults...)
	}
	return p.scenario, nil
}

type parser struct {
	scenario *Scenario
	headed   bool // a line said 'iteration'
	star     bool // it said 'iteration *'
	message  bool // a line said 'message'
	aside    bool // what is read now belongs to it
	faults   []error
}

func (p *parser) fault(line int, err error) {
	p.faults = append(p.faults, &ParseError{Scenario: p.scenario.Name, Line: line, Problem: err.Error()})
}

// statement reads what begins at lines[at] and returns how many lines that is.
func (p *parser) statement(lines []string, at int) int {
	line := strings.TrimSpace(lines[at])
	switch {
	case line == "":
		return 1
	case line[0] == '#':
		p.scenario.About = cmp.Or(p.scenario.About, strings.TrimSpace(strings.TrimLeft(line, "#")))
		return 1
	}
	line, used, err := document(line, lines[at+1:])
	if err == nil {
		err = p.add(line)
	}
	if err != nil {
		p.fault(at+1, err)
	}
	return 1 + used
}

func (p *parser) add(line string) error {
	word, rest := cutWord(line)
	switch word {
	case "iteration":
		return p.iteration(rest)
	case "message":
		return p.answer(rest)
	case "steered":
		reaction, ok := strings.CutPrefix(rest, "->")
		if !ok {
			return errors.New("want steered -> STEP")
		}
		s, err := parseStep(strings.TrimSpace(reaction))
		if err != nil {
			return err
		}
		to := p.section()
		to.steered = append(to.steered, s)
		return nil
	}
	s, err := parseStep(line)
	if err != nil {
		return err
	}
	to := p.section()
	to.steps = append(to.steps, s)
	return nil
}

// section returns the section that is being read; the first begins by itself.
func (p *parser) section() *section {
	if p.aside {
		return &p.scenario.message
	}
	s := &p.scenario.sections
	if len(*s) == 0 {
		*s = append(*s, section{})
	}
	return &(*s)[len(*s)-1]
}

func (p *parser) iteration(which string) error {
	n := len(p.scenario.sections) + 1
	switch {
	case !p.headed && n > 1:
		return errors.New("the steps above come before the first iteration")
	case p.star:
		return errors.New("'iteration *' is every further iteration, so nothing can follow it")
	case which != "" && which != "*" && which != strconv.Itoa(n):
		return fmt.Errorf("this is iteration %d, not %s: they are played in their order", n, which)
	}
	p.headed, p.star, p.aside = true, which == "*", false
	p.scenario.sections = append(p.scenario.sections, section{})
	return nil
}

// answer begins the section that is played for a commit message.
func (p *parser) answer(rest string) error {
	switch {
	case rest != "":
		return fmt.Errorf("%q is too much: write the answer in the lines below message", rest)
	case p.message:
		return errors.New("there is already a section 'message'")
	}
	p.message, p.aside = true, true
	return nil
}

// document replaces <<WORD at the end of a line by the lines up to WORD, and says how
// many lines it took. A command that has its own <<WORD keeps it for the shell.
func document(line string, following []string) (whole string, used int, err error) {
	i := strings.LastIndex(line, "<<")
	if i < 0 {
		return line, 0, nil
	}
	word := strings.Trim(line[i+2:], `'"`)
	if word == "" || strings.ContainsFunc(word, notWord) {
		return line, 0, nil
	}
	for n, text := range following {
		if strings.TrimSpace(text) != word {
			continue
		}
		body := unindent(following[:n])
		if verb, rest := cutWord(line[:i]); verb == "run" && rest != "" {
			return line + "\n" + body + "\n" + word, n + 1, nil
		}
		return line[:i] + body, n + 1, nil
	}
	return line, 0, fmt.Errorf("the text that begins with <<%s has no line %s at its end", word, word)
}

func notWord(r rune) bool {
	return !(r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_')
}

// unindent takes the indent of the first line off all lines that have it.
func unindent(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	plain := make([]string, len(lines))
	for i, line := range lines {
		plain[i] = strings.TrimPrefix(line, indent)
	}
	return strings.Join(plain, "\n")
}

func cutWord(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t\n")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

func parseStep(line string) (step, error) {
	name, rest := cutWord(line)
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i >= 0 {
		s, err := kinds[i].parse(rest)
		if err != nil {
			return step{}, fmt.Errorf("%s: %w; want %s", name, err, kinds[i].usage)
		}
		s.kind = &kinds[i]
		return s, nil
	}
	known := []string{"iteration", "message", "steered"}
	if slices.Contains(known, name) {
		return step{}, fmt.Errorf("%s is not allowed here", name)
	}
	for _, k := range kinds {
		known = append(known, k.name)
	}
	if near := nearest(name, known); near != "" {
		return step{}, fmt.Errorf("%q is no step: did you mean %s?", name, near)
	}
	return step{}, fmt.Errorf("%q is no step: there are %s", name, strings.Join(known, ", "))
}

// nearest returns the word with the same letters as s, or the one with the most similar spelling.
func nearest(s string, known []string) string {
	letters := func(word string) []byte { return slices.Sorted(slices.Values([]byte(word))) }
	for _, word := range known {
		if slices.Equal(letters(word), letters(s)) {
			return word
		}
	}
	return config.Nearest(s, known)
}
