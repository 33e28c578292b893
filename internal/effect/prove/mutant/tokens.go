package mutant

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

var (
	// skipped are lines that are no behaviour: imports, annotations, types.
	skipped = units.Pattern(`^\s*(?:import\b|from\s+\S+\s+import\b|package\b|use\s|using\s|#\s*(?:include|pragma|if|endif|define)|#\[|@\w|` +
		`export\s+(?:\*|\{|type\b|interface\b)|type\s+\w|interface\s|declare\s|namespace\s|require(?:_relative)?\s|module\s|` +
		`__\w+__\s*=|if\s+__name__|if\s+TYPE_CHECKING|set\s+[-+]|shopt\s|source\s|\.\s)`)
	// message is a line whose texts and numbers are for people: of a log or an error.
	message = units.Pattern(`(?i)\b(?:log(?:ger|ging|rus|f|ln)?|slog|klog|warn(?:ing|f|ln)?|debug\w*|trace|fatal\w*|panic\w*|raise|throw|\w*errorf?|\w*exception|` +
		`assert\w*|errors|die|abort|bail|anyhow|expect|usage|help|doc|description|stderr)\b|\w(?:Error|Exception)\b|>&2`)
	// logged is a statement that writes a log or waits, and nothing else.
	logged = units.Pattern(`(?i)^\s*(?:\w+\.)*(?:log(?:ger|ging)?|slog|klog|logrus|zap|console)\.` +
		`(?:debug|info|warn\w*|error|trace|print\w*|exception|critical|[dwvie])\(|^\s*(?:log|debug|warn)\b|^\s*(?:\w+\.)*sleep\b|\bstderr\b|>&2`)
	// started is the beginning of a script's own run, which tests import past.
	started = units.Pattern(`^if\s+__name__\b`)
	// tuned is a line with a number that changes how long or how much, and nothing that is seen.
	tuned = units.Pattern(`(?i)timeout|sleep|delay|interval|backoff|deadline|retr(?:y|ies)|capacity|buf(?:fer)?|chunk|\bmake\(|with_capacity|` +
		`time\.(?:second|millisecond|minute|hour)|version|seed|setrecursionlimit|perm|chmod|mkdir|indent`)
)

// longest bounds a line in bytes: a longer one is hardly written by hand.
const longest = 500

// isSkipped reports whether a line is no behaviour.
func (f *file) isSkipped(i int) bool {
	code := f.lines[i].code
	bare := strings.Trim(code, " \t\r{}()[];,"+string(rune(inString)))
	return len(code) > longest || bare == "" && !strings.Contains(code, ",") || skipped().MatchString(code)
}

// swaps are tokens and what comes in their place. The languages that each is for have no other
// meaning for it.
var swaps = []struct {
	operator string
	token    func() *regexp.Regexp // its first group is replaced
	now      map[string]string
	fits     func(l *language) bool
}{
	{SwappedComparison, units.Pattern(`(===|!==|==|!=|<=|>=| < | > )`), map[string]string{
		"===": "!==", "!==": "===", "==": "!=", "!=": "==", "<=": "<", ">=": ">", " < ": " <= ", " > ": " >= ",
	}, func(l *language) bool { return l.name != "shell" }},
	{SwappedComparison, units.Pattern(`( not in | in | is not | is )`), map[string]string{
		" not in ": " in ", " in ": " not in ", " is not ": " is ", " is ": " is not ",
	}, func(l *language) bool { return l.name == "python" }},
	{SwappedComparison, units.Pattern(` (-(?:eq|ne|lt|le|gt|ge|z|n)|==?|!=) `), map[string]string{
		"-eq": "-ne", "-ne": "-eq", "-lt": "-le", "-le": "-lt", "-gt": "-ge", "-ge": "-gt", "-z": "-n", "-n": "-z",
		"=": "!=", "==": "!=", "!=": "=",
	}, func(l *language) bool { return l.name == "shell" }},
	{SwappedArithmetic, units.Pattern(`( (?:\+|-|\*|/|%|//) |\+=|-=|\*=|/=|\+\+|--)`), map[string]string{
		" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " * ", " // ": " * ", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
		"++": "--", "--": "++",
	}, func(*language) bool { return true }},
	{SwappedLogic, units.Pattern(`( && | \|\| )`), map[string]string{" && ": " || ", " || ": " && "}, func(*language) bool { return true }},
	{SwappedLogic, units.Pattern(`( and | or )`), map[string]string{" and ": " or ", " or ": " and "}, func(l *language) bool { return l.words }},
	{ChangedConstant, units.Pattern(`\b(true|false|True|False|TRUE|FALSE)\b`), map[string]string{
		"true": "false", "false": "true", "True": "False", "False": "True", "TRUE": "FALSE", "FALSE": "TRUE",
	}, func(l *language) bool { return l.name != "shell" }},
}

// inLine finds the mutants of a part of a line.
func (f *file) inLine(i int) {
	code := f.lines[i].code
	for _, swap := range swaps {
		if !swap.fits(f.language) {
			continue
		}
		for at := 0; at < len(code); {
			found := swap.token().FindStringSubmatchIndex(code[at:])
			if found == nil {
				break
			}
			part := span{at + found[2], at + found[3]}
			at += found[3]
			if now := swap.now[code[part.from:part.to]]; f.isOperator(code, part) {
				f.replace(swap.operator, i, part, now)
			}
		}
	}
	f.numbers(i)
	f.texts(i)
	f.condition(i)
}

var (
	loop       = units.Pattern(`^\s*(?:async\s+)?for\b|[\[({ ]for\s`)
	boolType   = units.Pattern(`:\s*(?:true|false)\s*[|;)]`)
	quotedNext = units.Pattern(`^[rbfuRBFU]{0,2}\x01`)
)

// isOperator reports whether a token is one that computes or compares.
func (f *file) isOperator(code string, part span) bool {
	token := strings.TrimSpace(code[part.from:part.to])
	before, after := strings.TrimRight(code[:part.from], " \t"), strings.TrimLeft(code[part.to:], " \t")
	endsWith := func(chars string) bool { return before == "" || strings.IndexByte(chars, before[len(before)-1]) >= 0 }
	switch token {
	case "+", "-", "*", "/", "%", "//", "+=", "-=", "*=", "/=":
		if f.name == "shell" {
			return strings.Contains(code, "((")
		}
		return !endsWith("\x01(,=") && !quotedNext().MatchString(after) // texts are joined, not added
	case "++", "--":
		return f.braces && f.name != "shell" && !loop().MatchString(code)
	case "||":
		if f.name == "rust" && endsWith("(,=") {
			return false // a closure without parameters
		}
		return !strings.HasPrefix(after, "true") && !strings.HasPrefix(after, ":")
	case "<=", "==", "!=":
		return !strings.HasPrefix(after, ">") && !strings.HasPrefix(after, "=") && !strings.HasSuffix(before, "<")
	case "in", "not in":
		return !loop().MatchString(code)
	case "=":
		return strings.Contains(before, "[") || strings.Contains(before, "test ")
	case "true", "false", "True", "False":
		return !message().MatchString(code) && !boolType().MatchString(code)
	}
	return true
}

var (
	exits    = units.Pattern(`\b(?:exit|return)\b`)
	exitCall = units.Pattern(`(?i)\bexit\(`)
	number   = units.Pattern(`(?:^|[^\w.$'#\x01])(\d{1,15})(?:\.\d+)?(?:[nLuUfFdl]|[ui]\d+|f\d+)?(?:$|[^\w.]|\.\.)`)
)

// numbers adds 1 to numbers.
func (f *file) numbers(i int) {
	code := f.lines[i].code
	if message().MatchString(code) || tuned().MatchString(code) {
		return
	}
	exit := exits().MatchString(code) && f.name == "shell" || exitCall().MatchString(code)
	for at := 0; at < len(code); {
		found := number().FindStringSubmatchIndex(code[at:])
		if found == nil {
			return
		}
		part := span{at + found[2], at + found[3]}
		at += found[3]
		text := code[part.from:part.to]
		value, err := strconv.ParseInt(text, 10, 64)
		isPlain := err == nil && (text == "0" || text[0] != '0')
		if f.name == "shell" && !exit && (strings.ContainsAny(code, "<>&") || strings.HasSuffix(code[:part.from], "{")) {
			isPlain = false // it may be that of a descriptor or an argument
		}
		switch {
		case !isPlain:
		case exit && value > 0: // another failure is hardly another behaviour
			f.replace(ChangedConstant, i, part, "0")
		default:
			f.replace(ChangedConstant, i, part, strconv.FormatInt(value+1, 10))
		}
	}
}

// texts empties strings.
func (f *file) texts(i int) {
	l := f.lines[i]
	if message().MatchString(l.code) || strings.Trim(l.code, " \t\x01rbuf") == "" {
		return // a line of a string alone is a comment
	}
	for _, s := range l.strings {
		if s.to > len(l.text) || s.to-s.from < 2 || l.text[s.to-1] != l.text[s.from] {
			continue // it has no end
		}
		now := ""
		if s.to-s.from == 2 {
			now = "changed"
		}
		f.replace(ChangedConstant, i, span{s.from + 1, s.to - 1}, now)
	}
}

var (
	ifWord   = units.Pattern(`^\s*(?:\}?\s*else\s+)?(?:if|elif|elsif|elseif|unless)\b\s*`)
	ifAfter  = units.Pattern(`\S (if|unless) (.+)$`)
	ternary  = units.Pattern(` if (.+?) else `)
	thenWord = units.Pattern(`;?\s*\bthen\b.*$`)
)

// condition negates the condition of an if.
func (f *file) condition(i int) {
	code := f.lines[i].code
	begin := ifWord().FindStringIndex(code)
	if begin == nil {
		f.conditionInside(i)
		return
	}
	part := span{begin[1], len(strings.TrimRight(code, " \t\r"))}
	switch {
	case f.indent:
		part.to--
		if code[max(part.to, 0)] != ':' {
			return
		}
	case f.name == "shell" || f.name == "lua":
		then := thenWord().FindStringIndex(code)
		if then == nil {
			return
		}
		part.to = then[0]
	case f.bare && f.braces:
		part.to = strings.LastIndex(code, "{")
		if init := strings.LastIndex(code[:max(part.to, 0)], ";"); init >= 0 {
			part.from = init + 1
		}
	case f.braces:
		part.to = closing(code, part.from)
	}
	for part.from < part.to && code[part.from] == ' ' {
		part.from++
	}
	for part.from < part.to && code[part.to-1] == ' ' {
		part.to--
	}
	if part.from >= part.to || !balanced(code[part.from:part.to]) || strings.HasPrefix(code[part.from:], "let ") {
		return
	}
	f.replace(NegatedCondition, i, part, f.negated(f.lines[i].text[part.from:part.to]))
}

// closing returns the offset after the bracket that closes the one at an offset; -1 without one.
func closing(code string, at int) int {
	if at >= len(code) || code[at] != '(' {
		return -1
	}
	depth := 0
	for end := at; end < len(code); end++ {
		switch code[end] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return end + 1
			}
		}
	}
	return -1
}

// conditionInside negates a condition after its statement, or between two values.
func (f *file) conditionInside(i int) {
	l := f.lines[i]
	switch f.name {
	case "python":
		if at := ternary().FindStringSubmatchIndex(l.code); at != nil && balanced(l.code[at[2]:at[3]]) {
			f.replace(NegatedCondition, i, span{at[2], at[3]}, f.negated(l.text[at[2]:at[3]]))
		}
	case "ruby":
		if at := ifAfter().FindStringSubmatchIndex(l.code); at != nil && balanced(l.code[at[4]:at[5]]) {
			f.replace(NegatedCondition, i, span{at[4], at[5]}, f.negated(l.text[at[4]:at[5]]))
		}
	}
}

// negated returns a condition that holds where the other does not.
func (f *file) negated(text string) string {
	switch {
	case f.name == "shell":
		return "! { " + text + "; }"
	case f.name == "python" || f.name == "lua":
		return "not (" + text + ")"
	case f.bare:
		return "!(" + text + ")"
	}
	return "(!" + text + ")"
}
