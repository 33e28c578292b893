package hook

import (
	"strings"
	"testing"
)

func TestStartNamesLiveLoop(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		start := func() string {
			got, err := w.answer(SessionStart, w.input("SessionStart", map[string]any{"source": "startup"}))
			if err != nil {
				t.Fatal(err)
			}
			return got.HookSpecificOutput.AdditionalContext
		}
		if got := start(); got != "" {
			t.Errorf("a dead loop: %q", got)
		}
		w.live()
		if got := start(); got != "" { // its prompt says everything
			t.Errorf("to the loop's own agent: %q", got)
		}
		delete(w.env, LoopDirVariable)
		if got := start(); !strings.Contains(got, "demo") {
			t.Errorf("to a person's session: %q", got)
		}
	})
}

func TestStartRepeatsSessionLoop(t *testing.T) {
	w := newWorld(t)
	w.begin(nil)
	got, err := w.answer(SessionStart, w.input("SessionStart", map[string]any{"source": "compact"}))
	if err != nil || !strings.Contains(got.HookSpecificOutput.AdditionalContext, marker) {
		t.Errorf("%+v, %v", got, err)
	}
}
