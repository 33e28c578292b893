package hook

import (
	"slices"
	"strings"
	"testing"
)

func TestPromptCancelsSessionLoop(t *testing.T) {
	for _, test := range []struct {
		name, prompt string
		sessions     []string
		more         map[string]any
		env          map[string]string
		want         bool
	}{
		{name: "the command", prompt: "/cancel-ralph", sessions: []string{"S-1"}, want: true},
		{name: "of the plugin", prompt: " /ralph:cancel-ralph now\n", sessions: []string{"S-1"}, want: true},
		{name: "in Codex", prompt: "$ralph:cancel-ralph", sessions: []string{"S-1"}, want: true},
		{name: "no session has it yet", prompt: "/cancel-ralph", want: true},
		{name: "another session has it", prompt: "/cancel-ralph", sessions: []string{"S-2"}},
		{name: "the agent of a loop asks", prompt: "/cancel-ralph", env: map[string]string{LoopDirVariable: "/nowhere/.ralph/demo"}},
		{name: "a subagent", prompt: "/cancel-ralph", sessions: []string{"S-1"}, more: map[string]any{"agent_id": "a1"}},
		{name: "in the middle", prompt: "what does /cancel-ralph do?", sessions: []string{"S-1"}},
		{name: "a longer word", prompt: "/cancel-ralphs", sessions: []string{"S-1"}},
		{name: "nothing", prompt: " ", sessions: []string{"S-1"}},
		{name: "no text", more: map[string]any{"prompt": []string{"/cancel-ralph"}}, sessions: []string{"S-1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			for name, value := range test.env {
				w.env[name] = value
			}
			folder, err := MakeSessionFolder(w.home, w.project)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			l := &SessionLoop{Task: "THE-TASK", Promise: "DONE", MaxIterations: 3, OnNoWork: RejectNoWork, Cwd: w.project, Sessions: test.sessions, Started: w.now.UTC()}
			if err := folder.Start(l); err != nil {
				t.Fatal(err)
			}
			more := map[string]any{"prompt": test.prompt}
			for key, value := range test.more {
				more[key] = value
			}
			got, err := w.answer(UserPrompt, w.input("UserPromptSubmit", more))
			if err != nil {
				t.Fatal(err)
			}
			all := folder.List()
			at := slices.IndexFunc(all, func(other *SessionLoop) bool { return other.ID == l.ID })
			if cancelled := all[at].Result == Cancelled; cancelled != test.want {
				t.Errorf("cancelled: %t", cancelled)
			}
			if said := strings.Contains(got.HookSpecificOutput.AdditionalContext, "THE-TASK"); said != test.want || got.Decision != "" {
				t.Errorf("the answer is %+v", got)
			}
		})
	}
}
