package shellguard

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/units"
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
			all = append(all, s.split(w.Parts)...)
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

// A spelling is one way in which a word may come out.
type spelling struct {
	done []string // words that are complete
	word string
	some bool // the word exists even if it is empty
}

// split returns the words that one word becomes, for all alternatives.
func (s *shell) split(parts []syntax.WordPart) []string {
	var all []string
	for _, sp := range s.spell(parts, words) {
		all = append(all, sp.done...)
		if sp.some || sp.word != "" {
			all = append(all, sp.word)
		}
	}
	return all
}

// A mode says how the shell reads the parts of a word.
type mode int

const (
	words    mode = iota // an argument: expansions are split into words
	assigned             // the value of an assignment: one word
	document             // a here-document: one word, and quotes are literal
)

// alternatives returns what a word that is not split may be.
func (s *shell) alternatives(parts []syntax.WordPart, m mode) []string {
	var all []string
	for _, sp := range s.spell(parts, m) {
		all = append(all, strings.Join(append(sp.done, sp.word), " "))
	}
	return all
}

func (s *shell) spell(parts []syntax.WordPart, m mode) []spelling {
	all := []spelling{{}}
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if m == document {
				all = each(all, unescape(p.Value, "$`\\\n"))
			} else {
				all = each(all, s.literal(p.Value, i == 0))
			}
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text = ansi(text)
			}
			all = each(all, text)
		case *syntax.DblQuoted:
			all = s.combine(all, s.quoted(p))
		case *syntax.ExtGlob:
			all = each(all, "*")
		default:
			all = s.combine(all, s.expansion(part, m != words))
		}
		for _, sp := range all { // appending copies
			s.spend(1 + len(sp.word)/1024)
		}
		if !s.spend(1) {
			return nil
		}
	}
	return all
}

// each appends a text to all spellings.
func each(all []spelling, text string) []spelling {
	for i := range all {
		all[i].word += text
		all[i].some = true
	}
	return all
}

// combine appends each of several spellings to each.
func (s *shell) combine(all, next []spelling) []spelling {
	var combined []spelling
	for _, left := range all {
		for _, right := range next {
			if len(combined) >= maxAlternatives {
				return append(combined, spelling{word: unknown})
			}
			sp := spelling{done: slices.Clip(left.done), word: left.word, some: left.some}
			for _, word := range right.done {
				if sp.word += word; sp.word != "" || sp.some {
					sp.done = append(sp.done, sp.word)
				}
				sp.word, sp.some = "", false
			}
			sp.word += right.word
			sp.some = sp.some || right.some
			combined = append(combined, sp)
			s.spend(1 + len(sp.done)/8)
		}
	}
	return combined
}

// quoted expands text between double quotes.
func (s *shell) quoted(q *syntax.DblQuoted) []spelling {
	all := []spelling{{some: true}}
	for _, part := range q.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			all = each(all, unescape(lit.Value, "$`\"\\\n"))
			continue
		}
		all = s.combine(all, s.expansion(part, true))
		if isList(part) && len(q.Parts) == 1 && len(all) == 1 && len(all[0].done) == 0 && all[0].word == "" {
			all[0].some = false
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
func (s *shell) expansion(part syntax.WordPart, quoted bool) []spelling {
	if !s.enter() {
		return []spelling{{word: unknown}}
	}
	defer s.leave()
	var v value
	switch p := part.(type) {
	case *syntax.ParamExp:
		v = s.param(p, quoted)
	case *syntax.CmdSubst:
		sub := s.fork()
		text := strings.TrimRight(sub.stmts(p.Stmts, input{}), "\n")
		if text == unknown && !quoted {
			text = splitting
		}
		v.any = []string{text}
	case *syntax.ProcSubst:
		v.any = []string{s.process(p)}
		quoted = true
	case *syntax.ArithmExp:
		s.substitutions(p)
		v.any = []string{"1"}
	default:
		v.any = []string{unknown}
	}
	if v.list != nil {
		return joined(v.list)
	}
	var all []spelling
	for _, text := range v.any {
		if quoted {
			all = append(all, spelling{word: text, some: true})
			continue
		}
		all = append(all, splitText(s.separated(text)))
	}
	return all
}

// joined makes a list of words of "$@": the first and the last one join their neighbours.
func joined(list []string) []spelling {
	if len(list) == 0 {
		return []spelling{{}}
	}
	last := len(list) - 1
	return []spelling{{done: list[:last], word: list[last], some: true}}
}

// separated puts a blank in the place of each character of IFS. Blanks split too, whatever IFS is.
func (s *shell) separated(text string) string {
	v, ok := s.vars["IFS"]
	if !ok || text == unknown || text == splitting {
		return text
	}
	separators := strings.Join(v.all(), "")
	if strings.Trim(separators, " \t\n") == "" || hasUnknown(separators) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(separators, r) {
			return ' '
		}
		return r
	}, text)
}

// splitText splits at white space. White space at the ends ends the word before, and lets what
// follows begin another one.
func splitText(text string) spelling {
	list := strings.Fields(text)
	if len(list) == 0 {
		if text == "" {
			return spelling{}
		}
		return spelling{done: []string{""}}
	}
	if strings.TrimLeft(text, " \t\n") != text {
		list = slices.Insert(list, 0, "")
	}
	if strings.TrimRight(text, " \t\n") != text {
		list = append(list, "")
	}
	last := len(list) - 1
	return spelling{done: list[:last], word: list[last], some: list[last] != ""}
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
