package hook

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/verb/shellguard"
)

// permission calls the hook pre-tool-use, and returns the verdict and its reason.
func (w *world) permission(tool string, arguments map[string]any) (verdict, reason string, err error) {
	w.t.Helper()
	return w.raw(w.input("PreToolUse", map[string]any{"tool_name": tool, "tool_input": arguments, "tool_use_id": "t1"}))
}

func (w *world) raw(stdin string) (verdict, reason string, err error) {
	w.t.Helper()
	var out bytes.Buffer
	e := Env{Home: w.home, Cwd: w.project, Now: func() time.Time { return w.now }, Variable: func(name string) string { return w.env[name] }}
	err = Answer(w.t.Context(), e, PreToolUse, strings.NewReader(stdin), &out)
	var got struct {
		Specific struct{ HookEventName, PermissionDecision, PermissionDecisionReason string } `json:"hookSpecificOutput"`
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			w.t.Fatalf("the answer %q: %v", out.String(), err)
		}
		if got.Specific.HookEventName != "PreToolUse" {
			w.t.Errorf("the answer is for %q", got.Specific.HookEventName)
		}
	}
	return got.Specific.PermissionDecision, got.Specific.PermissionDecisionReason, err
}

func TestGuardOfALoop(t *testing.T) {
	w := newWorld(t).live()
	w.write("check.sh", "exit 0\n")
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"Bash", map[string]any{"command": "go test ./..."}, ""},
		{"Bash", map[string]any{"command": "rm -rf ~"}, "deny"},
		{"Bash", map[string]any{"command": "git reset --hard"}, "deny"}, // ask, and no person is there
		{"Bash", map[string]any{"command": "$TOOL x"}, "deny"},
		{"Bash", map[string]any{"command": "echo x > .ralph/demo/state.json"}, "deny"},
		{"Bash", map[string]any{"command": "echo x > .ralph/demo/DONE"}, ""},
		{"shell", map[string]any{"command": []string{"bash", "-lc", "git push --force"}}, "deny"},
		{"shell", map[string]any{"command": []string{"echo", "rm -rf / ; x"}}, ""},
		{"exec_command", map[string]any{"cmd": "cat ~/.ssh/id_rsa"}, "deny"},
		{"Write", map[string]any{"file_path": filepath.Join(w.project, ".ralph", "settings.json"), "content": "{}"}, "deny"},
		{"Write", map[string]any{"file_path": filepath.Join(w.project, "main.go"), "content": "rm -rf /"}, ""},
		{"Edit", map[string]any{"file_path": filepath.Join(w.loop, "journal", "x.jsonl")}, "deny"},
		{"Edit", map[string]any{"file_path": filepath.Join(w.loop, "task.md")}, ""},
		{"MultiEdit", map[string]any{"file_path": filepath.Join(w.project, ".ralph-active")}, "deny"},
		{"NotebookEdit", map[string]any{"notebook_path": filepath.Join(w.home, "trust", "x.json")}, "deny"},
		{"Read", map[string]any{"file_path": filepath.Join(w.project, ".env")}, "deny"},
		{"Read", map[string]any{"file_path": filepath.Join(w.project, "main.go")}, ""},
		{"apply_patch", map[string]any{"command": "*** Begin Patch\n*** Update File: .ralph/settings.json\n@@\n*** End Patch\n"}, "deny"},
		{"apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch\n"}, ""},
		{"WebFetch", map[string]any{"url": "https://example.com"}, ""},
		{"Bash", map[string]any{"other": 1}, ""},
	} {
		got, reason, err := w.permission(test.tool, test.arguments)
		if got != test.want || err != nil {
			t.Errorf("%s %v is %q (%s, %v), want %q", test.tool, test.arguments, got, reason, err, test.want)
		}
		if got != "" && !strings.HasPrefix(reason, "ralph's guard") {
			t.Errorf("%s %v: reason %q", test.tool, test.arguments, reason)
		}
	}
}

// A loop in a worktree works there. What belongs to ralph and to the person is elsewhere.
func TestGuardInWorktree(t *testing.T) {
	w := newWorld(t).live()
	tree := filepath.Join(w.loop, "worktree")
	w.write(".ralph/demo/worktree.json", `{"branch":"ralph/demo","inside":".","ready":true}`)
	w.write(".ralph/demo/worktree/main.go", "package main\n")
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"Write", map[string]any{"file_path": filepath.Join(tree, "main.go")}, ""},
		{"Write", map[string]any{"file_path": filepath.Join(tree, ".ralph-active")}, "deny"},
		{"Write", map[string]any{"file_path": filepath.Join(tree, ".claude", "settings.json")}, "deny"},
		{"Write", map[string]any{"file_path": filepath.Join(w.project, ".ralph", "settings.json")}, "deny"},
		{"Write", map[string]any{"file_path": filepath.Join(w.project, ".git", "config")}, "deny"},
		{"Edit", map[string]any{"file_path": filepath.Join(w.loop, "journal", "x.jsonl")}, "deny"},
		{"Edit", map[string]any{"file_path": filepath.Join(w.loop, "task.md")}, ""},
		{"Bash", map[string]any{"command": "rm -rf " + filepath.Join(tree, "build")}, ""},
		{"Bash", map[string]any{"command": "rm -rf " + tree}, "deny"},
		{"Bash", map[string]any{"command": "rm -rf " + w.project}, "deny"},
		{"Bash", map[string]any{"command": "rm -rf " + filepath.Join(w.project, ".ralph")}, "deny"},
		{"Bash", map[string]any{"command": "echo x > " + filepath.Join(w.project, ".ralph", "settings.local.json")}, "deny"},
	} {
		got, reason, err := w.permission(test.tool, test.arguments)
		if got != test.want || err != nil {
			t.Errorf("%s %v is %q (%s, %v), want %q", test.tool, test.arguments, got, reason, err, test.want)
		}
	}
}

func TestGuardOfOtherSessions(t *testing.T) {
	w := newWorld(t) // no loop lives
	force := map[string]any{"command": "git push --force"}
	hard := map[string]any{"command": "git reset --hard"}
	if got, _, _ := w.permission("Bash", force); got != "" {
		t.Errorf("a session that is not ralph's: %q", got)
	}
	w.env[LoopDirVariable] = w.loop
	if got, _, _ := w.permission("Bash", force); got != "" {
		t.Errorf("a loop that is dead: %q", got)
	}
	delete(w.env, LoopDirVariable)
	testfile.Write(t, filepath.Join(w.home, "settings.json"), `{"guard": {"sessions": true}}`)
	if got, _, _ := w.permission("Bash", force); got != "deny" {
		t.Errorf("with guard.sessions: %q", got)
	}
	if got, _, _ := w.permission("Bash", hard); got != "ask" {
		t.Errorf("a person can answer: %q", got)
	}
	w.codex = true
	if got, _, _ := w.permission("Bash", hard); got != "deny" {
		t.Errorf("Codex does not ask: %q", got)
	}
}

func TestGuardSettingsNeedTrust(t *testing.T) {
	w := newWorld(t)
	w.write(".ralph/settings.json", `{"guard": {"sessions": true, "deny": ["make deploy"]}}`)
	command := func(text string) string {
		got, _, _ := w.permission("Bash", map[string]any{"command": text})
		return got
	}
	if command("make deploy") != "deny" {
		t.Error("a repository may refuse more")
	}
	w.write(".ralph/settings.json", `{"guard": {"sessions": true, "allow": ["git push --force"], "off": ["files"]}}`)
	testfile.Write(t, filepath.Join(w.home, "settings.json"), `{"guard": {"sessions": true}}`)
	if command("git push --force") != "deny" || command("rm -rf ~") != "deny" {
		t.Error("a repository allowed more, without trust")
	}
}

func TestGuardOfALoopsSettings(t *testing.T) {
	w := newWorld(t).live()
	w.write("check.sh", "exit 0\n")
	settings := config.Defaults()
	settings.Guard.Allow = []string{"git push --force"}
	settings.Guard.Unknown = "allow"
	settings.Guardrails = []config.Guardrail{{Command: "sh check.sh", FailAction: config.FailAppend, Protect: true}}
	frozen, err := config.Freeze(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.write(".ralph/demo/config.json", string(frozen))
	for text, want := range map[string]string{
		"git push --force": "", "git push -f": "deny", "$X y": "", "echo exit 0 > check.sh": "deny", "sh check.sh": "",
	} {
		if got, reason, err := w.permission("Bash", map[string]any{"command": text}); got != want || err != nil {
			t.Errorf("%s is %q (%s, %v), want %q", text, got, reason, err, want)
		}
	}
	w.write(".ralph/demo/config.json", "{")
	if got, _, err := w.permission("Bash", map[string]any{"command": "git push --force"}); got != "deny" || err == nil {
		t.Errorf("with settings that cannot be read: %q, %v", got, err)
	}
}

// The setting guard.off takes the words that the guard has.
func TestSettingNamesEachCategory(t *testing.T) {
	for _, key := range config.Keys() {
		if key.Name != "guard.off" {
			continue
		}
		var words []string
		for _, c := range shellguard.Categories() {
			words = append(words, string(c))
		}
		if !slices.Equal(key.Enum, words) {
			t.Errorf("guard.off takes %q, but the guard has %q", key.Enum, words)
		}
		return
	}
	t.Error("there is no setting guard.off")
}

func TestUnreadableToolCall(t *testing.T) {
	w := newWorld(t)
	if got, _, err := w.raw("{"); got != "" || err == nil {
		t.Errorf("a session of a person: %q, %v", got, err)
	}
	if got, _, err := w.live().raw("{"); got != "deny" || err == nil {
		t.Errorf("in a loop: %q, %v", got, err)
	}
}
