package repo

import (
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// MessagePrompt asks an agent for the message of the commit that is about to be made.
const MessagePrompt = `The changes of this iteration are about to be committed. Write the commit message: one short line in the imperative mood that says what the changes do. Change no file. Answer with that line and nothing else, between <response> and </response>.
`

const maxMessage = 2000 // characters

var (
	responseStart = units.Pattern(`(?i)<response\s*>`)
	responseEnd   = units.Pattern(`(?i)</response\s*>`)
	fenced        = units.Pattern("(?s)^(```+|~~~+)[^\n`]*\n(.*?)\n?[ \t]*(```+|~~~+)$")
	fenceLine     = units.Pattern("^(```+|~~~+)[^`\\s]*$")
	// Terminal codes: CSI with its parameters, OSC up to its end.
	escapes = units.Pattern("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)?")
)

// quotes are pairs of marks that may enclose a message and are not part of it.
var quotes = [][2]string{{"```", "```"}, {"``", "``"}, {"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"„", "“"}, {"‘", "’"}, {"«", "»"}, {"**", "**"}}

// Message finds the commit message in what an agent said: the text of the first
// <response>…</response>, in any case of letters, else the first line that is not empty. Enclosing
// fences, backticks and quotes, and all control characters, are removed, and it ends after 2,000
// characters. If nothing is left, the error is ErrNoMessage.
func Message(said string) (string, error) {
	said = clean(said)
	if start := responseStart().FindStringIndex(said); start != nil {
		after := said[start[1]:]
		if end := responseEnd().FindStringIndex(after); end != nil {
			return checkMessage(unwrap(after[:end[0]]))
		}
		said = said[:start[0]] + after // the tag is not closed: remove it
	}
	for line := range strings.SplitSeq(unwrap(said), "\n") {
		if line = strings.TrimSpace(line); line != "" && !fenceLine().MatchString(line) {
			return checkMessage(unwrap(line))
		}
	}
	return "", ErrNoMessage
}

func checkMessage(message string) (string, error) {
	message = units.Cut(message, maxMessage)
	if !strings.ContainsFunc(message, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return "", ErrNoMessage
	}
	return message, nil
}

// unwrap removes the quotes around the text, layer by layer.
func unwrap(s string) string {
	for {
		s = strings.TrimSpace(s)
		inner := s
		if m := fenced().FindStringSubmatch(s); m != nil && !strings.Contains(m[2], m[1]) {
			inner = m[2]
		}
		for _, q := range quotes {
			rest, opens := strings.CutPrefix(s, q[0])
			rest, closes := strings.CutSuffix(rest, q[1])
			// In 'a' and 'b' the outer quotes are no pair.
			if inner == s && opens && closes && !strings.Contains(rest, q[0]) && !strings.Contains(rest, q[1]) {
				inner = rest
			}
		}
		if inner == s {
			return s
		}
		s = inner
	}
}

// clean keeps only text and newlines. It also removes the marks that change the order in which a
// line is shown.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = escapes().ReplaceAllString(s, "")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\t", " ").Replace(s)
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\ufeff' {
			return -1
		}
		return r
	}, s)
}

// tidy is clean for one line.
func tidy(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(clean(s), "\n", " "))
}
