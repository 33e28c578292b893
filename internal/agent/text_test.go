package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// valueOf returns the value of a document of its own.
func valueOf(t *testing.T, doc string) jsonscan.Value {
	t.Helper()
	value, err := new(jsonscan.Document).Read([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestTextsOfFacts(t *testing.T) {
	var out agent.Decoded
	for spelled, want := range map[string]string{
		`"plain"`: "plain", `""`: "", `"a\nb\u00e9"`: "a\nbé", `"\\"`: `\`, `17`: "", `null`: "", `{"a":"b"}`: "",
	} {
		value := valueOf(t, spelled)
		if got := out.Text(value); got != want {
			t.Errorf("Text(%s) = %q, want %q", spelled, got, want)
		}
		if got := out.Name("", value); got != want {
			t.Errorf("Name of %s alone is %q", spelled, got)
		}
		if got := out.Name("item/", value); got != "item/"+want {
			t.Errorf("Name of %s is %q", spelled, got)
		}
		if got := agent.Brief(value); got != want {
			t.Errorf("Brief(%s) = %q, want %q", spelled, got, want)
		}
	}
	if got := out.Text(jsonscan.Value{}) + out.Name("", jsonscan.Value{}) + agent.Brief(jsonscan.Value{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// TestTextsStayUntilNextLine: what is joined later must not be written over what was joined
// before.
func TestTextsStayUntilNextLine(t *testing.T) {
	var out agent.Decoded
	for range 2 {
		out.Reset()
		var got, want []string
		for n := range 200 {
			text := strings.Repeat("x\n", n)
			spelled, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			out.Notice(out.Name("name ", valueOf(t, string(spelled))), valueOf(t, string(spelled)))
			want = append(want, "name "+text, text)
		}
		for _, fact := range out.Facts {
			notice := fact.(event.AgentNoticed)
			got = append(got, notice.What, notice.Text)
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Error("a text was overwritten")
		}
	}
}

// TestBriefTexts: however a long text is spelled, what is left of it is its beginning, and no
// character is taken apart.
func TestBriefTexts(t *testing.T) {
	const limit = 2 << 10
	var out agent.Decoded
	for _, letter := range []string{"x", "é", `\u00e9`, `\\`, `\"`, "😀", `\ud83d\ude00`} {
		for _, n := range []int{limit/8 - 1, limit, limit + 1, 6 * limit, 20 * limit} {
			value := valueOf(t, `"`+strings.Repeat(letter, n)+`"`)
			whole := value.Text()
			for what, got := range map[string]string{"Brief": agent.Brief(value), "Name": out.Name("", value), "Cut": agent.Cut(whole)} {
				rest, cut := strings.CutSuffix(got, "…")
				if !strings.HasPrefix(whole, rest) || cut != (len(whole) > limit) || len(rest) > limit || cut && len(rest) < limit-4 {
					t.Errorf("%s of %d times %s has %d bytes, of %d", what, n, letter, len(got), len(whole))
				}
			}
			if name := out.Name("a prefix ", value); len(name) > limit+len("…") || !strings.HasPrefix(name, "a prefix "+whole[:min(limit/8, len(whole))]) {
				t.Errorf("a name of %d times %s has %d bytes", n, letter, len(name))
			}
		}
	}
}
