package policy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

const marker = "<promise>COMPLETE</promise>"

var final = event.Rules{Completion: event.CompletionRules{Promise: "COMPLETE", Match: "final", MinToolCalls: 1, OnPromiseNoWork: "reject"}, CompletionResponse: "DONE"}

func anywhere() event.Rules {
	r := final
	r.Completion.Match = "anywhere"
	return r
}

// hear folds the events of one iteration.
func hear(t testing.TB, r event.Rules, story ...event.Payload) *policy.Completion {
	t.Helper()
	c, l := &policy.Completion{}, by(r)
	for _, p := range append([]event.Payload{event.IterationStarted{N: 1}}, story...) {
		fold(c, l, noon, p)
	}
	return c
}

// says is a complete block of text.
func says(block, text string) event.Payload {
	return event.AgentSaid{Block: block, Text: event.Plain(text), Final: true}
}

// piece is a delta of a block.
func piece(block, text string) event.Payload {
	return event.AgentSaid{Block: block, Text: event.Plain(text)}
}

// message is the text of a turn's only message.
func message(text string) []event.Payload { return []event.Payload{says("1.0", text)} }

// The text that resembles a claim, in a turn without a claim.
func TestNearMissOfAClaim(t *testing.T) {
	const words, other, spelled, elsewhere = "it is within other words or in code", `it does not say "COMPLETE"`, "it is spelled in another way", "it is not in the final message"
	promise := func(text, why string) *event.CompletionIgnored {
		return &event.CompletionIgnored{How: "promise", Text: text, Why: why}
	}
	only := final
	only.CompletionResponse = ""
	for name, row := range map[string]struct {
		rules event.Rules
		story []event.Payload
		want  *event.CompletionIgnored
	}{
		"no tag at all":               {final, message("All is done: COMPLETE."), nil},
		"another tag":                 {final, message("<done>COMPLETE</done>"), nil},
		"other words":                 {final, message("<promise>DONE</promise>"), promise("<promise>DONE</promise>", other)},
		"another case":                {final, message("<Promise>Complete</Promise>"), promise("<Promise>Complete</Promise>", spelled)},
		"space within":                {final, message("<promise> COMPLETE </promise>"), promise("<promise> COMPLETE </promise>", spelled)},
		"never closed":                {final, message("<promise>COMPLETE"), promise("<promise>COMPLETE", spelled)},
		"within a sentence":           {final, message("Here is " + marker + " for you."), promise(marker, words)},
		"in a fenced block":           {final, message("```\n" + marker + "\n```"), promise(marker, words)},
		"the last of several":         {final, message("<promise>A</promise> <promise>B</promise>"), promise("<promise>B</promise>", other)},
		"a response within words":     {final, message("It is <response>done</response> now."), &event.CompletionIgnored{How: "response", Text: "<response>done</response>", Why: words}},
		"a response with an answer":   {final, message("<response>all went well</response>"), &event.CompletionIgnored{How: "response", Text: "<response>all went well</response>", Why: `it does not say "DONE"`}},
		"a response that is off":      {only, message("<response>DONE</response>"), nil},
		"before a tool":               {final, []event.Payload{says("1.0", marker), event.ToolCalled{ID: "t"}, says("2.0", "Committed.")}, promise(marker, elsewhere)},
		"in an earlier message":       {final, []event.Payload{says("1.0", marker), says("2.0", "Bye.")}, promise(marker, elsewhere)},
		"the final message is nearer": {final, []event.Payload{says("1.0", marker), says("2.0", "<promise>DONE</promise>")}, promise("<promise>DONE</promise>", other)},
		"of a subagent":               {final, []event.Payload{event.AgentSaid{Block: "s", Parent: "t", Text: event.Plain(marker), Final: true}}, nil},
		"of the iteration before":     {final, []event.Payload{says("1.0", "x "+marker+" y"), event.IterationStarted{N: 2}}, nil},
		"other words, anywhere":       {anywhere(), message("I <promise>DONE</promise> it"), promise("<promise>DONE</promise>", other)},
	} {
		t.Run(name, func(t *testing.T) {
			c := hear(t, row.rules, row.story...)
			if claim := c.Claim(row.rules); claim != "" {
				t.Fatalf("claims by %s", claim)
			}
			if diff := cmp.Diff(row.want, c.NearMiss(row.rules)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIgnoredClaimIsReportedOnce(t *testing.T) {
	ignored := event.CompletionIgnored{How: "promise", Text: "<promise>DONE</promise>", Why: "x"}
	at := func(n int, payloads ...event.Payload) (events []event.Event) {
		for _, p := range payloads {
			e := happened(t, noon, p)
			e.Iter = n
			events = append(events, e)
		}
		return events
	}
	for name, row := range map[string]struct {
		events []event.Event
		named  bool
	}{
		"to the next iteration":             {at(1, ignored, event.IterationEnded{N: 1}), true},
		"to the one that tries it again":    {append(at(1, ignored, event.IterationEnded{N: 1}), at(2, event.IterationStarted{N: 2}, event.IterationEnded{N: 2, Refunded: true})...), true},
		"to the one after a killed agent":   {append(at(1, ignored, event.IterationEnded{N: 1}), at(2, event.IterationStarted{N: 2}, event.IterationEnded{N: 2, Outcome: event.OutcomeFailed})...), true},
		"not to the one after the next":     {append(at(1, ignored, event.IterationEnded{N: 1}), at(2, event.IterationStarted{N: 2}, event.IterationEnded{N: 2, Outcome: event.OutcomeDone})...), false},
		"not after a claim that is refused": {append(at(1, ignored, event.IterationEnded{N: 1}), at(2, event.CompletionClaimed{How: "promise"}, event.CompletionRefused{Missing: []string{"y"}})...), false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &policy.Completion{}
			for _, e := range row.events {
				p, err := event.Decode(e)
				if err != nil {
					t.Fatal(err)
				}
				c.Apply(e.Iter, p, by(final))
			}
			if named := c.Ignored != nil; named != row.named {
				t.Errorf("named: %v", named)
			}
		})
	}
}

func TestClaimByMessage(t *testing.T) {
	const fence = "```"
	for name, row := range map[string]struct {
		text string
		// The claim with match final, and with match anywhere.
		final, anywhere string
	}{
		"a message without a marker claims nothing":                   {"All is well.", "", ""},
		"the marker alone is a claim":                                 {marker, "promise", "promise"},
		"a marker alone on the last line is a claim":                  {"All tests pass.\n\n" + marker + "\n", "promise", "promise"},
		"a marker alone on a line in the middle is a claim":           {"Done:\n" + marker + "\nI also tidied up.", "promise", "promise"},
		"spaces and a carriage return around it leave it alone":       {"Done:\r\n  " + marker + " \r\nBye.", "promise", "promise"},
		"blank lines after it do not matter":                          {"Done. " + marker + "\n\n \n", "promise", "promise"},
		"the last thing said is a claim despite words before it":      {"I am done: " + marker, "promise", "promise"},
		"a marker in a sentence is no claim":                          {"I shall print " + marker + " when done.", "", "promise"},
		"a marker that ends a line but not the message is no claim":   {"I was told to end with " + marker + "\nBut I am not there yet.", "", "promise"},
		"a marker with a full stop after it does not end the message": {"Finished " + marker + ".", "", "promise"},

		"another spelling of the promise is no claim":         {"<promise>Complete</promise>", "", ""},
		"another spelling of the tag is no claim":             {"<PROMISE>COMPLETE</PROMISE>", "", ""},
		"space within the tag is no claim":                    {"<promise> COMPLETE </promise>", "", ""},
		"the bare word is no claim":                           {"COMPLETE", "", ""},
		"half a marker is no claim":                           {"<promise>COMPLETE", "", ""},
		"a marker over two lines is no claim":                 {"<promise>COMPLETE\n</promise>", "", ""},
		"a longer promise that begins the same is no claim":   {"<promise>COMPLETED</promise>", "", ""},
		"a marker within another marker's tag is read as is":  {"<promise>" + marker, "promise", "promise"},
		"letters of other scripts before it do not hide it":   {"Готово, 完了, İstanbul ✅ " + marker, "promise", "promise"},
		"an invisible byte order mark keeps it from the line": {"\ufeff" + marker + "\nmore", "", "promise"},

		"a marker in a fenced block is no claim":                     {fence + "\n" + marker + "\n" + fence, "", "promise"},
		"a marker in a block fenced by tildes is no claim":           {"~~~\n" + marker + "\n~~~", "", "promise"},
		"a fence with a language is a fence":                         {fence + "html\n" + marker + "\n" + fence, "", "promise"},
		"a marker after a closed fence is a claim":                   {fence + "sh\nmake\n" + fence + "\n" + marker, "promise", "promise"},
		"a fence that is never closed hides all that follows":        {fence + "\nmake\n\n" + marker, "", "promise"},
		"a longer fence is not closed by a shorter one":              {fence + "`\n" + fence + "\n" + marker + "\n" + fence + "\n" + fence + "`\nEnd.", "", "promise"},
		"a shorter fence is closed by a longer one":                  {fence + "\nx\n" + fence + "``\n" + marker, "promise", "promise"},
		"tildes do not close backticks":                              {fence + "\n~~~\n" + marker + "\n" + fence, "", "promise"},
		"backticks do not close tildes":                              {"~~~\n" + fence + "\n" + marker + "\n~~~", "", "promise"},
		"a fence with words after it does not close a block":         {fence + "\n" + fence + " end\n" + marker + "\n" + fence, "", "promise"},
		"an indented fence is a fence":                               {"  " + fence + "\n  " + marker + "\n  " + fence, "", "promise"},
		"a marker in an indented block is no claim":                  {"For example:\n\n    " + marker + "\n\nSo far.", "", "promise"},
		"a marker after a tab is no claim":                           {"For example:\n\n\t" + marker, "", "promise"},
		"three spaces are no indented block":                         {"Done:\n   " + marker + "\nBye.", "promise", "promise"},
		"two backticks are no fence":                                 {"``\n" + marker + "\n``", "promise", "promise"},
		"a code span of three backticks on one line is no fence":     {fence + "make test" + fence + " passes.\n" + marker, "promise", "promise"},
		"a fence that opens in a list item is a fence":               {"- " + fence + "\n  " + marker + "\n  " + fence + "\n- more", "", "promise"},
		"a fence that opens in a numbered item is a fence":           {"12) " + fence + "xml\n    " + marker + "\n    " + fence + "\nmore", "", "promise"},
		"a fence in a list item ends where it is closed":             {"* " + fence + "\n  make\n  " + fence + "\n" + marker, "promise", "promise"},
		"a dash before backticks within a block opens and ends none": {fence + "\n- " + fence + "\n" + fence + "\n" + marker, "promise", "promise"},

		"a marker in a code span is no claim":                        {"The marker is `" + marker + "`", "", "promise"},
		"a marker that ends an open code span is no claim":           {"Print `echo " + marker, "", "promise"},
		"a marker after a closed code span is a claim":               {"`make test` passes: " + marker, "promise", "promise"},
		"a marker quoted in the middle is no claim":                  {"> " + marker + "\n\nThat is what I was told to say.", "", "promise"},
		"a marker of a fenced block within a quotation is no claim":  {"> " + fence + "\n> " + marker + "\n> " + fence + "\nsaid the task.", "", "promise"},
		"a marker as an item in the middle of a list is alone":       {"- " + marker + "\n- I tidied up", "promise", "promise"},
		"a marker as the last item of a list is the last thing said": {"- tests pass\n- " + marker, "promise", "promise"},
		"a marker in bold is alone":                                  {"All is done.\n\n**" + marker + "**\n\nBye.", "promise", "promise"},
		"a marker in italics and bold is alone":                      {"_**" + marker + "**_\nBye.", "promise", "promise"},
		"a marker in a code span of its own is alone":                {"`" + marker + "`\nBye.", "promise", "promise"},
		"a marker between quotation marks is alone":                  {"“" + marker + "”\nBye.", "promise", "promise"},
		"a full stop ends a marker's line":                           {marker + ".\nBye.", "promise", "promise"},
		"an emoji ends a marker's line":                              {marker + " ✅🎉\nBye.", "promise", "promise"},
		"an emoji of several characters ends a marker's line":        {marker + " ✔️👩‍💻\nBye.", "promise", "promise"},
		"a marker in bold as an item is alone":                       {"1. **" + marker + "**!\n2. Bye.", "promise", "promise"},
		"a question is no claim":                                     {marker + "?\nBye.", "", "promise"},
		"a marker that is struck out is no claim":                    {"~~" + marker + "~~\nBye.", "", "promise"},
		"a marker with a box before it is no claim":                  {"- [ ] " + marker + "\nBye.", "", "promise"},
		"a marker with a word before it in bold is no claim":         {"**Not yet** " + marker + "\nBye.", "", "promise"},
		"a response in bold is alone":                                {"**<response>DONE</response>**\nBye.", "response", "response"},
		"the marker said twice is one claim":                         {marker + "\n" + marker, "promise", "promise"},
		"a marker in code does not hide the one after it":            {fence + "\n" + marker + "\n" + fence + "\nDone.\n\n" + marker, "promise", "promise"},
		"fences of a quotation do not hide what follows":             {"> " + fence + "\n> x\n> " + fence + "\n\n" + marker, "promise", "promise"},
		"a line of dashes is no list item":                           {"---\n" + marker + "\n---", "promise", "promise"},
		"an item of a list whose text is a code span opens no fence": {"- " + fence + "x" + fence + "\n\n" + marker, "promise", "promise"},
		"a number in a sentence is no list item":                     {"I ran 2. " + fence + "\n" + marker, "promise", "promise"},
		"a quotation of the whole last line is the last thing said":  {"As asked:\n> " + marker, "promise", "promise"},
		"a marker between two code spans of one line is a mention":   {"`a` " + marker + " `b`", "", "promise"},
		"a marker after three backticks on the last line is in code": {"See " + fence + " " + marker, "", "promise"},

		"the response is a claim":                               {"<response>DONE</response>", "response", "response"},
		"the response counts in any case":                       {"<Response>done</RESPONSE>", "response", "response"},
		"the response as the last thing said is a claim":        {"All done. <response>Done</response>", "response", "response"},
		"another response is no claim":                          {"<response>CONTINUE</response>", "", ""},
		"space within the response is another response":         {"<response> DONE </response>", "", ""},
		"the first response counts, not a later one":            {"<response>CONTINUE</response>\n<response>DONE</response>", "", ""},
		"a later response does not take back the first":         {"<response>DONE</response>\n<response>CONTINUE</response>", "response", "response"},
		"of two responses on one line the first counts":         {"<response>NO</response> <response>DONE</response>", "", ""},
		"a response in a sentence is no claim":                  {"I say <response>DONE</response> at the end.", "", "response"},
		"a response in a fenced block is no claim":              {fence + "\n<response>DONE</response>\n" + fence, "", "response"},
		"a response in a code span is no claim":                 {"Say `<response>DONE</response>`", "", "response"},
		"a response over several lines is no response":          {"<response>\nDONE\n</response>", "", ""},
		"a tag that stays open does not swallow the next":       {"<response> is the tag:\n<response>DONE</response>", "response", "response"},
		"letters that shrink in lower case do not shift it":     {"İİİ <RESPONSE>DONE</RESPONSE>", "response", "response"},
		"letters that grow in lower case do not shift it":       {"ȺȺ <RESPONSE>DONE</RESPONSE> İİ", "", "response"},
		"the promise goes before the response":                  {"<response>DONE</response>\n" + marker, "promise", "promise"},
		"a refused response does not keep the promise from it":  {"<response>CONTINUE</response>\n" + marker, "promise", "promise"},
		"a tag that is closed by another tag is no response":    {"<response>DONE</promise>", "", ""},
		"a response that holds a tag is another response":       {"<response><b>DONE</b></response>", "", ""},
		"the closing tag alone is no response":                  {"DONE</response>", "", ""},
		"a response that is never closed is no response at all": {"<response>DONE", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hear(t, final, message(row.text)...).Claim(final); string(got) != row.final {
				t.Errorf("final: %q claims %q, want %q", row.text, got, row.final)
			}
			r := anywhere()
			if got := hear(t, r, message(row.text)...).Claim(r); string(got) != row.anywhere {
				t.Errorf("anywhere: %q claims %q, want %q", row.text, got, row.anywhere)
			}
		})
	}
}

func TestClaimByTurn(t *testing.T) {
	call := event.ToolCalled{ID: "t1", Name: "bash"}
	back := event.ToolReturned{ID: "t1", OK: true, Output: event.Plain(marker)}
	for name, row := range map[string]struct {
		story           []event.Payload
		final, anywhere string
	}{
		"a silent turn claims nothing": {nil, "", ""},
		"a claim of an earlier message is taken back by a later one": {
			[]event.Payload{says("1.0", marker), says("2.0", "One more thing.")}, "", "promise"},
		"a tag in a later message takes back no claim that was made anywhere": {
			[]event.Payload{says("1.0", marker), says("2.0", "One <b>more</b> thing.")}, "", "promise"},
		"a claim of the last message counts whatever was said before": {
			[]event.Payload{says("1.0", "Working."), says("2.0", marker)}, "promise", "promise"},
		"all blocks of the last message count": {
			[]event.Payload{says("1.0", "So:\n"+marker), says("1.1", "Bye.")}, "promise", "promise"},
		"the last thing said is that of the last block": {
			[]event.Payload{says("1.0", "I say "+marker), says("1.1", "Bye.")}, "", "promise"},
		"a block begins a line of its own": {
			[]event.Payload{says("1.0", "So:"), says("1.1", marker), says("1.2", "Bye.")}, "promise", "promise"},
		"a fence does not end with its block": {
			[]event.Payload{says("1.0", "```"), says("1.1", marker)}, "", "promise"},
		"a fence ends with its message": {
			[]event.Payload{says("1.0", "```"), says("2.0", marker)}, "promise", "promise"},
		"a claim before a tool is not the final word": {
			[]event.Payload{says("1.0", marker), call, back}, "", "promise"},
		"a claim after a tool of the same message is": {
			[]event.Payload{says("1.0", "Let me look."), call, back, says("1.2", marker)}, "promise", "promise"},
		"words after a tool make another message of the same name": {
			[]event.Payload{says("1.0", marker), call, back, says("1.2", "Now it fails.")}, "", "promise"},
		"a subagent's tool does not end the message": {
			[]event.Payload{says("1.0", marker), event.ToolCalled{ID: "t2", Name: "grep", Parent: "t1"}}, "promise", "promise"},
		"a subagent's words claim nothing": {
			[]event.Payload{event.AgentSaid{Block: "9.0", Text: event.Plain(marker), Final: true, Parent: "t1"}}, "", ""},
		"a subagent's words take nothing back": {
			[]event.Payload{says("1.0", marker), event.AgentSaid{Block: "9.0", Text: event.Plain("Hm."), Final: true, Parent: "t1"}}, "promise", "promise"},
		"thinking claims nothing": {
			[]event.Payload{event.AgentThought{Block: "1.0", Text: event.Plain(marker), Final: true}}, "", ""},
		"thinking takes nothing back": {
			[]event.Payload{says("1.0", marker), event.AgentThought{Block: "2.0", Text: event.Plain("hm"), Final: true}}, "promise", "promise"},
		"what a tool prints claims nothing": {
			[]event.Payload{call, event.ToolProgressed{ID: "t1", Text: event.Plain(marker)}, back}, "", ""},
		"what a tool is given claims nothing": {
			[]event.Payload{event.ToolCalled{ID: "t1", Name: "bash", Input: json.RawMessage(`{"c":"` + marker + `"}`)}}, "", ""},
		"a notice claims nothing": {
			[]event.Payload{event.AgentNoticed{What: "stderr", Text: marker}}, "", ""},
		"a line that was not understood claims nothing": {
			[]event.Payload{event.AgentUnparsed{Line: event.Plain(marker)}}, "", ""},
		"a name without a dot is a message's name": {
			[]event.Payload{says("x", "```"), says("x", marker)}, "", "promise"},
		"a name of many dots is cut at the last": {
			[]event.Payload{says("a.b.0", "```"), says("a.b.1", marker)}, "", "promise"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hear(t, final, row.story...).Claim(final); string(got) != row.final {
				t.Errorf("final: claims %q, want %q", got, row.final)
			}
			r := anywhere()
			if got := hear(t, r, row.story...).Claim(r); string(got) != row.anywhere {
				t.Errorf("anywhere: claims %q, want %q", got, row.anywhere)
			}
		})
	}
}

func TestMarkerArrivesInPieces(t *testing.T) {
	for _, r := range []event.Rules{final, anywhere()} {
		for text, want := range map[string]string{
			"Ünd so:\n" + marker:                         "promise",
			"Fertig ✅ <response>dOnE</response>":         "response",
			"`a` and\n```\nx\n```\n" + marker + "\nBye.": "promise",
		} {
			for i := range len(text) + 1 {
				for j := i; j <= len(text); j++ {
					// The dialects never cut a rune.
					if !cutsRunes(text, i) && !cutsRunes(text, j) {
						story := []event.Payload{piece("1.0", text[:i]), piece("1.0", text[i:j]), piece("1.0", text[j:]), says("1.0", "")}
						if got := hear(t, r, story...).Claim(r); string(got) != want {
							t.Fatalf("%s: %q | %q | %q claims %q, want %q", r.Completion.Match, text[:i], text[i:j], text[j:], got, want)
						}
					}
				}
			}
		}
	}
}

func cutsRunes(text string, at int) bool { return at < len(text) && text[at]&0xC0 == 0x80 }

func TestLongMessageClaims(t *testing.T) {
	megabyte := strings.Repeat("The quick brown fox jumps over the lazy dog, ärgerlich.\n", 1<<20/57)
	oneLine := strings.Repeat("no line ends here; ", 1<<20/19)
	for name, row := range map[string]struct {
		text            string
		final, anywhere string
	}{
		"a megabyte with the marker on its last line":             {megabyte + marker, "promise", "promise"},
		"a megabyte in one line with the marker as its last word": {oneLine + marker, "promise", "promise"},
		"a megabyte within a fence hides the marker":              {"```\n" + megabyte + marker, "", "promise"},
		"a megabyte within a fence that ends hides nothing":       {"```\n" + megabyte + "```\n" + marker, "promise", "promise"},
		"a megabyte with the marker at its beginning":             {marker + "\n" + megabyte, "", "promise"},
		"a megabyte with the response at its beginning":           {"<response>done</response>\n" + megabyte, "", "response"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 70_000, 4096, 997} {
				for _, r := range []event.Rules{final, anywhere()} {
					want := row.final
					if r.Completion.Match == "anywhere" {
						want = row.anywhere
					}
					c := hear(t, r, cut(row.text, size)...)
					if got := c.Claim(r); string(got) != want {
						t.Errorf("in pieces of %d, %s: claims %q, want %q", size, r.Completion.Match, got, want)
					}
					if n := len(c.Text.String()); n > 32<<10 {
						t.Errorf("%d bytes are kept", n)
					}
				}
			}
		})
	}
}

// cut returns a text as deltas of at most size bytes, cut between runes.
func cut(text string, size int) (story []event.Payload) {
	for len(text) > 0 {
		n := min(size, len(text))
		for cutsRunes(text, n) {
			n--
		}
		story = append(story, piece("1.0", text[:n]))
		text = text[n:]
	}
	return append(story, says("1.0", ""))
}

func TestUnsetMarkersClaimNothing(t *testing.T) {
	r := event.Rules{Completion: event.CompletionRules{Match: "final"}}
	for _, match := range []string{"final", "anywhere"} {
		r.Completion.Match = match
		for _, text := range []string{"<promise></promise>", "<response></response>", marker, "<response>DONE</response>"} {
			if got := hear(t, r, message(text)...).Claim(r); got != "" {
				t.Errorf("%s: %q claims %q", match, text, got)
			}
		}
	}
}

func TestCustomPromise(t *testing.T) {
	r := final
	r.Completion.Promise = "fertig: 100 %"
	if got := hear(t, r, message("<promise>fertig: 100 %</promise>")...).Claim(r); got != "promise" {
		t.Errorf("claims %q", got)
	}
	if got := hear(t, r, message(marker)...).Claim(r); got != "" {
		t.Errorf("the default promise claims %q though another is set", got)
	}
}

func TestClaimIsOfOneIteration(t *testing.T) {
	for _, r := range []event.Rules{final, anywhere()} {
		c := hear(t, r, says("1.0", marker), event.IterationEnded{N: 1}, event.IterationStarted{N: 2})
		if got := c.Claim(r); got != "" {
			t.Errorf("%s: the next iteration claims %q by what an earlier one said", r.Completion.Match, got)
		}
	}
}

func TestMissing(t *testing.T) {
	work := event.ToolCalled{ID: "t1", Name: "bash"}
	unread := &policy.Commands{Open: []policy.Message{
		{ID: "a", Kind: event.CommandSteer, Text: "mind the gap"}, {ID: "b", Kind: event.CommandPause}, {ID: "c", Kind: event.CommandFollowUp, Text: "then rest"},
	}}
	rules := func(n int, what string) event.Rules {
		r := final
		r.Completion.MinToolCalls, r.Completion.OnPromiseNoWork = n, what
		return r
	}
	const noWork, gap, rest = "no work was done: the claim came without a single use of a tool", "a message has not been read yet: mind the gap", "a message has not been read yet: then rest"
	for name, row := range map[string]struct {
		rules      event.Rules
		showsTools bool
		mail       *policy.Commands
		story      []event.Payload
		want       []string
	}{
		"work and an empty inbox are enough":              {rules(1, "reject"), true, &policy.Commands{}, []event.Payload{work}, nil},
		"a claim without work is refused":                 {rules(1, "reject"), true, &policy.Commands{}, nil, []string{noWork}},
		"a claim without work is accepted where it may":   {rules(1, "accept"), true, &policy.Commands{}, nil, nil},
		"a warning does not refuse":                       {rules(1, "warn"), true, &policy.Commands{}, nil, nil},
		"no work is asked for where none is wanted":       {rules(0, "reject"), true, &policy.Commands{}, nil, nil},
		"an agent that shows no tools cannot be asked":    {rules(1, "reject"), false, &policy.Commands{}, nil, nil},
		"two uses are not three":                          {rules(3, "reject"), true, &policy.Commands{}, []event.Payload{work, work}, []string{"too little work was done: the claim came after 2 uses of a tool, and 3 are asked for"}},
		"a subagent's work is work":                       {rules(1, "reject"), true, &policy.Commands{}, []event.Payload{event.ToolCalled{ID: "t2", Parent: "t1"}}, nil},
		"words that were not read are missing, in order":  {rules(1, "reject"), true, unread, []event.Payload{work}, []string{gap, rest}},
		"all that is missing is named at once":            {rules(1, "reject"), true, unread, nil, []string{noWork, gap, rest}},
		"work of an earlier iteration is not of this one": {rules(1, "reject"), true, &policy.Commands{}, []event.Payload{work, event.IterationEnded{N: 1}, event.IterationStarted{N: 2}}, []string{noWork}},
	} {
		t.Run(name, func(t *testing.T) {
			got := hear(t, row.rules, row.story...).Missing("promise", row.rules, policy.Evidence{ShowsTools: row.showsTools, Commands: row.mail, Verification: &policy.Verification{}})
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnreadMessageIsShortened(t *testing.T) {
	mail := &policy.Commands{Open: []policy.Message{{Kind: event.CommandSteer, Text: strings.Repeat("é", 5000)}}}
	missing := hear(t, final, event.ToolCalled{ID: "t"}).Missing("promise", final, policy.Evidence{ShowsTools: true, Commands: mail, Verification: &policy.Verification{}})
	if len(missing) != 1 || len(missing[0]) > 300 || !strings.HasSuffix(missing[0], "é") || strings.ContainsRune(missing[0], '\ufffd') {
		t.Errorf("missing is %q", missing)
	}
}

func TestRefusalIsKeptForPrompt(t *testing.T) {
	c := hear(t, final, says("1.0", marker), event.CompletionClaimed{How: "promise"}, event.CompletionRefused{Missing: []string{"x"}}, event.IterationEnded{N: 1, Outcome: event.OutcomeDone})
	if !slices.Equal(c.Refused, []string{"x"}) {
		t.Fatalf("the next prompt would say %q", c.Refused)
	}
	steps := []struct {
		what string
		p    event.Payload
		want []string
	}{
		{"while the next iteration runs", event.IterationStarted{N: 2}, []string{"x"}},
		{"after it was killed", event.IterationEnded{N: 2, Outcome: event.OutcomeFailed, Tools: 3}, []string{"x"}},
		{"while it is tried again", event.IterationStarted{N: 3}, []string{"x"}},
		{"after it took too long", event.IterationEnded{N: 3, Outcome: event.OutcomeOverlong}, []string{"x"}},
		{"after a person resumed the loop", event.LoopResumed{}, []string{"x"}},
		{"after the runner died", event.LoopResumed{Died: true}, []string{"x"}},
		{"after the agent claimed nothing", event.IterationEnded{N: 4, Outcome: event.OutcomeDone}, nil},
	}
	l := by(final)
	for _, step := range steps {
		fold(c, l, noon, step.p)
		if !slices.Equal(c.Refused, step.want) {
			t.Errorf("%s it is %q, want %q", step.what, c.Refused, step.want)
		}
	}
}

func TestNewClaimClearsRefusal(t *testing.T) {
	c := hear(t, final, event.CompletionRefused{Missing: []string{"x"}}, event.CompletionClaimed{How: "promise"}, event.CompletionAccepted{How: "promise"})
	if c.Refused != nil || c.Accepted != "promise" || c.Claimed != "promise" {
		t.Errorf("%+v", c)
	}
	if c.Apply(1, event.LoopResumed{}, by(final)); c.Accepted != "" {
		t.Errorf("a loop that was resumed after its end is complete already: %+v", c)
	}
}

// The executor that begins the next iteration reads the state after its decision.
func TestRefusedFileIsPutAside(t *testing.T) {
	c, l := &policy.Completion{}, by(final)
	for _, step := range []struct {
		happens event.Payload
		aside   bool
	}{
		{event.IterationStarted{N: 1}, false},
		{event.FolderInspected{Done: true}, false},
		{event.CompletionClaimed{How: event.ClaimDoneFile}, false},
		{event.CompletionRefused{Missing: []string{"the guardrails have not all run"}}, true},
		{event.IterationEnded{N: 1, Outcome: event.OutcomeDone}, true},
		{event.Decided{Do: event.DoBegin, Iteration: 2}, true},
		{event.FolderInspected{}, true},
		{event.IterationStarted{N: 2}, false},
	} {
		fold(c, l, noon, step.happens)
		if c.Aside != step.aside {
			t.Errorf("after %+v: aside is %v", step.happens, c.Aside)
		}
	}
}
