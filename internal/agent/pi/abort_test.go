package pi

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

func TestAbort(t *testing.T) {
	t.Run("a running turn is aborted after its queue was cleared", func(t *testing.T) {
		f := newFake(t)
		f.open("go")
		f.steer("a", "x")
		f.write(f.d.Abort())
		if got := f.finished(); got.Outcome != "aborted" {
			t.Errorf("finished %+v", got)
		}
		if want := []string{"get_state", "prompt", "steer", "clear_queue", "abort", "clear_queue"}; !slices.Equal(f.got, want) {
			t.Errorf("pi got %v, want %v", f.got, want)
		}
		if ids := f.delivered(); ids != nil {
			t.Errorf("delivered %v", ids)
		}
	})
	t.Run("a turn that waits for pi never begins", func(t *testing.T) {
		f := newFake(t)
		greet := f.d.Open(agent.Prompt{Text: "go"})
		f.write(f.d.Abort())
		f.write(greet)
		if got := f.finished(); got.Outcome != "aborted" || !slices.Equal(f.got, []string{"get_state"}) {
			t.Errorf("finished %+v, pi got %v", got, f.got)
		}
	})
	t.Run("a turn that pi has accepted and not begun is aborted when it begins", func(t *testing.T) {
		f := newFake(t)
		f.silent = true
		f.open("go")
		f.write(f.d.Abort()) // finds nothing to abort
		f.unfinished()
		f.start("go")
		if got := f.finished(); got.Outcome != "aborted" {
			t.Errorf("finished %+v", got)
		}
	})
	t.Run("without a turn there is nothing to write", func(t *testing.T) {
		f := newFake(t)
		if lines := append(f.d.Abort(), f.d.Stop()...); lines != nil {
			t.Errorf("wrote %q", lines)
		}
	})
	t.Run("an older pi does not say aborted of an aborted wait", func(t *testing.T) {
		f := newFake(t)
		f.open("go")
		f.end("error", "500: {}")
		f.running = false
		f.write(f.d.Abort())
		f.say(`{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"Retry cancelled"}`, `{"type":"agent_settled"}`)
		if got := f.finished(); got.Outcome != "aborted" {
			t.Errorf("finished %+v", got)
		}
	})
}
