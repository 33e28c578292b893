package command_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

// A person saw the loop on mill, and kiln has taken it over: its mirror does not look again by
// itself.
func TestNewHostIsWoken(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const loop = "01JD0000000000000000000009"
	if _, err := queue.NewClaim(loop, "mill", []byte("{}")).Try(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	next := queue.NewClaim(loop, "kiln", nil)
	next.After = 1
	if _, err := next.Try(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := command.Send(t.Context(), s, loop, "mill", 0, inbox.Command{Kind: inbox.Stop, From: "cli:ada@mill"}); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"mill", "kiln"} {
		var l command.Listener
		if loops, _, err := l.Woken(t.Context(), s, host); err != nil || !slices.Equal(loops, []string{loop}) {
			t.Errorf("host %s was woken for %q, %v", host, loops, err)
		}
	}
}
