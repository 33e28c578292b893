package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// A world is a person's machine with one project and, unless it is dead, one loop that lives there.
type world struct {
	t       *testing.T
	home    string
	project string
	loop    string // the folder of the loop
	env     map[string]string
	now     time.Time
	session string
	codex   bool // the agent is Codex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), project: t.TempDir(), env: map[string]string{}, now: time.Now(), session: "S-1"}
	w.loop = filepath.Join(w.project, ".ralph", "demo")
	if err := os.MkdirAll(w.loop, 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// live takes the loop's lock, and makes the session one of its agent.
func (w *world) live() *world {
	w.t.Helper()
	lock, err := registration.Acquire(w.loop)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = lock.Release() })
	w.env[LoopDirVariable] = w.loop
	return w
}

// in returns the world for a subtest of its own, in a session of its own.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t, sub.session = t, t.Name()
	return &sub
}

func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.project, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return path
}

// mark writes the marker of the loop.
func (w *world) mark(m plan.Marker) {
	w.t.Helper()
	m.Dir, m.Loop = w.loop, "demo"
	if m.ReviewCap == 0 {
		m.ReviewCap = 5
	}
	text, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(plan.Active, string(text))
}

// commit makes the project a repository in which everything is committed.
func (w *world) commit() {
	w.t.Helper()
	for _, args := range [][]string{{"init", "-q", "--template="}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.project
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// input is what the agent writes to a hook; more are further fields.
func (w *world) input(event string, more map[string]any) string {
	fields := map[string]any{"session_id": w.session, "cwd": w.project, "hook_event_name": event, "permission_mode": "bypassPermissions"}
	if w.codex {
		fields["turn_id"], fields["model"] = "T-1", "gpt-5.5"
	} else {
		fields["prompt_id"] = "P-1"
	}
	for key, value := range more {
		fields[key] = value
	}
	text, err := json.Marshal(fields)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// output is what a hook answers.
type output struct {
	Decision, Reason, SystemMessage string
	HookSpecificOutput              struct{ HookEventName, AdditionalContext string }
}

// answer calls a hook as an agent does.
func (w *world) answer(kind Kind, stdin string) (output, error) {
	w.t.Helper()
	var out bytes.Buffer
	e := Env{Home: w.home, Cwd: w.project, Now: func() time.Time { return w.now }, Variable: func(name string) string { return w.env[name] }}
	err := Serve(w.t.Context(), e, kind, strings.NewReader(stdin), &out)
	var got output
	if out.Len() > 0 {
		decoder := json.NewDecoder(&out)
		if err := decoder.Decode(&got); err != nil {
			w.t.Fatalf("the answer %q: %v", out.String(), err)
		}
	}
	return got, err
}

// stop calls the hook stop and returns its answer. It must not fail.
func (w *world) stop(more map[string]any) output {
	w.t.Helper()
	got, err := w.answer(Stop, w.input("Stop", more))
	if err != nil {
		w.t.Fatal(err)
	}
	if got.Decision != "" && got.Decision != "block" {
		w.t.Errorf("decision %q", got.Decision)
	}
	return got
}
