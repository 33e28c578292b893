package text_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestPromptOnStdin(t *testing.T) {
	d := text.New()
	cmd, err := d.Command(agent.Spec{Command: []string{"llm", "-m", "local"}, Flags: []string{"--quiet"}, Prompt: "go on"})
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Command{Argv: []string{"llm", "-m", "local", "--quiet"}, Text: true, CloseStdin: true, ParentDeath: true}
	if diff := cmp.Diff(want, cmd); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]byte{[]byte("go on")}, d.Open(agent.Prompt{Text: "go on"})); diff != "" {
		t.Error(diff)
	}
}

func TestPromptReplacesPlaceholder(t *testing.T) {
	d := text.New()
	spec := agent.Spec{
		Command: []string{"sh", "-c", "echo {prompt}"}, Flags: []string{"--message={prompt}", "{prompt}"}, Prompt: "a {prompt} b",
	}
	cmd, err := d.Command(spec)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"sh", "-c", "echo a {prompt} b", "--message=a {prompt} b", "a {prompt} b"}
	if diff := cmp.Diff(want, cmd.Argv); diff != "" {
		t.Error(diff)
	}
	if spec.Command[2] != "echo {prompt}" {
		t.Error("the settings were changed")
	}
	if lines := d.Open(agent.Prompt{Text: "a {prompt} b"}); lines != nil {
		t.Errorf("the prompt was given twice: %q", lines)
	}
}

func TestKnownAgentPrints(t *testing.T) {
	known := func(atEnd bool) func(agent.Spec) (agent.Command, error) {
		return func(spec agent.Spec) (agent.Command, error) {
			argv := append([]string{spec.Command[0], "--print"}, spec.Flags...)
			if atEnd {
				argv = append(argv, spec.Prompt)
			}
			return agent.Command{Argv: argv, CloseStdin: atEnd}, nil
		}
	}
	for name, row := range map[string]struct {
		atEnd bool
		flags []string
		argv  string
		stdin int // lines
	}{
		"the prompt on stdin":                       {false, nil, "claude --print", 1},
		"the prompt as an argument":                 {true, nil, "claude --print go", 0},
		"who puts it into its place says all of it": {true, []string{"-p", "{prompt}"}, "claude -p go", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := text.NewKnown(known(row.atEnd))
			cmd, err := d.Command(agent.Spec{Command: []string{"claude"}, Flags: row.flags, Prompt: "go"})
			if got := strings.Join(cmd.Argv, " "); err != nil || got != row.argv || !cmd.Text || !cmd.CloseStdin {
				t.Errorf("%+v, %v", cmd, err)
			}
			if lines := d.Open(agent.Prompt{Text: "go"}); len(lines) != row.stdin {
				t.Errorf("%q on stdin", lines)
			}
		})
	}
}

func TestPromptsUnfitForArguments(t *testing.T) {
	for name, prompt := range map[string]string{
		"longer than an argument may be": strings.Repeat("x", 32*4096),
		"with a NUL":                     "a\x00b",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := text.New().Command(agent.Spec{Command: []string{"echo", "{prompt}"}, Prompt: prompt})
			if err == nil || !strings.Contains(err.Error(), "stdin") {
				t.Errorf("error %v does not say that stdin would do", err)
			}
		})
	}
	if _, err := text.New().Command(agent.Spec{Command: []string{"echo", "{prompt}"}, Prompt: strings.Repeat("x", 32*4096-1)}); err != nil {
		t.Error("the longest argument was refused:", err)
	}
}

// said joins what was said, and checks that all of it is in one block.
func said(t *testing.T, pieces ...string) string {
	t.Helper()
	d, out, all := text.New(), agent.Decoded{}, strings.Builder{}
	for _, piece := range append(pieces, "") {
		out.Reset()
		d.Decode([]byte(piece), agent.Stdout, &out)
		for _, fact := range out.Facts {
			p, ok := fact.(event.AgentSaid)
			if !ok || p.Block != "1.1" {
				t.Fatalf("%q came out as %#v", piece, fact)
			}
			all.WriteString(p.Text.String())
		}
	}
	return all.String()
}

func TestSaidEqualsPrinted(t *testing.T) {
	for name, row := range map[string]struct {
		pieces []string
		want   string
	}{
		"lines keep their newlines":                {[]string{"one\n", "\n", "two\r\n"}, "one\n\ntwo\r\n"},
		"an unfinished line goes on":               {[]string{"Pass", "word: ", "ok\n"}, "Password: ok\n"},
		"colours stay":                             {[]string{"\x1b[31mred\x1b[0m\n"}, "\x1b[31mred\x1b[0m\n"},
		"a character cut in half stays whole":      {[]string{"caf\xc3", "\xa9 ", "\xf0\x9f", "\x8c", "\x8d\n"}, "café 🌍\n"},
		"a character that never ends is replaced":  {[]string{"a\xf0\x9f", "b\n"}, "a\uFFFD\uFFFDb\n"},
		"a character cut off at the end is shown":  {[]string{"a\xe2\x82"}, "a\uFFFD\uFFFD"},
		"bytes that are no text are replaced":      {[]string{"a\xffb\xc0\n"}, "a\uFFFDb\uFFFD\n"},
		"what looks like JSON is said like a word": {[]string{"{\"type\":\"result\"}\n"}, "{\"type\":\"result\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := said(t, row.pieces...); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestStderrLineByLine(t *testing.T) {
	d, out := text.New(), agent.Decoded{}
	for _, piece := range []string{"warn", "ing\n", "half", "\n", "\n", "last", ""} {
		d.Decode([]byte(piece), agent.Stderr, &out)
	}
	var got []string
	for _, fact := range out.Facts {
		got = append(got, fact.(event.AgentNoticed).What+":"+fact.(event.AgentNoticed).Text)
	}
	want := []string{"stderr:warn", "stderr:ing", "stderr:half", "stderr:", "stderr:last"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzPieces cuts a text anywhere: however it arrives, the same is said.
func FuzzPieces(f *testing.F) {
	f.Add("héllo\nwörld 🌍", uint(3), uint(9))
	f.Add("\xf0\x9f\x8c", uint(1), uint(2))
	f.Add("a\xe2\x82\xf0\x9f", uint(2), uint(3))
	f.Fuzz(func(t *testing.T, whole string, a, b uint) {
		n := uint(len(whole)) + 1
		a, b = a%n, b%n
		a, b = min(a, b), max(a, b)
		var pieces []string
		for _, piece := range []string{whole[:a], whole[a:b], whole[b:]} {
			if piece != "" {
				pieces = append(pieces, piece)
			}
		}
		if got, want := said(t, pieces...), event.Plain(whole).String(); got != want {
			t.Errorf("%q was said as %q, want %q", pieces, got, want)
		}
	})
}

// A failed command that names a limit and its end in its last line is limited until then.
func TestLimitOfFailedCommand(t *testing.T) {
	at := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		out, err string
		code     int
		want     string // until when
	}{
		"on stdout":             {out: "working\nYou've hit your limit · resets 1am (Europe/Oslo)\n", code: 1, want: "2026-11-28T00:01:00Z"},
		"without a newline":     {out: "Usage limit reached, try again in 2 hours", code: 1, want: "2026-11-27T22:00:00Z"},
		"before empty lines":    {out: "Usage limit reached, try again in 2 hours\n\n \n", code: 1, want: "2026-11-27T22:00:00Z"},
		"on stderr":             {out: "thinking\n", err: "rate limit: retry after 30 minutes\n", code: 1, want: "2026-11-27T20:30:00Z"},
		"ended by a signal":     {out: "rate limit: retry after 30 minutes\n", code: -1, want: "2026-11-27T20:30:00Z"},
		"it succeeded":          {out: "You've hit your limit · resets 1am (Europe/Oslo)\n"},
		"it does not say when":  {out: "rate limit reached\n", code: 1},
		"that is no limit":      {out: "the alarm resets at 1am\n", code: 1},
		"that was not the last": {out: "rate limit: retry after 30 minutes\n3 tests failed\n", code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			d, out := text.New(), agent.Decoded{At: at}
			for piece := range strings.Lines(row.out) {
				half := len(piece) / 2
				d.Decode([]byte(piece[:half]), agent.Stdout, &out)
				d.Decode([]byte(piece[half:]), agent.Stdout, &out)
			}
			for piece := range strings.Lines(row.err) {
				d.Decode([]byte(piece), agent.Stderr, &out)
			}
			out.Reset()
			d.End(row.code, &out)
			var got string
			for _, fact := range out.Facts {
				got = fact.(event.AgentLimited).Until
			}
			if got != row.want {
				t.Errorf("limited until %q, want %q", got, row.want)
			}
		})
	}
}

// What a command prints before its end is its text and nothing else.
func TestLimitTextIsText(t *testing.T) {
	d := text.New()
	for _, line := range []string{
		"429 Too Many Requests: rate limit reached, try again at 02:45\n",
		`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795229108}}` + "\n",
		"Error: not logged in, please run /login\n",
	} {
		for _, from := range []agent.Stream{agent.Stdout, agent.Stderr} {
			var out agent.Decoded
			d.Decode([]byte(line), from, &out)
			for _, fact := range out.Facts {
				switch fact.(type) {
				case event.AgentSaid, event.AgentNoticed:
				default:
					t.Errorf("%q came out as %+v", line, fact)
				}
			}
			if len(out.Facts) == 0 {
				t.Errorf("%q is lost", line)
			}
		}
	}
}
