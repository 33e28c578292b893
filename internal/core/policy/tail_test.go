package policy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestTailKeepsShortText(t *testing.T) {
	var tail policy.Tail
	for range 32 {
		tail.Append([]byte(strings.Repeat("x", 1023) + "\n"))
	}
	if got := tail.String(); len(got) != 32<<10 {
		t.Errorf("of 32 KiB, %d bytes are kept", len(got))
	}
}

func TestTailBeginsAtLine(t *testing.T) {
	for name, line := range map[string]string{
		"short lines":           "short\n",
		"lines of many bytes":   strings.Repeat("x", 700) + "\n",
		"letters of many bytes": "日本語のテキスト\n",
	} {
		t.Run(name, func(t *testing.T) {
			var tail policy.Tail
			for range 2 * 32 << 10 / len(line) {
				tail.Append([]byte(line))
				got := tail.String()
				if !strings.HasPrefix(got, line) || !strings.HasSuffix(got, line) {
					t.Fatalf("the tail is %.20q … and %d bytes long", got, len(got))
				}
			}
			if n := len(tail.String()); n < 16<<10 || n > 32<<10 {
				t.Errorf("%d bytes are kept, which is not between 16 and 32 KiB", n)
			}
		})
	}
}

func TestTailCutsLongLine(t *testing.T) {
	var tail policy.Tail
	for range 20_000 {
		tail.Append([]byte("日本"))
	}
	got := tail.String()
	if !utf8.ValidString(got) || !strings.HasPrefix(got, "…") || strings.Trim(got[len("…"):], "日本") != "" {
		t.Errorf("the tail begins %.20q", got)
	}
	if n := len(got); n < 16<<10 || n > 32<<10 {
		t.Errorf("%d bytes are kept", n)
	}
}

// The position of the cut decides what the rest of a line looks like.
func TestTailMarksCutLine(t *testing.T) {
	for name, begins := range map[string]string{
		"it is no indented code": "    ",
		"it opens no fence":      "~~~",
		"it is no item":          "- ~~~ ",
	} {
		t.Run(name, func(t *testing.T) {
			rest := begins + strings.Repeat("b", 16<<10-len(begins)-len(" "+marker)) + " " + marker
			c := hear(t, final, says("1.0", strings.Repeat("a", 20_000)+rest))
			if got := c.Claim(final); got != "promise" {
				t.Errorf("%.20q claims %q", c.Text.String(), got)
			}
		})
	}
}

func TestTailKeepsEndOfLine(t *testing.T) {
	var tail policy.Tail
	tail.Append([]byte(strings.Repeat("no line ends here; ", 4000) + marker + "\n"))
	if !strings.HasSuffix(tail.String(), marker+"\n") {
		t.Errorf("the tail is %d bytes and ends %q", len(tail.String()), tail.String())
	}
}

// words are the parts of Markdown that matter for a claim.
var words = []string{
	"a line\n", "\n", "```\n", "```go\n", "````\n", "~~~\n", "- ```\n", "  ```\n", "    code\n", "> quoted\n", "`span` ", "`", "- ", "1. ",
	marker + "\n", marker, "<response>done</response>\n", "<response>DONE</response>", "<response>NO</response>\n", "<Response>", "ü", "日本", "🌍",
	strings.Repeat("a long line that goes on; ", 40) + "\n", strings.Repeat("x", 5000), strings.Repeat("more\n", 900), " ", "\t", "\r\n",
}

var markdown = rapid.Custom(func(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words")
})

// A resuming runner has the tail from a checkpoint; it must find the claims that the dead one would
// have found.
func TestTailSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := final
		if rapid.Bool().Draw(t, "anywhere") {
			r = anywhere()
		}
		live, resumed := &policy.Completion{}, &policy.Completion{}
		for _, word := range markdown.Draw(t, "text") {
			said := piece("1.0", word)
			live.Apply(1, said, by(r))
			resumed.Apply(1, said, by(r))
			resumed = throughJSON(t, resumed)
			if live.Text.String() != resumed.Text.String() {
				t.Fatalf("the tails differ after %.20q", word)
			}
			if a, b := live.Claim(r), resumed.Claim(r); a != b {
				t.Fatalf("after %.20q the live one claims %q, the resumed one %q", word, a, b)
			}
			if n := len(live.Text.String()); n > 32<<10 {
				t.Fatalf("%d bytes are kept", n)
			}
		}
	})
}

// The claim does not depend on how a message is cut into deltas, if the tail holds all of it.
func TestDeltasClaimLikeFullText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := markdown.Filter(func(w []string) bool { return len(strings.Join(w, "")) < 32<<10 }).Draw(t, "text")
		for _, r := range []event.Rules{final, anywhere()} {
			inPieces, whole := &policy.Completion{}, &policy.Completion{}
			for _, word := range pieces {
				inPieces.Apply(1, piece("1.0", word), by(r))
			}
			whole.Apply(1, piece("1.0", strings.Join(pieces, "")), by(r))
			a, b := inPieces.Claim(r), whole.Claim(r)
			// With anywhere, the first claim counts.
			if a != b && (r.Completion.Match != "anywhere" || (a == "") != (b == "")) {
				t.Fatalf("%s: in pieces %q, whole %q", r.Completion.Match, a, b)
			}
		}
	})
}

// The tail forgets lines, but never whether it is in a fence: its last lines make the same claim as
// the complete text.
func TestTailClaimsLikeFullText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := strings.Join(markdown.Draw(t, "head"), "")
		filler := strings.Repeat("filler\n", rapid.IntRange(0, 9000).Draw(t, "filler"))
		end := rapid.SampledFrom([]string{marker, "```\n" + marker, "~~~\n" + marker + "\n", "So " + marker, "    " + marker, "no"}).Draw(t, "end")
		// The filler makes an end of the head's last line.
		text := head + "\n" + filler + end

		short := &policy.Completion{} // the same, with a filler that is not cut
		short.Apply(1, piece("1.0", openFence(head)+end), by(final))
		long := &policy.Completion{}
		for len(text) > 0 {
			n := min(len(text), rapid.IntRange(1, 40_000).Draw(t, "delta"))
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			long.Apply(1, piece("1.0", text[:n]), by(final))
			text = text[n:]
		}
		got, want := long.Claim(final), short.Claim(final)
		if want != "" && got != want || len(filler) > 40_000 && got != want {
			t.Fatalf("claims %q, want %q", got, want)
		}
	})
}

// openFence returns the line of the fence that is open at the end of a text: the rule of
// CommonMark, written a second time.
func openFence(text string) string {
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if open == "" {
			for strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "1. ") {
				_, line, _ = strings.Cut(line, " ")
				line = strings.TrimSpace(line)
			}
			ticks := len(line) - len(strings.TrimLeft(line, "`"))
			tildes := len(line) - len(strings.TrimLeft(line, "~"))
			if ticks >= 3 && !strings.Contains(line[ticks:], "`") {
				open = line[:ticks]
			} else if tildes >= 3 {
				open = line[:tildes]
			}
		} else if len(line) >= len(open) && strings.Trim(line, open[:1]) == "" {
			open = ""
		}
	}
	if open != "" {
		open += "\n"
	}
	return open
}

func throughJSON[T any](t rapidOrTest, v *T) *T {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	again := new(T)
	if err := json.Unmarshal(data, again); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(again)
	if err != nil || string(second) != string(data) {
		t.Fatalf("JSON of JSON differs:\n%.300s\n%.300s", data, second)
	}
	return again
}

// rapidOrTest has the methods that the helpers need of a *testing.T or a *rapid.T.
type rapidOrTest interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func TestTailKeepsOpenFence(t *testing.T) {
	c := hear(t, final, piece("1.0", "~~~\n"+strings.Repeat("filler\n", 10_000)))
	c = throughJSON(t, c)
	for _, step := range []struct{ text, want string }{{marker + "\n", ""}, {"~~~\n" + marker, "promise"}} {
		c.Apply(1, piece("1.0", step.text), by(final))
		if got := c.Claim(final); string(got) != step.want {
			t.Errorf("after %q it claims %q", step.text, got)
		}
	}
}

func TestTailRejectsNonObject(t *testing.T) {
	var tail policy.Tail
	if err := json.Unmarshal([]byte(`{"text":7}`), &tail); err == nil {
		t.Error("a number was read as text")
	}
}

// FuzzTail appends any text in three pieces, twice: directly, and through JSON after each piece.
func FuzzTail(f *testing.F) {
	f.Add("```\n"+marker+"\n```\n", uint(3), uint(20), uint(0))
	f.Add("- ~~~\n  x\n  ~~~\nSo: "+marker, uint(1), uint(9), uint(40_000))
	f.Add("<Response>d\u212aone</RESPONSE>İ", uint(5), uint(11), uint(17_000))
	f.Add("\x80\xff`"+marker, uint(1), uint(2), uint(20_000))
	f.Fuzz(func(t *testing.T, text string, a, b, repeat uint) {
		text += strings.Repeat("x\n", int(repeat%20_000))
		n := uint(len(text)) + 1
		a, b = a%n, b%n
		a, b = min(a, b), max(a, b)
		for _, r := range []event.Rules{final, anywhere()} {
			live, resumed := &policy.Completion{}, &policy.Completion{}
			for _, part := range []string{text[:a], text[a:b], text[b:]} {
				said := piece("1.0", part)
				live.Apply(1, said, by(r))
				resumed.Apply(1, said, by(r))
				resumed = throughJSON(t, resumed)
			}
			if live.Text.String() != resumed.Text.String() || live.Claim(r) != resumed.Claim(r) {
				t.Errorf("live %q claims %q, resumed %q claims %q", live.Text.String(), live.Claim(r), resumed.Text.String(), resumed.Claim(r))
			}
			if kept := live.Text.String(); len(kept) > 32<<10 || !utf8.ValidString(kept) {
				t.Errorf("%d bytes are kept, valid: %v", len(kept), utf8.ValidString(kept))
			}
		}
	})
}
