package forge

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// The marks around ralph's part of a pull request's text. The first has a hash of the title that
// ralph gave.
const (
	ownBegin = "<!-- ralph:begin "
	ownEnd   = "<!-- ralph:end -->"
	// strengthBegin is before what a proof found out, at the end of ralph's part.
	strengthBegin = "<!-- ralph:strength -->"
)

var ownPart = units.Pattern(`(?s)<!-- ralph:begin ([0-9a-f]{16}) -->\n(.*?)\n?<!-- ralph:end -->`)

// sign returns ralph's part of a text with its marks.
func sign(body, title string) string {
	return ownBegin + hash(title) + " -->\n" + withoutMarks(body) + "\n" + ownEnd
}

// withoutMarks returns a text that ends no part of ralph's.
func withoutMarks(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "<!-- ralph:", "<!-- "), "\r\n", "\n")
}

func hash(title string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(title)))[:16] }

// action is the beginning of a line that GitLab carries out as the person who sends the text,
// such as "/merge" or "/approve".
var action = units.Pattern(`(?m)^([ \t]*)/`)

// withoutActions returns a text in which GitLab finds no such line. On its page nothing changes,
// except in code.
func withoutActions(text string) string { return action().ReplaceAllString(text, `$1\/`) }

// draftPrefix is how GitLab marks a draft.
const draftPrefix = "Draft: "

// replaceOwn returns the text and the title that a pull request should have, and whether they
// differ from what it has.
func replaceOwn(r Request, d Draft) (body, title string, differ bool) {
	there := strings.ReplaceAll(r.body, "\r\n", "\n") // as web pages send it
	at := ownPart().FindStringSubmatchIndex(there)
	if at == nil {
		return r.body, r.title, false // a person removed it, or made the pull request
	}
	given, bare := there[at[2]:at[3]], r.title
	prefix := ""
	if r.program == glab {
		d.Body = withoutActions(d.Body)
	}
	if r.program == glab && strings.HasPrefix(bare, draftPrefix) {
		prefix, bare = draftPrefix, strings.TrimPrefix(bare, draftPrefix)
	}
	if hash(bare) != given { // a person changed it
		d.Title = bare
	}
	part := sign(d.Body, d.Title)
	if d.Title == bare && hash(bare) != given {
		part = strings.Replace(part, hash(bare), given, 1) // it remains the person's
	}
	body, title = there[:at[0]]+part+there[at[1]:], prefix+d.Title
	return body, title, body != there || title != r.title
}

// withStrength returns the text that a pull request should have with what a proof found out, and
// whether it differs from what it has.
func withStrength(r Request, said string) (body string, differ bool) {
	there := strings.ReplaceAll(r.body, "\r\n", "\n")
	at := ownPart().FindStringSubmatchIndex(there)
	if at == nil {
		return r.body, false
	}
	if r.program == glab {
		said = withoutActions(said)
	}
	own, _, _ := strings.Cut(there[at[4]:at[5]], strengthBegin)
	body = there[:at[4]] + strings.TrimRight(own, "\n") + "\n\n" + strengthBegin + "\n" + strings.TrimSpace(withoutMarks(said)) + "\n" + ownEnd + there[at[1]:]
	return body, body != there
}
