package mutant

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

var (
	// opener begins a line that is no statement of its own, or whose removal says nothing.
	opener = units.Pattern(`^\s*(?:if|for|foreach|while|until|unless|switch|match|when|case|default|else|elif|elsif|except|finally|try|catch|do|with|def|` +
		`class|func|fun|fn|function|var|let|const|val|type|struct|enum|interface|trait|impl|import|package|from|` +
		`export|public|private|protected|internal|static|abstract|final|override|lambda|global|nonlocal|pass|break|continue|fallthrough|assert|end|then|fi|` +
		`done|esac|begin|rescue|ensure|using|namespace|template|typedef|extern|go|defer|select|declare|` +
		`local|readonly|typeset|set|shift|source|trap|yield|goto|lock|guard|async\s+def|async\s+function|[}\])@#.&|+*/?:-])(?:\W|$)`)
	assigned = units.Pattern(`^(\s*)([\w.\[\]"'$\x01, ()*]+?) (?:[-+*/%|&^]|<<|>>)?= (.+)$`)
	call     = units.Pattern(`^\s*(?:await\s+)?[\w.$\[\]():<>*&\x01!?, ]*\w[!?]?\(.*\)$|^\s*\w[\w.\[\]]*(?:\+\+|--)$`)
	returns  = units.Pattern(`^\s*return\b`)
	nothing  = units.Pattern(`^\s*return(?:\s+(?:None|nil|null|undefined))?$`)
	succeeds = units.Pattern(`^\s*(?:exit|return)(?:\s+0)?$`)
	// shellPart is a line of a shell that is a part of more.
	shellPart = units.Pattern(`\{$|;;|<<|^[^(]*\)$`)
	// shellGoesOn ends a line of a shell that is continued by the next.
	shellGoesOn = units.Pattern(`(?:\\|\||&&)\s*$`)
	raises      = units.Pattern(`^\s*(?:raise|throw)\b`)
	// declares is a declaration, in languages that have no word for it: int x = 1.
	declares = units.Pattern(`^\s*[\w:<>\[\],.*&]+ [*&]?\w+(?:\[\w*\])? = |:=`)
	// continued ends a line whose statement goes on, and continues begins one.
	continued = units.Pattern(`(?:[(\[{,=+*/&|.?:\\<-]|\b(?:and|or|not|return|in|is))$`)
	continues = units.Pattern(`^\s*(?:[.)\]+*/&|?:=,]|and\b|or\b|&&|\|\|)`)
)

// statement removes a statement of one line.
func (f *file) statement(i int) {
	code := strings.TrimRight(f.lines[i].code, " \t\r")
	bare := strings.TrimSuffix(code, ";")
	if opener().MatchString(code) || logged().MatchString(code) || !balanced(code) || !f.isAlone(i) {
		return
	}
	indent := indentOf(f.lines[i].text)
	now := indent + f.empty
	switch {
	case returns().MatchString(code):
		if !f.loose() && (f.name != "go" || len(indent) < len("\t\t")) || nothing().MatchString(bare) {
			return // the compiler wants the last one of a function
		}
	case raises().MatchString(code):
	case f.name == "shell":
		if shellPart().MatchString(code) || succeeds().MatchString(code) {
			return
		}
	case call().MatchString(bare):
	case assigned().MatchString(bare) && !declares().MatchString(bare):
		if f.name == "go" {
			now = f.discarded(i)
		}
	default:
		return
	}
	if strings.TrimSpace(now) == "" {
		now = ""
	}
	f.add(RemovedStatement, i, i+1, now)
}

// loose reports whether a function may end without a return in the language.
func (f *file) loose() bool {
	return f.name == "python" || f.name == "javascript" || f.name == "ruby" || f.name == "php" || f.name == "shell" || f.name == "lua"
}

// discarded returns an assignment in Go whose values go nowhere, so that what it uses stays used.
func (f *file) discarded(i int) string {
	part := assigned().FindStringSubmatchIndex(f.lines[i].code)
	names := strings.Count(f.lines[i].code[part[4]:part[5]], ",") + 1
	return f.lines[i].text[:part[3]] + strings.TrimSuffix(strings.Repeat("_, ", names), ", ") + " = " + f.lines[i].text[part[6]:]
}

// isAlone reports whether a statement is on one line.
func (f *file) isAlone(i int) bool {
	code := strings.TrimSpace(f.lines[i].code)
	if f.empty == ";" && !strings.HasSuffix(code, ";") && f.name != "javascript" && f.name != "typescript" {
		return false
	}
	if f.name == "shell" {
		return !shellGoesOn().MatchString(f.lines[i].text) && (i == 0 || !shellGoesOn().MatchString(f.lines[i-1].text))
	}
	if continued().MatchString(code) || strings.HasPrefix(code, "\x01") || i == 0 {
		return false
	}
	before := strings.TrimSpace(f.lines[i-1].code)
	opensBlock := f.braces && strings.HasSuffix(before, "{") || f.indent && strings.HasSuffix(before, ":") && balanced(before)
	if !opensBlock && continued().MatchString(before) {
		return false
	}
	return i+1 >= len(f.lines) || f.name == "python" || !continues().MatchString(f.lines[i+1].code)
}

// A function has its head on the lines from head to body-1, and its statements from body to end-1.
type function struct {
	head, body, end int
	text            string // the head as one line
}

// functions empties the bodies of functions that changed altogether, and lets the others return
// before a statement that changed.
func (f *file) functions() {
	for i := range f.lines {
		fn, ok := f.functionAt(i)
		if !ok {
			continue
		}
		value, ok := f.returned(fn)
		if !ok {
			continue
		}
		statements, all := 0, true
		for at := fn.body; at < fn.end; at++ {
			if strings.TrimSpace(f.lines[at].code) != "" {
				statements++
				all = all && f.changed(at+1)
			}
		}
		indent := indentOf(f.lines[fn.body].text)
		switch {
		case statements == 0:
		case all && f.guards():
			f.add(EmptiedBody, fn.body, fn.body+1, indent+value+"\n"+f.lines[fn.body].text)
		case all:
			f.add(EmptiedBody, fn.body, fn.end, indent+value)
		}
		f.early(fn, indent, value)
	}
}

// early returns before the first changed statement that is not the first of the function.
func (f *file) early(fn function, indent, value string) {
	for at := fn.body + 1; at < fn.end; at++ {
		text := f.lines[at].text
		if !f.changed(at+1) || indentOf(text) != indent || returns().MatchString(text) || continues().MatchString(f.lines[at].code) ||
			strings.Trim(f.lines[at].code, " \t\r})];\x01") == "" || strings.Trim(f.lines[at-1].code, " \t\r\x01") == "" && f.lines[at-1].text != "" {
			continue
		}
		if before := strings.TrimSpace(f.lines[at-1].code); before != "" && continued().MatchString(before) {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(text), "}") || clause().MatchString(text) {
			continue
		}
		f.add(EarlyReturn, at, at+1, indent+value+"\n"+text)
		return
	}
}

// clause begins a part of a statement that began above it.
var clause = units.Pattern(`^\s*(?:else|elif|elsif|except|finally|case|when|in|rescue|ensure|end|catch|default)\b`)

// guards reports whether statements after a return are an error, or found by common checks.
func (f *file) guards() bool { return f.name == "go" || f.name == "java" || f.name == "c#" }

var (
	pythonDef = units.Pattern(`^\s*(?:async\s+)?def\s+\w+`)
	rubyDef   = units.Pattern(`^\s*def\s+\S+`)
	shellFunc = units.Pattern(`^\s*(?:function\s+)?[\w-]+\s*(?:\(\s*\))?\s*\{\s*$`)
	control   = units.Pattern(`(?:^|[\s}])(?:if|for|while|switch|catch|else|match|when|foreach|using|lock|synchronized|with|try|do|select|guard|unless|until|` +
		`loop|return|new)\s*$|(?:^|\s)(?:if|else|switch|while|for)\s`)
	methodHead = units.Pattern(`^\s*(?:(?:public|private|protected|internal|static|async|get|set|override|readonly|final|abstract|virtual|inline|const|export|` +
		`default)\s+)*[*#]?[\w$]+\s*(?:<[^>]*>)?$`)
	typedHead = units.Pattern(`^\s*[\w<>\[\],.\s*&:~?]+[\s*&>\]][\w:~]+$`)
)

// functionAt returns the function whose head ends on a line.
func (f *file) functionAt(i int) (function, bool) {
	fn := function{head: i, body: i + 1, text: f.lines[i].code}
	code := strings.TrimRight(f.lines[i].code, " \t\r")
	switch {
	case len(code) > longest:
		return fn, false
	case f.indent:
		if !pythonDef().MatchString(code) {
			return fn, false
		}
		for fn.body < min(len(f.lines), i+maxHead) && !(strings.HasSuffix(strings.TrimRight(fn.text, " \t\r"), ":") && balanced(fn.text)) {
			fn.text += " " + f.lines[fn.body].code
			fn.body++
		}
		return f.indented(fn)
	case f.name == "ruby":
		if !rubyDef().MatchString(code) || strings.Contains(code, " = ") {
			return fn, false
		}
		return f.indented(fn)
	case f.name == "shell":
		return f.braced(fn, shellFunc().MatchString(code) && !strings.HasPrefix(strings.TrimSpace(code), "{"))
	case !f.braces || !strings.HasSuffix(code, "{"):
		return fn, false
	}
	for fn.head > 0 && !balanced(fn.text[:strings.LastIndex(fn.text, "{")]) && i-fn.head < maxHead {
		fn.head--
		fn.text = f.lines[fn.head].code + " " + fn.text
	}
	return f.braced(fn, f.isHead(fn.text))
}

// maxHead and maxBody are how many lines the head and the body of a function have at most.
const maxHead, maxBody = 20, 2000

// isHead reports whether a text, up to the brace, is the head of a function.
func (f *file) isHead(text string) bool {
	text = strings.TrimSpace(text[:strings.LastIndex(text, "{")])
	open := f.parameters(text)
	if open < 0 {
		return false
	}
	before := strings.TrimSpace(text[:open])
	switch f.name {
	case "go", "swift":
		return strings.Contains(text, "func ") || strings.Contains(text, "func(")
	case "rust":
		return strings.Contains(" "+before, " fn ")
	case "kotlin":
		return strings.Contains(" "+before, " fun ")
	case "scala":
		return strings.Contains(" "+before, " def ")
	case "php":
		return strings.Contains(" "+before, "function")
	case "javascript", "typescript":
		if strings.HasSuffix(text, "=>") || strings.Contains(before, "function") {
			return true
		}
		return methodHead().MatchString(before) && !control().MatchString(before)
	}
	return typedHead().MatchString(before) && !control().MatchString(before) && !strings.Contains(before, "=")
}

// parameters returns the offset of the bracket before the parameters: of the first pair that is
// not a receiver; -1 without one.
func (f *file) parameters(text string) int {
	from := 0
	if f.name == "go" {
		if strings.HasPrefix(text, "func (") {
			if from = closing(text, len("func ")); from < 0 {
				return -1
			}
		} else if at := strings.LastIndex(text, "func("); at >= 0 && !strings.HasPrefix(text, "func ") {
			return at + len("func")
		}
	}
	if f.name == "javascript" || f.name == "typescript" {
		if strings.HasSuffix(text, "=>") {
			return f.arrow(text)
		}
	}
	if at := strings.IndexByte(text[from:], '('); at >= 0 {
		return from + at
	}
	return -1
}

// arrow returns the offset of the parameters of the last arrow function.
func (f *file) arrow(text string) int {
	for at := len(text) - 1; at >= 0; at-- {
		if text[at] == '(' && closing(text, at) > 0 && !strings.Contains(text[closing(text, at):len(text)-2], "(") {
			return at
		}
	}
	return max(strings.LastIndexAny(text, "(=,"), 0) // of one name without brackets
}

// indented ends the body at the first line that is not indented more than the head.
func (f *file) indented(fn function) (function, bool) {
	depth := len(indentOf(f.lines[fn.head].text))
	fn.end = fn.body
	for at := fn.body; at < min(len(f.lines), fn.body+maxBody); at++ {
		l := f.lines[at]
		if strings.TrimSpace(l.text) == "" || strings.Trim(l.code, " \t\r\x01") == "" && fn.end == at {
			if strings.TrimSpace(l.text) != "" {
				fn.end = at + 1
				fn.body = at + 1 // what documents the function stays
			}
			continue
		}
		if len(indentOf(l.text)) <= depth && l.code != "" && l.code[0] != inString {
			break
		}
		fn.end = at + 1
	}
	return fn, fn.body < fn.end && fn.end <= len(f.lines)
}

// braced ends the body at the brace that closes it.
func (f *file) braced(fn function, ok bool) (function, bool) {
	if !ok {
		return fn, false
	}
	depth := 1
	for at := fn.body; at < min(len(f.lines), fn.body+maxBody); at++ {
		for _, c := range f.lines[at].code {
			switch c {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 {
				fn.end = at
				return fn, fn.body < fn.end
			}
		}
	}
	return fn, false
}
