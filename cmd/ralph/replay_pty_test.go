//go:build unix

package main

import "testing"

// At a terminal a replay has the full screen.
func TestReplayOnTheFullScreen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.script("two.rehearsal", "iteration\n  tool bash {\"command\":\"make\"} -> error: no rule\n  say One.\niteration\n  append work.txt {iteration}\n  say Two.\n  promise\n")
	p.fine("run", "--name", "one", "-p", "x", "--agent", "ralph rehearse "+path, "--protocol", "rehearsal")
	replay := p.watch("replay", "one", "--speed", "1")
	replay.sees("at the end · event ", "Two.", "completed")
	replay.types(".") // pauses
	replay.types("g")
	replay.sees("go to event, or i and iteration:")
	replay.types("i1" + enter)
	replay.sees("paused, 1x · event ", " · iteration 1 · ", "space play")
	replay.types("f")
	replay.sees("no rule")
	replay.types("]")
	replay.sees(" · iteration 2 · ")
	replay.types("+")
	replay.sees("paused, 2x")
	replay.types("?")
	replay.sees("In a replay", "back to the beginning of this iteration")
	replay.types("q")
	replay.types(" ")
	replay.sees("at the end", "Two.")
	replay.types("q")
	replay.leaves()
}
