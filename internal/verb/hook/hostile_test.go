package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/plan"
)

// Whatever is on the standard input, no hook but the guard answers, and each reports what is wrong.
func TestInputThatIsNoInput(t *testing.T) {
	t.Parallel()
	for name, stdin := range map[string]string{
		"empty": "", "no JSON": "garbage", "half": `{"session_id":`, "an array": "[1,2]", "null": "null", "a text": `"Stop"`,
		"not UTF-8": "{\"session_id\":\"\xff\"}", "two": `{} {}`, "binary": "\x00\x01\x02", "deep": strings.Repeat("[", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).live()
			w.mark(plan.Marker{})
			w.write("ralph/tasks.json", "{")
			for _, kind := range []Kind{Stop, PostToolUse, SessionStart} {
				got, err := w.answer(kind, stdin)
				if err == nil || got != (output{}) {
					t.Errorf("%s: %+v, %v", kind, got, err)
				}
			}
		})
	}
}

// Fields of other types than expected are as if they were missing.
func TestInputOfOtherTypes(t *testing.T) {
	w := newWorld(t).live()
	w.mark(plan.Marker{})
	w.write("ralph/tasks.json", "{")
	stdin := `{"session_id": 7, "transcript_path": ["a"], "cwd": null, "hook_event_name": {}, "agent_id": true, "tool_input": "x", "stop_hook_active": "yes"}`
	for _, kind := range []Kind{Stop, PostToolUse, SessionStart} {
		if got, err := w.answer(kind, stdin); err != nil || got != (output{}) {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

func TestInputIsRead(t *testing.T) {
	in, err := ParseInput([]byte(`{"session_id":"s","turn_id":"t","tool_name":"Bash","tool_input":{"command":"echo \"hi\""},"stop_hook_active":true,"extra":[1]}`))
	if err != nil || in.Session != "s" || !in.FromCodex() || in.Tool != "Bash" || in.Command() != `echo "hi"` || !in.StopHookActive {
		t.Errorf("%+v, %v", in, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestInputWithoutEnd(t *testing.T) {
	if _, err := readInput(endless{}, 1<<20); !errors.Is(err, errLongInput) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := ReadInput(io.MultiReader(strings.NewReader("{"), brokenReader{broken})); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// An agent that leaves the pipe open does not make a hook wait for ever.
func TestInputThatStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		if _, err := ReadInput(r); !errors.Is(err, errLateInput) {
			t.Errorf("%v", err)
		}
	})
}

func TestPanicIsAnError(t *testing.T) {
	kind := Kind("test")
	answerers[kind] = func(context.Context, Env, Input) (Reply, error) { panic("boom") }
	defer delete(answerers, kind)
	got, err := newWorld(t).answer(kind, "{}")
	if err == nil || !strings.Contains(err.Error(), "boom") || got != (output{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func TestLargeInputIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.uses(150_000)
	checkAlert(t, w.alert(map[string]any{"tool_response": strings.Repeat("x", 8<<20)}), "75%")
}

// A transcript of any kind and content neither breaks a hook nor makes it wait.
func TestTranscriptThatIsNone(t *testing.T) {
	t.Parallel()
	valid := `{"type":"assistant","message":{"usage":{"input_tokens":150000}}}`
	for name, c := range map[string]struct {
		make func(path string) error
		want string // in the alert
	}{
		"missing":     {func(string) error { return nil }, ""},
		"empty":       {func(path string) error { return os.WriteFile(path, nil, 0o600) }, ""},
		"a folder":    {func(path string) error { return os.Mkdir(path, 0o700) }, ""},
		"a dead link": {func(path string) error { return os.Symlink(path+"-nothing", path) }, ""},
		"a link": {func(path string) error {
			return errors.Join(os.WriteFile(path+"-real", []byte(valid+"\n"), 0o600), os.Symlink(path+"-real", path))
		}, "75%"},
		"garbage":      {func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("\xff\x00\n{"), 1000), 0o600) }, ""},
		"half written": {func(path string) error { return os.WriteFile(path, []byte(valid+"\n"+valid[:40]), 0o600) }, "75%"},
		"no newlines":  {func(path string) error { return os.WriteFile(path, []byte(valid), 0o600) }, "75%"},
		"odd numbers": {func(path string) error {
			return os.WriteFile(path, []byte(`{"type":"assistant","message":{"usage":{"input_tokens":-5,"output_tokens":"x","cache_read_input_tokens":1e99}}}`), 0o600)
		}, ""},
		"a number too large": {func(path string) error {
			return os.WriteFile(path, []byte(`{"type":"assistant","message":{"usage":{"input_tokens":9223372036854775807,"output_tokens":9223372036854775807}}}`), 0o600)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(w.home, "transcript.jsonl")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			got, _ := w.answer(PostToolUse, w.input("PostToolUse", map[string]any{"transcript_path": path}))
			checkAlert(t, got.HookSpecificOutput.AdditionalContext, c.want)
			f := w.begin(nil)
			checkBlocked(t, w.stop(map[string]any{"transcript_path": path}), marker)
			if l := only(t, f); l.Iteration != 1 {
				t.Errorf("%+v", l)
			}
		})
	}
}

// A record that was changed or cannot be read is as if there were none.
func TestRecordThatIsNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"garbage": "{{", "another session's": `{"session":"x","alerted":[50,60,70,80,90]}`, "empty": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.uses(150_000)
			if err := os.MkdirAll(filepath.Join(w.home, recordFolder), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.home, recordFolder, nameOf(w.session)+".json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			checkAlert(t, w.alert(nil), "75%")
			checkAlert(t, w.alert(nil), "")
		})
	}
}

func TestRecordFolderMayBeLink(t *testing.T) {
	w := newWorld(t)
	w.uses(150_000)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(w.home, recordFolder)); err != nil {
		t.Fatal(err)
	}
	got, err := w.answer(PostToolUse, w.input("PostToolUse", map[string]any{"transcript_path": filepath.Join(w.home, "transcript.jsonl")}))
	if err == nil || got != (output{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if entries, _ := os.ReadDir(elsewhere); len(entries) > 0 {
		t.Errorf("%d files were written through the link", len(entries))
	}
}

func FuzzHooks(f *testing.F) {
	for _, seed := range []string{
		`{"session_id":"s","cwd":"/","hook_event_name":"Stop","transcript_path":"/dev/null","last_assistant_message":"<promise>DONE</promise>"}`,
		`{"session_id":"s","hook_event_name":"PostToolUse"}`, "", "[",
	} {
		f.Add(seed)
	}
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, stdin string) {
		e := Env{Home: home, Cwd: "/", Now: time.Now, Variable: func(string) string { return "" }}
		for _, kind := range []Kind{Stop, PostToolUse} {
			var out bytes.Buffer
			_ = Answer(t.Context(), e, kind, strings.NewReader(stdin), &out)
			if out.Len() > 0 && !bytes.HasPrefix(out.Bytes(), []byte("{")) {
				t.Errorf("%s: %q", kind, out.String())
			}
		}
	})
}
