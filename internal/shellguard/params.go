package shellguard

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign sets a variable. In a branch that may not run, the old values remain possible.
func (s *shell) assign(name string, v value, isLoop bool) {
	name = s.named(name)
	if old, ok := s.vars[name]; ok && s.maybe > 0 && !isLoop && v.list == nil {
		v.any = atMost(append(v.any, old.any...))
	}
	const longest = 1 << 16 // doubling it again and again must not fill the memory
	for i, text := range v.any {
		if len(text) > longest {
			v.any = replaced(v.any, i, unknown)
		}
	}
	s.vars[name] = v
}

// named follows 'declare -n NAME=OTHER'.
func (s *shell) named(name string) string {
	for range 8 { // they may be a circle
		v, ok := s.vars[name]
		if !ok || !v.name || len(v.any) != 1 {
			break
		}
		name = v.any[0]
	}
	return name
}

// assignment carries out NAME=value, NAME+=value and NAME=(list).
func (s *shell) assignment(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if a.Index != nil {
		s.substitutions(a.Index)
	}
	if a.Array != nil {
		var list []string
		for _, elem := range a.Array.Elems {
			if elem.Value != nil {
				list = append(list, s.fields([]*syntax.Word{elem.Value})...)
			}
		}
		if a.Append {
			list = append(append([]string{}, s.vars[name].all()...), list...)
		}
		s.assign(name, value{list: list}, false)
		return
	}
	v := value{any: s.one(a.Value)}
	switch old := s.vars[name]; {
	case a.Index != nil:
		v = value{list: append(append([]string{}, old.all()...), v.any...)}
	case a.Append && len(old.any) > 0:
		v.any = products(old.any, v.any)
	case a.Append && old.list == nil:
		v.any = products(s.lookUp(name).any, v.any)
	}
	s.assign(name, v, false)
}

// all returns the values as a list.
func (v value) all() []string {
	if v.list != nil {
		return v.list
	}
	return v.any
}

func products(left, right []string) []string {
	var all []string
	for _, l := range left {
		for _, r := range right {
			all = append(all, l+r)
		}
	}
	return atMost(all)
}

// declare carries out export, local, readonly and declare.
func (s *shell) declare(d *syntax.DeclClause) {
	s.running = &running{words: []string{d.Variant.Value}}
	quiet, names := s.quiet, false
	s.quiet = quiet || d.Variant.Value == "export" || d.Variant.Value == "declare"
	for _, a := range d.Args {
		if a.Name == nil { // export $(…)
			for _, word := range s.fields([]*syntax.Word{a.Value}) {
				if name, text, ok := strings.Cut(word, "="); ok && syntax.ValidName(name) {
					s.assign(name, value{any: []string{text}}, false)
				}
				names = names || strings.HasPrefix(word, "-") && strings.Contains(word, "n")
			}
			continue
		}
		if !a.Naked && names && d.Variant.Value != "export" {
			s.vars[a.Name.Value] = value{any: s.one(a.Value), name: true}
		} else if !a.Naked {
			s.assignment(a)
			s.environment(a.Name.Value, s.vars[a.Name.Value].any)
		}
	}
	s.quiet = quiet
}

// lookUp returns the values of a variable.
func (s *shell) lookUp(name string) value {
	name = s.named(name)
	if v, ok := s.vars[name]; ok {
		return v
	}
	switch name {
	case "HOME":
		if s.Home != "" {
			return value{any: []string{s.Home}}
		}
	case "PWD":
		if s.dir != "" {
			return value{any: []string{s.dir}}
		}
	case "IFS":
		return value{any: []string{" \t\n"}}
	case "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "$", "!", "?", "#":
		return value{any: []string{"7"}}
	case "-", "_":
		return value{any: []string{""}}
	case "0":
		return value{any: []string{"sh"}}
	case "BASH":
		return value{any: []string{"/bin/bash"}}
	case "@", "*":
		if s.given {
			return value{list: append([]string{}, s.params...)}
		}
		return value{any: []string{splitting}}
	}
	if n, err := strconv.Atoi(name); err == nil && s.given {
		if n <= len(s.params) {
			return value{any: []string{s.params[n-1]}}
		}
		return value{any: []string{""}}
	}
	if s.Env != nil {
		if text, ok := s.Env(name); ok {
			return value{any: []string{text}}
		}
	}
	return value{}
}

// temporary are variables that name a folder for temporary files wherever they are set.
var temporary = map[string]bool{"TMPDIR": true, "TMP": true, "TEMP": true, "RUNNER_TEMP": true, "BATS_TMPDIR": true, "XDG_RUNTIME_DIR": true}

// param returns what ${…} may become.
func (s *shell) param(p *syntax.ParamExp, quoted bool) value {
	if p.Exp != nil && p.Exp.Word != nil { // what is substituted in it runs
		s.substitutions(p.Exp.Word)
	}
	if p.Param == nil || p.Names != 0 || p.Flags != nil || len(p.Modifiers) > 0 {
		return value{any: []string{unknown}}
	}
	if p.Length || p.Width || p.IsSet {
		return value{any: []string{"7"}}
	}
	v := s.lookUp(p.Param.Value)
	if p.Excl {
		v = s.indirect(v)
	}
	set := len(v.any) > 0 || v.list != nil
	if v.list != nil {
		v = elements(p, v)
	}
	if p.Exp != nil {
		return s.modified(p, v, set, quoted)
	}
	if !set {
		switch {
		case temporary[p.Param.Value]:
			return value{any: []string{"/tmp/tmpdir/folder"}}
		case quoted:
			return value{any: []string{unknown}}
		}
		return value{any: []string{splitting}}
	}
	for i, text := range v.any {
		switch {
		case p.Slice != nil:
			v.any = replaced(v.any, i, slice(text, p.Slice))
		case p.Repl != nil:
			v.any = replaced(v.any, i, s.replace(text, p.Repl))
		}
	}
	return v
}

// replaced returns a copy of a list with another text at i.
func replaced(list []string, i int, text string) []string {
	list = append([]string{}, list...)
	list[i] = text
	return list
}

func (s *shell) indirect(v value) value {
	var all value
	for _, name := range v.any {
		all.any = append(all.any, s.lookUp(name).any...)
	}
	return all
}

func subscript(p *syntax.ParamExp) string {
	if word, ok := p.Index.(*syntax.Word); ok {
		return word.Lit()
	}
	return ""
}

// elements returns ${list[@]} as a list, and ${list[i]} as any of its elements.
func elements(p *syntax.ParamExp, v value) value {
	switch {
	case p.Param.Value == "@" || p.Param.Value == "*":
		return v
	case p.Index == nil:
		return value{any: append([]string{}, v.list[:min(1, len(v.list))]...)}
	case subscript(p) == "@" || subscript(p) == "*":
		return v
	}
	if i, err := strconv.Atoi(subscript(p)); err == nil && i >= 0 && i < len(v.list) {
		return value{any: []string{v.list[i]}}
	}
	return value{any: atMost(v.list)}
}

// modified carries out ${x:-word}, ${x%pattern}, ${x^^} and their like.
func (s *shell) modified(p *syntax.ParamExp, v value, set, quoted bool) value {
	word := func() value { return value{any: s.one(p.Exp.Word)} }
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !set || len(v.any) == 1 && v.any[0] == "" {
			if v = word(); p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				s.assign(p.Param.Value, v, false)
			}
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return value{any: append([]string{""}, word().any...)}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if set {
			return v
		}
		return value{any: []string{unknown}}
	}
	if !set {
		return value{any: []string{unknown}}
	}
	pattern := ""
	if words := s.one(p.Exp.Word); len(words) == 1 {
		pattern = words[0]
	}
	for i, text := range v.any {
		v.any = replaced(v.any, i, modify(text, p.Exp.Op, pattern))
	}
	return v
}

func modify(text string, op syntax.ParExpOperator, pattern string) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(text)
	case syntax.LowerAll:
		return strings.ToLower(text)
	case syntax.UpperFirst, syntax.LowerFirst:
		if text == "" {
			return text
		}
		if op == syntax.UpperFirst {
			return strings.ToUpper(text[:1]) + text[1:]
		}
		return strings.ToLower(text[:1]) + text[1:]
	case syntax.OtherParamOps:
		if pattern == "E" {
			return ansi(text)
		}
		return text
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if hasUnknown(text) || hasUnknown(pattern) {
			return filtered(text)
		}
		return cutPattern(text, op, pattern)
	}
	return filtered(text)
}

// cutPattern removes what a pattern matches at one end of a text.
func cutPattern(text string, op syntax.ParExpOperator, pattern string) string {
	smallest := op == syntax.RemSmallSuffix || op == syntax.RemSmallPrefix
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	const most = 4096
	if len(text) > most {
		return unknown
	}
	for i := range len(text) + 1 {
		n := i
		if !smallest {
			n = len(text) - i
		}
		part, rest := text[:n], text[n:]
		if !prefix {
			part, rest = text[len(text)-n:], text[:len(text)-n]
		}
		if globMatch(pattern, part) {
			return rest
		}
	}
	return text
}

// globMatch reports whether a pattern of the shell matches a text; * matches a slash too.
func globMatch(pattern, text string) bool {
	const slash = "\x07"
	ok, _ := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(text, "/", slash))
	return ok
}

func slice(text string, sl *syntax.Slice) string {
	number := func(x syntax.ArithmExpr, absent int) (int, bool) {
		if x == nil {
			return absent, true
		}
		word, ok := x.(*syntax.Word)
		if !ok {
			return 0, false
		}
		n, err := strconv.Atoi(word.Lit())
		return n, err == nil
	}
	offset, ok := number(sl.Offset, 0)
	length, known := number(sl.Length, len(text))
	if !ok || !known || hasUnknown(text) {
		return filtered(text)
	}
	if offset < 0 {
		offset += len(text)
	}
	offset = min(max(offset, 0), len(text))
	end := offset + length
	if length < 0 {
		end = len(text) + length
	}
	return text[offset:min(max(end, offset), len(text))]
}

// replace carries out ${x/a/b}. It knows patterns without special characters.
func (s *shell) replace(text string, r *syntax.Replace) string {
	from, to := s.one(r.Orig), s.one(r.With)
	if len(from) != 1 || len(to) != 1 || hasUnknown(text+from[0]+to[0]) || strings.ContainsAny(from[0], "*?[") || from[0] == "" {
		return filtered(text)
	}
	switch {
	case r.All:
		return strings.ReplaceAll(text, from[0], to[0])
	case from[0][0] == '#':
		if rest, ok := strings.CutPrefix(text, from[0][1:]); ok {
			return to[0] + rest
		}
		return text
	case from[0][0] == '%':
		if rest, ok := strings.CutSuffix(text, from[0][1:]); ok {
			return rest + to[0]
		}
		return text
	}
	return strings.Replace(text, from[0], to[0], 1)
}
