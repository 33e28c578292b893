package shellguard

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A shell carries out a text without effects.
type shell struct {
	*judgement
	state
	running *running
}

// state is what a subshell gets a copy of.
type state struct {
	dir     string // empty: unknown
	vars    map[string]value
	funcs   map[string]*syntax.Stmt
	unsure  map[string]bool   // functions that are defined in a branch that may not run
	files   map[string]string // what this text has written, by absolute path; subshells share it
	params  []string          // $1 and following
	given   bool              // params are known
	maybe   int               // >0: in a branch that may not run
	calling []string          // functions that are running
	quiet   bool              // the output becomes variables and is not shown
}

// A value is all that a variable may contain: one of several texts, or a list.
type value struct {
	any  []string
	list []string
}

// input is what a command reads: nothing, or text that may have unknown parts.
type input struct {
	text  string
	given bool
}

func from(text string) input { return input{text, true} }

const maxAlternatives = 64

// fork returns a copy of a shell, as a subshell is one.
func (s *shell) fork() *shell {
	s.spend(1 + (len(s.vars)+len(s.funcs))/8)
	sub := *s
	sub.vars, sub.funcs, sub.unsure = maps.Clone(s.vars), maps.Clone(s.funcs), maps.Clone(s.unsure)
	return &sub
}

// script judges a text that this shell runs, and returns what it would print.
func (s *shell) script(text string, in input) string {
	if strings.TrimSpace(text) == "" || !s.enter() {
		return ""
	}
	defer s.leave()
	s.spend(len(text) / 64)
	if isComputed(text) {
		s.unknown(Printable(text), "a part of it "+notCarriedOut)
	}
	file, err := parse(text)
	if err != nil {
		what := "it is no shell text (" + strings.TrimSpace(err.Error()) + ")"
		if errors.Is(err, errTooLong) {
			what = err.Error()
		}
		s.unknown(Printable(text), what)
		return unknown
	}
	return s.stmts(file.Stmts, in)
}

// nested judges a text that another shell runs, such as that of sh -c.
func (s *shell) nested(text string, params []string, in input) string {
	sub := s.fork()
	sub.params, sub.given = params, true
	sub.maybe, sub.running = 0, &running{}
	return sub.script(text, in)
}

func (s *shell) stmts(list []*syntax.Stmt, in input) string {
	var printed strings.Builder
	for _, stmt := range list {
		printed.WriteString(s.stmt(stmt, in))
	}
	if !s.spend(printed.Len() / 256) {
		return unknown
	}
	return printed.String()
}

// stmt judges one statement, and returns what it would print.
func (s *shell) stmt(stmt *syntax.Stmt, in input) string {
	if stmt == nil || !s.enter() {
		return ""
	}
	defer s.leave()
	outer := s.running
	s.running = &running{words: []string{describe(stmt)}}
	in, targets := s.redirects(stmt.Redirs, in)
	s.running = outer
	printed := s.command(stmt.Cmd, in)
	for _, target := range targets {
		s.keep(target, printed)
		printed = ""
	}
	return printed
}

// describe names a statement in a verdict on its redirections.
func describe(stmt *syntax.Stmt) string {
	var b strings.Builder
	if len(stmt.Redirs) == 0 || syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, stmt) != nil {
		return ""
	}
	return b.String()
}

func (s *shell) command(cmd syntax.Command, in input) string {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return s.call(c, in)
	case *syntax.BinaryCmd:
		return s.binary(c, in)
	case *syntax.Subshell:
		return s.fork().stmts(c.Stmts, in)
	case *syntax.Block:
		return s.stmts(c.Stmts, in)
	case *syntax.FuncDecl:
		s.define(c)
	case *syntax.DeclClause:
		s.declare(c)
	case *syntax.TimeClause:
		return s.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		return s.stmt(c.Stmt, in)
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		s.maybe++
		defer func() { s.maybe-- }()
		return s.branches(c, in)
	case nil:
		if in.given { // $(< file)
			return in.text
		}
	default: // tests and arithmetic run only what is substituted in them
		s.substitutions(cmd)
	}
	return ""
}

func (s *shell) branches(cmd syntax.Command, in input) string {
	switch c := cmd.(type) {
	case *syntax.IfClause:
		var printed strings.Builder
		for ; c != nil; c = c.Else {
			printed.WriteString(s.stmts(c.Cond, in))
			printed.WriteString(s.stmts(c.Then, in))
		}
		return printed.String()
	case *syntax.WhileClause:
		return s.stmts(c.Cond, in) + s.stmts(c.Do, in)
	case *syntax.ForClause:
		if words, ok := c.Loop.(*syntax.WordIter); ok {
			items := s.params
			if words.InPos.IsValid() {
				items = s.fields(words.Items)
			} else if !s.given {
				items = []string{unknown}
			}
			s.assign(words.Name.Value, value{any: atMost(items)}, true)
		} else {
			s.substitutions(c.Loop)
		}
		return s.stmts(c.Do, in)
	case *syntax.CaseClause:
		s.fields([]*syntax.Word{c.Word})
		var printed strings.Builder
		for _, item := range c.Items {
			printed.WriteString(s.stmts(item.Stmts, in))
		}
		return printed.String()
	}
	return ""
}

// atMost keeps as many alternatives as are judged. If there are more, one is unknown.
func atMost(items []string) []string {
	if len(items) <= maxAlternatives {
		return items
	}
	return append(slices.Clone(items[:maxAlternatives]), unknown)
}

// binary judges a chain of pipes, && and ||. It is flat, because the tree of a chain is as deep as
// the chain is long.
func (s *shell) binary(cmd *syntax.BinaryCmd, in input) string {
	chain := []*syntax.BinaryCmd{cmd}
	for {
		left, ok := cmd.X.Cmd.(*syntax.BinaryCmd)
		if !ok || len(cmd.X.Redirs) > 0 {
			break
		}
		cmd = left
		chain = append(chain, cmd)
	}
	printed := s.side(cmd, cmd.X, in)
	for _, c := range slices.Backward(chain) {
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			printed = s.fork().stmt(c.Y, from(printed))
			continue
		}
		s.maybe++
		printed += s.stmt(c.Y, in)
		s.maybe--
		if !s.spend(len(printed) / 256) {
			return ""
		}
	}
	return printed
}

func (s *shell) side(cmd *syntax.BinaryCmd, stmt *syntax.Stmt, in input) string {
	if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
		return s.fork().stmt(stmt, in)
	}
	return s.stmt(stmt, in)
}

// redirects judges the files that a statement opens. It returns the statement's input, and the
// files that its output goes to.
func (s *shell) redirects(redirs []*syntax.Redirect, in input) (input, []string) {
	var targets []string
	for _, r := range redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = from("")
			if r.Hdoc != nil {
				in = from(s.hereDocument(r))
			}
			continue
		case syntax.WordHdoc:
			in = from(strings.Join(s.fields([]*syntax.Word{r.Word}), " ") + "\n")
			continue
		}
		for _, name := range s.fields([]*syntax.Word{r.Word}) {
			if isComputed(name) {
				s.cannotJudge("the name of a file " + notCarriedOut)
			}
			switch r.Op {
			case syntax.DplIn, syntax.DplOut:
				if r.Op == syntax.DplIn || strings.Trim(name, "0123456789-") == "" {
					continue
				}
				s.write(name)
				targets = append(targets, name)
			case syntax.RdrIn:
				s.read(name)
				in = from(s.content(name))
			case syntax.RdrInOut:
				s.write(name)
				in = from(s.content(name))
			default:
				s.write(name)
				targets = append(targets, name)
			}
		}
	}
	return in, targets
}

// hereDocument returns the text of a here-document. It is literal if its delimiter is quoted.
func (s *shell) hereDocument(r *syntax.Redirect) string {
	for _, part := range r.Word.Parts {
		if lit, ok := part.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			var b strings.Builder
			for _, part := range r.Hdoc.Parts {
				if lit, ok := part.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
			return b.String()
		}
	}
	return strings.Join(s.alternatives(r.Hdoc.Parts, document), "\n")
}

// keep remembers what this text has written to a file.
func (s *shell) keep(file, text string) {
	if at := s.absolute(file); at != "" && !strings.HasPrefix(at, "/dev/") {
		s.files[at] += text
		s.spend(len(s.files[at]) / 256)
	}
}

// content returns the text of a file: known if this text has written it.
func (s *shell) content(file string) string {
	if text, ok := s.files[s.absolute(file)]; ok {
		return text
	}
	return unknown
}

// define remembers a function, and reports one that starts itself more than once.
func (s *shell) define(f *syntax.FuncDecl) {
	names := f.Names
	if f.Name != nil {
		names = append(names, f.Name)
	}
	for _, name := range names {
		s.funcs[name.Value] = f.Body
		s.unsure[name.Value] = s.maybe > 0
		if starts(f.Body, name.Value) {
			s.running = &running{words: []string{name.Value + "() { … }"}}
			s.deny(ForkBomb, "the function "+name.Value+" starts copies of itself until the machine has no processes left. Do not define it.")
		}
	}
	if len(names) == 0 {
		s.stmt(f.Body, input{})
	}
}

// starts reports whether a function starts itself in a pipe or in the background.
func starts(body *syntax.Stmt, name string) bool {
	found := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && (calls(n.X, name) || calls(n.Y, name))
		case *syntax.Stmt:
			found = found || n.Background && calls(n, name)
		}
		return !found
	})
	return found
}

func calls(stmt *syntax.Stmt, name string) bool {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && (call.Args[0].Lit() == name || call.Args[0].Lit() == "$0")
}

// absolute returns the cleaned path of a file; empty if its beginning is unknown.
func (s *shell) absolute(file string) string {
	switch {
	case file == "" || isUnknown(file[0]):
		return ""
	case strings.HasPrefix(file, "/"):
		return path.Clean(file)
	case s.dir == "":
		return ""
	}
	return path.Join(s.dir, file)
}
