package shellguard

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign sets a variable. In a branch that may not run, the old values remain possible.
func (s *shell) assign(name string, v value, isLoop bool) {
	if old, ok := s.vars[name]; ok && s.maybe > 0 && !isLoop && v.list == nil {
		v.any = atMost(append(v.any, old.any...))
	}
	const longest = 1 << 16 // doubling it again and again must not fill the memory
	for i, text := range v.any {
		if len(text) > longest {
			v.any = slices.Clone(v.any)
			v.any[i] = unknown
		}
	}
	s.vars[name] = v
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
		v.any = s.products(old.any, v.any)
	case a.Append && old.list == nil:
		v.any = s.products(s.lookUp(name).any, v.any)
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
		if names && d.Variant.Value != "export" {
			s.cannotJudge("it makes a variable another name of one")
		}
		if !a.Naked {
			s.assignment(a)
			s.environment(a.Name.Value, s.vars[a.Name.Value].any)
		}
	}
	s.quiet = quiet
}

// lookUp returns the values of a variable.
func (s *shell) lookUp(name string) value {
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
	switch {
	case p.Param == nil || p.Names != 0 || p.Flags != nil || len(p.Modifiers) > 0:
		return value{any: []string{unknown}}
	case p.Length || p.Width || p.IsSet:
		return value{any: []string{"7"}}
	}
	v := s.lookUp(p.Param.Value)
	switch {
	case p.Excl:
		v = v.derived()
	case v.list != nil:
		v = elements(p, v)
	}
	set := len(v.any) > 0 || v.list != nil
	switch {
	case p.Exp != nil:
		return s.modified(p, v, set)
	case set && (p.Slice != nil || p.Repl != nil) && v.list == nil:
		return v.derived()
	case set:
		return v
	case temporary[p.Param.Value]:
		return value{any: []string{"/tmp/tmpdir/folder"}}
	case quoted:
		return value{any: []string{unknown}}
	}
	return value{any: []string{splitting}}
}

// derived is what an expansion makes of a value that is not carried out.
func (v value) derived() value {
	var all value
	for _, text := range v.any {
		if hasUnknown(text) {
			all.any = append(all.any, filtered(text))
		} else {
			all.any = append(all.any, computed)
		}
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
	case p.Param.Value == "@" || p.Param.Value == "*" || subscript(p) == "@" || subscript(p) == "*":
		return v
	case p.Index == nil:
		return value{any: slices.Clone(v.list[:min(1, len(v.list))])}
	}
	if i, err := strconv.Atoi(subscript(p)); err == nil && i >= 0 && i < len(v.list) {
		return value{any: []string{v.list[i]}}
	}
	return value{any: atMost(v.list)}
}

// modified carries out ${x:-word}, ${x%pattern} and their like.
func (s *shell) modified(p *syntax.ParamExp, v value, set bool) value {
	switch op := p.Exp.Op; op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if !set || len(v.any) == 1 && v.any[0] == "" {
			v = value{any: s.one(p.Exp.Word)}
			if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
				s.assign(p.Param.Value, v, false)
			}
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return value{any: append([]string{""}, s.one(p.Exp.Word)...)}
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if set {
			return v
		}
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if set {
			pattern := s.one(p.Exp.Word)
			all := value{list: v.list}
			for _, text := range v.any {
				all.any = append(all.any, cutPattern(text, op, pattern))
			}
			return all
		}
	default:
		if set {
			return v.derived()
		}
	}
	return value{any: []string{unknown}}
}

// cutPattern removes what a pattern matches at one end of a text; * matches a slash too.
func cutPattern(text string, op syntax.ParExpOperator, patterns []string) string {
	const most = 4096
	if len(patterns) != 1 || hasUnknown(text+patterns[0]) || len(text) > most {
		return filtered(text)
	}
	pattern, flat := strings.ReplaceAll(patterns[0], "/", gap), strings.ReplaceAll(text, "/", gap)
	for i := range len(text) + 1 {
		n := i
		if op == syntax.RemLargeSuffix || op == syntax.RemLargePrefix {
			n = len(text) - i
		}
		if op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix {
			n = len(text) - n
			if ok, _ := path.Match(pattern, flat[n:]); ok {
				return text[:n]
			}
		} else if ok, _ := path.Match(pattern, flat[:n]); ok {
			return text[n:]
		}
	}
	return text
}
