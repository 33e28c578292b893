package shellguard

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// The marks in a word that is not split yet.
const (
	gap    = "\x0e" // between two words
	exists = "\x0f" // the word exists even if it is empty
)

// fields returns the words that the shell makes of words. Where a variable may have several
// values, the words of all of them follow each other.
func (s *shell) fields(list []*syntax.Word) []string {
	var all []string
	for _, word := range list {
		if word == nil {
			continue
		}
		for _, w := range s.braces(word) {
			for _, text := range s.spell(w.Parts, words) {
				all = append(all, divide(text)...)
			}
		}
	}
	return all
}

// divide splits a word at its marks.
func divide(text string) []string {
	var all []string
	for word := range strings.SplitSeq(text, gap) {
		if word != "" {
			all = append(all, strings.ReplaceAll(word, exists, ""))
		}
	}
	return all
}

// one returns the alternatives of a word that is not split, as in an assignment.
func (s *shell) one(word *syntax.Word) []string {
	if word == nil {
		return []string{""}
	}
	return s.alternatives(word.Parts, assigned)
}

// braces expands {a,b} and {1..3}. A word with too many expansions keeps some of its braces, which
// are unknown text.
func (s *shell) braces(word *syntax.Word) []*syntax.Word {
	syntax.SplitBraces(word)
	all := []*syntax.Word{word}
	for {
		more := false
		var next []*syntax.Word
		for _, w := range all {
			at := slices.IndexFunc(w.Parts, func(part syntax.WordPart) bool { _, ok := part.(*syntax.BraceExp); return ok })
			if at < 0 || len(all) > maxAlternatives {
				next = append(next, w)
				continue
			}
			more = true
			for _, elem := range braceElements(w.Parts[at].(*syntax.BraceExp)) {
				if !s.spend(1 + len(w.Parts)/16) {
					return all
				}
				next = append(next, &syntax.Word{Parts: slices.Concat(w.Parts[:at], elem.Parts, w.Parts[at+1:])})
			}
		}
		if all = next; !more || len(all) > 8*maxAlternatives {
			return all
		}
	}
}

// braceElements returns the elements of a brace expansion. Those of a sequence between its ends
// are unknown: numbers do not matter.
func braceElements(brace *syntax.BraceExp) []*syntax.Word {
	if !brace.Sequence {
		return brace.Elems
	}
	return append(slices.Clone(brace.Elems), &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: unknown}}})
}

// A mode says how the shell reads the parts of a word.
type mode int

const (
	words    mode = iota // an argument: expansions are split into words
	assigned             // the value of an assignment: one word
	quoted               // between double quotes
	document             // a here-document: one word, and quotes are literal
)

// alternatives returns what a word that is not split may be.
func (s *shell) alternatives(parts []syntax.WordPart, m mode) []string {
	all := slices.Clone(s.spell(parts, m))
	for i := range all {
		all[i] = strings.ReplaceAll(strings.ReplaceAll(all[i], gap, " "), exists, "")
	}
	return all
}

// spell returns the ways in which a word may come out, with marks.
func (s *shell) spell(parts []syntax.WordPart, m mode) []string {
	all := []string{""}
	for i, part := range parts {
		var next []string
		switch p := part.(type) {
		case *syntax.Lit:
			switch m {
			case document:
				next = []string{unescape(p.Value, "$`\\\n")}
			case quoted:
				next = []string{unescape(p.Value, "$`\"\\\n")}
			default:
				next = []string{s.literal(p.Value, i == 0)}
			}
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text = ansi(text)
			}
			next = []string{exists + text}
		case *syntax.DblQuoted:
			next = s.spell(p.Parts, quoted)
			if len(p.Parts) != 1 || !isList(p.Parts[0]) || len(next) != 1 || next[0] != "" {
				next = s.products([]string{exists}, next)
			}
		case *syntax.ExtGlob:
			next = []string{"*"}
		default:
			next = s.expansion(part, m != words)
		}
		all = s.products(all, next)
	}
	return all
}

// products appends each of several texts to each of others.
func (s *shell) products(left, right []string) []string {
	var all []string
	for _, l := range left {
		for _, r := range right {
			if len(all) >= maxAlternatives || !s.spend(1+(len(l)+len(r))/1024) {
				return append(all, unknown)
			}
			all = append(all, l+r)
		}
	}
	return all
}

// isList reports whether a part is "$@" or "${list[@]}", which may be no word at all.
func isList(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || p.Index != nil && subscript(p) == "@")
}

// literal expands the escapes of unquoted text, and a tilde at its beginning.
func (s *shell) literal(text string, first bool) string {
	if first && strings.HasPrefix(text, "~") {
		user, rest, _ := strings.Cut(text[1:], "/")
		if strings.Contains(text, "/") {
			rest = "/" + rest
		}
		switch {
		case user == "" && s.Home != "":
			return s.Home + unescape(rest, "")
		case user == "+":
			return s.dir + unescape(rest, "")
		case user == "":
			return "/home/~" + unescape(rest, "")
		case user == "root":
			return "/root" + unescape(rest, "")
		}
		return "/home/" + user + unescape(rest, "")
	}
	return unescape(text, "")
}

// unescape removes backslashes before the given characters; before all if none are given.
func unescape(text, special string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (special == "" || strings.IndexByte(special, text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

var escapes = units.Pattern(`(?s)\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|0?[0-7]{1,3}|.)`)

// ansi decodes the escapes of $'…', of echo -e and of printf.
func ansi(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return escapes().ReplaceAllStringFunc(text, func(escape string) string {
		code, base := escape[1:], 8
		if digits := strings.TrimLeft(code, "xuU"); digits != code && digits != "" {
			code, base = digits, 16
		}
		if n, err := strconv.ParseUint(code, base, 32); err == nil {
			if escape[1] == 'u' || escape[1] == 'U' {
				return string(rune(n))
			}
			return string([]byte{byte(n)})
		}
		if at := strings.Index(`nrtabfve'"\?`, code); at >= 0 {
			return "\n\r\t\a\b\f\v\x1b'\"\\?"[at : at+1]
		}
		return escape
	})
}

// expansion returns what an expansion may become. Unquoted text is split at white space.
func (s *shell) expansion(part syntax.WordPart, quoted bool) []string {
	if !s.enter() {
		return []string{unknown}
	}
	defer s.leave()
	var v value
	switch p := part.(type) {
	case *syntax.ParamExp:
		v = s.param(p, quoted)
	case *syntax.CmdSubst:
		sub := s.fork()
		text := strings.TrimRight(sub.stmts(p.Stmts, input{}), "\n")
		if isOpaque(text) && origin(text) == unknown && !quoted {
			text = splitting
		}
		v.any = []string{text}
	case *syntax.ProcSubst:
		return []string{s.process(p)}
	case *syntax.ArithmExp:
		s.substitutions(p)
		v.any = []string{"1"}
	default:
		v.any = []string{unknown}
	}
	switch {
	case len(v.list) > 0: // the first and the last word join their neighbours
		return []string{exists + strings.Join(v.list, gap+exists)}
	case len(v.any) == 0:
		return []string{""}
	case quoted:
		return v.any
	}
	// Blanks split too, whatever IFS is.
	separators := " \t\n" + strings.Join(s.vars["IFS"].all(), "")
	all := slices.Clone(v.any)
	for i, text := range all {
		all[i] = strings.Map(func(r rune) rune {
			if strings.ContainsRune(separators, r) && !hasUnknown(string(r)) {
				return rune(gap[0])
			}
			return r
		}, text)
	}
	return all
}

// process judges a process substitution, and returns the name of a file with what it prints.
func (s *shell) process(p *syntax.ProcSubst) string {
	text := s.fork().stmts(p.Stmts, from(unknown))
	name := "/dev/fd/" + string(rune('a'+len(s.files)%26)) + strings.Repeat("x", len(s.files)%64)
	s.files[name] = text
	return name
}

// substitutions judges every command that is substituted somewhere in a node.
func (s *shell) substitutions(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.fork().stmts(n.Stmts, input{})
			return false
		case *syntax.ProcSubst:
			s.fork().stmts(n.Stmts, from(unknown))
			return false
		}
		return true
	})
}
