package repo

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, said, want string }{
		{"the response", "Here it is: <response>Add a door</response>\nBye", "Add a door"},
		{"in capitals and with spaces", "<RESPONSE >\n  Add a door  \n</Response>", "Add a door"},
		{"the first of two", "<response>Add a door</response><response>Add a wall</response>", "Add a door"},
		{"a response with a body", "<response>Add a door\n\nIt opens to both sides.</response>", "Add a door\n\nIt opens to both sides."},
		{"a response across Windows lines", "<response>\r\nAdd\r\nB\r\n</response>", "Add\nB"},
		{"a response that is never closed", "<response>Add a door\nmore", "Add a door"},
		{"the first line that is not empty", "\n \n  Add a door \nI hope you like it", "Add a door"},
		{"a fence around everything", "```\nAdd a door\n```", "Add a door"},
		{"a fence with a language", "```text\nAdd a door\n```\n", "Add a door"},
		{"a fence inside the response", "<response>\n```\nAdd a door\n\nBody\n```\n</response>", "Add a door\n\nBody"},
		{"a response inside a fence", "```\n<response>Add a door</response>\n```", "Add a door"},
		{"a fence and an explanation", "```\nAdd a door\n```\nThis tells it all.", "Add a door"},
		{"backticks", "`Add a door`", "Add a door"},
		{"quotes in bold", "**\"Add a door\"**", "Add a door"},
		{"quotes of a language", "„Add a door“", "Add a door"},
		{"quotes inside stay", `Rename "door" to "gate"`, `Rename "door" to "gate"`},
		{"two quoted words are no quoted message", `"door" becomes "gate"`, `"door" becomes "gate"`},
		{"code at both ends", "`door` becomes `gate`", "`door` becomes `gate`"},
		{"an apostrophe", "Don't open the door", "Don't open the door"},
		{"a leading dash", "-m Add a door", "-m Add a door"},
		{"a leading number sign", "#12: add a door", "#12: add a door"},
		{"terminal codes", "\x1b[1mAdd\x1b[0m a\x00 \x1b]0;title\x07door\x7f", "Add a door"},
		{"text in another order than it shows", "Add \u202ea door", "Add a door"},
		{"bytes that are no text", "Add \xff\xfea door", "Add a door"},
		{"another alphabet", "Дверь", "Дверь"},
	} {
		if got, err := Message(c.said); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	for _, none := range []string{"", "\n \t\n", "<response></response>", "<response> \n </response> Add a door", "```\n```", "\"\"", "``` ```", "<response>\"\"</response>", "…", "\x1b[0m"} {
		if got, err := Message(none); !errors.Is(err, ErrNoMessage) || got != "" {
			t.Errorf("%q: %q, %v", none, got, err)
		}
	}
}

func TestMessageIsBounded(t *testing.T) {
	t.Parallel()
	got, err := Message(strings.Repeat("é", maxMessage+1))
	if n := utf8.RuneCountInString(got); n != maxMessage || !strings.HasSuffix(got, "…") || err != nil {
		t.Errorf("%d characters, %v", n, err)
	}
	whole := strings.Repeat("é", maxMessage)
	if got, err := Message(whole); got != whole || err != nil {
		t.Errorf("what fits was cut: %v", err)
	}
}

func TestMessagePromptMatchesParser(t *testing.T) {
	t.Parallel()
	answer := strings.NewReplacer("<response> and </response>", "<response>Add a door</response>").Replace(MessagePrompt)
	if got, err := Message(answer); got != "Add a door" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzMessage(f *testing.F) {
	for _, said := range []string{"<response>a</response>", "```x\na\n```", "`a`", "\"a\"", "\x1b[0ma", "\u202ea", "<response>", "'''a'''"} {
		f.Add(said)
	}
	f.Fuzz(func(t *testing.T, said string) {
		got, err := Message(said)
		if (err != nil) != (got == "") {
			t.Fatalf("%q, %v", got, err)
		}
		if err == nil && (got != strings.TrimSpace(got) || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxMessage) {
			t.Fatalf("%q", got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Fatalf("%q has control characters", got)
		}
	})
}

func FuzzStatus(f *testing.F) {
	for _, record := range []string{
		"# branch.oid (initial)", "# branch.head main", "1 .M N... 100644 100644 100644 1234 1234 a b\nc",
		"u UU N... 100644 100644 100644 100644 12 34 56 a", "? new/", "! x", "2 R. N... 1 1 1 1 1 R100 a", "? .ralph/x", "# stash 1", "? /",
	} {
		f.Add([]byte(record + "\x00"))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		s, err := parseStatus(out)
		if err != nil {
			return
		}
		for _, e := range s.entries {
			if e.path == "" || strings.ContainsRune(e.path, 0) || IsOwn(e.path) || (e.headID == "") != (e.headMode == "") && e.kind == '?' {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func TestShortstat(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Stat{
		"": {}, " 1 file changed, 1 insertion(+)": {1, 1, 0}, " 2 files changed, 1 deletion(-)": {2, 0, 1},
		" 12 files changed, 345 insertions(+), 6789 deletions(-)": {12, 345, 6789}, " 1 file changed, 0 insertions(+), 0 deletions(-)": {1, 0, 0},
	} {
		if got, err := parseShortstat(line); got != want || err != nil {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"x files changed", "fatal: no", "1 file, -1 insertions(+)"} {
		if got, err := parseShortstat(line); err == nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}
