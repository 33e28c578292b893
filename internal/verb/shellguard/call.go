package shellguard

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A command is a simple command whose words are expanded.
type command struct {
	*shell
	name string   // without folder, version and suffix: python for /usr/bin/python3.12
	args []string // without the name
	in   input
}

// call judges a simple command and its assignments, and returns what it would print.
func (s *shell) call(c *syntax.CallExpr, in input) string {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assignment(a)
		}
		return ""
	}
	for _, a := range c.Assigns {
		if a.Name != nil {
			values := s.one(a.Value)
			s.running = &running{words: []string{a.Name.Value + "=" + strings.Join(values, " ")}}
			s.environment(a.Name.Value, values)
		}
	}
	heads := s.heads(c.Args[0])
	rest := s.fields(c.Args[1:])
	var printed strings.Builder
	for _, head := range heads {
		printed.WriteString(s.simple(slices.Concat(head, rest), in))
	}
	return printed.String()
}

// heads returns the words that the first word of a command becomes, for each alternative.
func (s *shell) heads(first *syntax.Word) [][]string {
	expanded := s.braces(first)
	if len(expanded) > 1 {
		return [][]string{s.fields([]*syntax.Word{first})}
	}
	var heads [][]string
	for _, text := range s.spell(expanded[0].Parts, words) {
		heads = append(heads, divide(text))
	}
	return heads
}

// simple judges the words of a simple command, and returns what it would print.
func (s *shell) simple(argv []string, in input) string {
	if len(argv) == 0 || !s.enter() {
		return ""
	}
	defer s.leave()
	outer := s.running
	defer func() { s.running = outer }()
	s.running = &running{words: argv, allowed: slices.ContainsFunc(s.Allow, func(prefix string) bool { return hasPrefix(argv, prefix) })}
	s.spend(len(argv) / 16)
	for _, prefix := range s.Deny {
		if hasPrefix(argv, prefix) {
			s.add(Verdict{Deny, Rule, "the setting guard.deny refuses \"" + prefix + "\". Find another way, or ask the person.", s.running.text()})
		}
	}
	if printed, ok := s.defined(argv, in); ok {
		return printed
	}
	c := &command{s, programName(argv[0]), argv[1:], in}
	switch {
	case argv[0] == "":
		return ""
	case hasUnknown(c.name):
		c.unknownName()
		if argv[0] == splitting { // it may be empty
			return s.simple(argv[1:], in)
		}
		return unknown
	case strings.ContainsAny(c.name, "*?[") && c.name != "[" && c.name != "[[":
		if strings.HasPrefix(argv[0], ".") { // in the project
			s.cannotJudge("the name of the command is a pattern")
			break
		}
		s.deny(Encoding, "the name of the command is a pattern, so it may be any program. Write the name in full.")
	}
	c.refuseComputed()
	if text, ok := s.files[s.absolute(argv[0])]; ok && strings.Contains(argv[0], "/") {
		return c.runText(text, c.args)
	}
	if run, ok := runners[c.name]; ok {
		return run(c)
	}
	return c.judged()
}

// refuseComputed reports words whose meaning for a known command is not known, and could be.
func (c *command) refuseComputed() {
	if !slices.ContainsFunc(c.args, isComputed) || words2set("test [ : true false printf set export")[c.name] {
		return
	}
	if known(c.name) || slices.ContainsFunc(c.Deny, func(prefix string) bool {
		return hasPrefix([]string{c.running.words[0]}, firstOf(strings.Fields(prefix)))
	}) {
		c.cannotJudge("a word of it " + notCarriedOut)
	}
}

// orders is the input of a command that carries it out.
func (c *command) orders() string {
	if isComputed(c.in.text) {
		c.cannotJudge("its input " + notCarriedOut)
	}
	return c.in.text
}

// judged judges a command that runs no other, and returns what it would print.
func (c *command) judged() string {
	if judge, ok := rules[c.name]; ok {
		judge(c)
	}
	if c.hasWord("completion", "completions") { // source <(kubectl completion bash)
		return ""
	}
	if print, ok := printers[c.name]; ok {
		return print(c)
	}
	return unknown
}

// defined runs a function of this text. One with the name of a program that has rules is judged as
// that program too, and so is one that may not be defined.
func (s *shell) defined(argv []string, in input) (string, bool) {
	name := argv[0]
	body, ok := s.funcs[name]
	if !ok || slices.Contains(s.calling, name) {
		return "", false
	}
	calling, params, given := s.calling, s.params, s.given
	defer func() { s.calling, s.params, s.given = calling, params, given }()
	s.calling = append(slices.Clip(calling), name)
	printed := ""
	if known(programName(name)) || s.unsure[name] {
		printed = s.fork().simple(argv, in)
	}
	s.params, s.given = argv[1:], true
	return s.stmt(body, in) + printed, true
}

// unknownName reports a command whose name is unknown.
func (c *command) unknownName() {
	if !c.runsForeign(origin(c.name)) {
		c.cannotJudge("the name of the command is in a variable or comes from another command")
	}
}

// runsForeign reports text of a forbidden origin that would run.
func (c *command) runsForeign(kind string) bool {
	switch kind {
	case downloaded:
		c.deny(Download, "it runs what was just downloaded, unseen. Download to a file, read it, and let a person run it, or use the package manager.")
	case decoded:
		c.deny(Encoding, "it runs text that is hidden by an encoding or a filter. Write the command in plain text.")
	case foreign:
		c.deny(Eval, "it runs text that other programs or people wrote and that was not read before. Write the command in plain text.")
	default:
		return false
	}
	return true
}

// isUnread reports whether nothing is known of a text that would run.
func (c *command) isUnread(text string) bool {
	if !isOpaque(text) {
		return false
	}
	if !c.runsForeign(origin(text)) {
		c.cannotJudge("the text that it runs comes from a variable or another command")
	}
	return true
}

// runText judges a text that a shell or an interpreter runs.
func (c *command) runText(text string, params []string) string {
	if c.isUnread(text) {
		return unknown
	}
	first, _, _ := strings.Cut(text, "\n")
	if language := programName(path.Base(strings.TrimPrefix(lastField(first), "#!"))); strings.HasPrefix(first, "#!") && languages[language] {
		c.code(text)
		return unknown
	}
	return c.nested(text, params, c.in)
}

func lastField(line string) string {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// programName returns the name that rules know a program by.
func programName(word string) string {
	name := word[strings.LastIndexByte(word, '/')+1:]
	if i := strings.LastIndexByte(name, '\\'); i >= 0 && strings.Contains(name, ":") {
		name = name[i+1:]
	}
	if short, ok := strings.CutSuffix(name, ".exe"); ok {
		name = short
	}
	if plain := strings.TrimRight(name, "0123456789."); plain != name && plain != "" && !known(name) && known(strings.TrimSuffix(plain, "-")) {
		name = strings.TrimSuffix(plain, "-")
	}
	if strings.HasPrefix(name, "mkfs.") {
		name = "mkfs"
	}
	return name
}

func known(name string) bool {
	return rules[name] != nil || runners[name] != nil || languages[name]
}

// hasPrefix reports whether the first words of a command are those of a prefix. The command's own
// first word may be a path.
func hasPrefix(argv []string, prefix string) bool {
	want := strings.Fields(prefix)
	if len(want) == 0 || len(want) > len(argv) {
		return false
	}
	return (argv[0] == want[0] || programName(argv[0]) == want[0]) && slices.Equal(argv[1:len(want)], want[1:])
}
