package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// threeIterations is a loop that has ended.
func threeIterations(t *testing.T) *recorded {
	t.Helper()
	r := record(t, "night")
	r.iterate(1, "One.")
	r.next(2)
	r.iterate(2, "Two.")
	r.next(3)
	r.iterate(3, "Three.")
	r.end(event.ReasonPromise, "done")
	r.register()
	return r
}

// types returns the fourth column of each line of a log.
func types(log string) (types []string) {
	for line := range strings.Lines(log) {
		types = append(types, strings.Fields(line)[4])
	}
	return types
}

func TestLogsFilters(t *testing.T) {
	r := threeIterations(t)
	for name, c := range map[string]struct {
		verb logsVerb
		want string
	}{
		"one type":                    {logsVerb{Type: []string{"agent.said"}}, "agent.said agent.said agent.said"},
		"a group of types":            {logsVerb{Type: []string{"tool."}, Iteration: "2"}, "tool.called tool.returned"},
		"several types":               {logsVerb{Type: []string{"loop.ended", "loop.started"}}, "loop.started loop.ended"},
		"a type that did not happen":  {logsVerb{Type: []string{"breaker.", "fault.raised"}}, ""},
		"some iterations":             {logsVerb{Iteration: "2-3", Type: []string{"iteration.started"}}, "iteration.started iteration.started"},
		"iterations from one on":      {logsVerb{Iteration: "3-", Type: []string{"iteration.", "loop."}}, "iteration.started iteration.ended loop.ended"},
		"of no iteration":             {logsVerb{Iteration: "0", Type: []string{"loop."}}, "loop.started"},
		"the last ones":               {logsVerb{Lines: 2}, "loop.ended segment.sealed"},
		"the last ones of a type":     {logsVerb{Lines: 2, Type: []string{"iteration.", "agent.said"}}, "agent.said iteration.ended"},
		"more than there are":         {logsVerb{Lines: 100, Type: []string{"loop."}}, "loop.started loop.ended"},
		"since a time":                {logsVerb{Since: "2026-11-21T01:52:43Z", Type: []string{"iteration.", "loop."}}, "iteration.started iteration.ended loop.ended"},
		"until a time":                {logsVerb{Until: "2026-11-21T01:52:29Z", Type: []string{"iteration.", "loop."}}, "loop.started iteration.started"},
		"an age":                      {logsVerb{Since: "59m40s", Type: []string{"loop."}}, "loop.ended"},
		"following a loop that ended": {logsVerb{Follow: true, Type: []string{"loop."}}, "loop.started loop.ended"},
	} {
		t.Run(name, func(t *testing.T) {
			c.verb.Source = "night"
			if got := strings.Join(types(r.printed(&c.verb)), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestLogsRefusesInvalidArguments(t *testing.T) {
	r := threeIterations(t)
	for name, verb := range map[string]logsVerb{
		"no range":                {Iteration: "x"},
		"a range that ends early": {Iteration: "3-2"},
		"no time":                 {Since: "someday"},
		"no such loop":            {Source: "other"},
		"no such type":            {Type: []string{"loop.ended", "lop.ended"}},
		"no such group of types":  {Type: []string{"tools."}},
		"no such file":            {Source: "./other.jsonl"},
		"a folder to follow":      {Source: t.TempDir(), Follow: true},
	} {
		if err := verb.Run(r.env); codeOf(err) != event.ExitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLogsReadFromAnywhere(t *testing.T) {
	r := threeIterations(t)
	all := r.printed(&logsVerb{Source: "night", JSON: true})
	copied := filepath.Join(t.TempDir(), "copy")
	r.must(os.CopyFS(copied, os.DirFS(r.dir)))
	second := filepath.Join(copied, "journal", "000002-i0002.jsonl")
	text, err := os.ReadFile(second)
	r.must(err)
	packed := filepath.Join(t.TempDir(), "000002-i0002.jsonl.zst")
	var zst bytes.Buffer
	w, err := zstd.NewWriter(&zst)
	r.must(err)
	_, err = w.Write(text)
	r.must(err)
	r.must(w.Close())
	r.must(os.WriteFile(packed, zst.Bytes(), 0o600))
	for name, c := range map[string]struct{ source, want string }{
		"a copy of the folder":   {copied, all},
		"one segment":            {second, string(text)},
		"one compressed segment": {packed, string(text)},
		"the loop's folder":      {filepath.Join(cli.RalphFolder, "night"), all},
		"the loop of this place": {"", all},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.printed(&logsVerb{Source: c.source, JSON: true}); got != c.want {
				t.Errorf("printed\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestLogsFollowALiveLoop(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "One.")
	r.register()
	done := make(chan error, 1)
	go func() { done <- (&logsVerb{Source: "night", Follow: true, Lines: 1}).Run(r.env) }()
	r.out.await(t, "iteration.ended")
	r.append(event.AgentSaid{Block: "2.0", Text: event.Plain("news")})
	r.out.await(t, "news")
	r.end(event.ReasonPromise, "done")
	if err := returned(t, done); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(types(r.out.String()), " "), "iteration.ended agent.said loop.ended segment.sealed"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLogsEndWithTheRunner(t *testing.T) {
	client.RunnerCheck = 20 * time.Millisecond
	t.Cleanup(func() { client.RunnerCheck = 2 * time.Second })
	r := record(t, "night")
	r.live()
	r.register()
	done := make(chan error, 1)
	go func() { done <- (&logsVerb{Source: "night", Follow: true}).Run(r.env) }()
	r.out.await(t, "loop.started")
	r.append(event.AgentSaid{Block: "2.0", Text: event.Plain("the last word")})
	r.must(r.lock.Release())
	if err := returned(t, done); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(types(r.out.String()), " "), "segment.opened loop.started agent.said"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What of a long journal is not shown is not read: here that would be an error.
func TestLogsReadWhatIsShown(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.register()
	var segments []string
	for n := 1; n <= 4; n++ {
		r.iterate(n, fmt.Sprintf("Words of iteration %d.", n))
		segments = append(segments, filepath.Join(r.dir, "journal", r.w.Position().Segment))
		if n < 4 {
			events, err := r.w.Rotate(n+1, r.state.Checkpoint())
			r.must(err)
			r.fold(events)
		}
	}
	r.must(os.WriteFile(segments[0], []byte("damage\n"), 0o600))
	done := make(chan error, 1)
	go func() { done <- (&logsVerb{Source: "night", Follow: true, Lines: 1}).Run(r.env) }()
	r.out.await(t, "iteration.ended")
	r.end(event.ReasonPromise, "done")
	if err := returned(t, done); err != nil {
		t.Errorf("the end of the journal: %v", err)
	}
	last, err := os.ReadFile(segments[3])
	r.must(err)
	first, _, _ := bytes.Cut(last, []byte("\n"))
	r.must(os.WriteFile(segments[3], append(first, "\ndamage\n"...), 0o600))
	if got := r.printed(&logsVerb{Source: "night", Iteration: "3"}); strings.Count(got, "Words of iteration 3.") != 1 || strings.Contains(got, "iteration 2") {
		t.Errorf("iteration 3:\n%s", got)
	}
}

// A runner that dies before an iteration began leaves its segment; the next one resumes in one of
// the iteration before.
func TestLogsOfResumedIteration(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "One.")
	r.next(2)
	r.must(r.w.Close())
	found, err := journal.Recover(r.dir, r.opt)
	r.must(err)
	w, events, err := journal.Create(r.dir, found, 1, r.state.Checkpoint(), r.opt)
	r.must(err)
	r.w = w
	t.Cleanup(func() { _ = w.Close() })
	r.fold(events)
	resumed, err := w.Append([]event.Draft{event.Encode(event.LoopResumed{Host: "mill", PID: 8, Died: true}, "loop")})
	r.must(err)
	r.fold(resumed)
	r.append(event.Decided{Do: event.DoBegin, Iteration: 2})
	r.next(2)
	r.iterate(2, "Two.")
	r.next(3)
	r.iterate(3, "Three.")
	r.end(event.ReasonPromise, "done")
	r.register()
	for iterations, want := range map[string]string{
		"0":    "loop.started loop.resumed",
		"1":    "loop.started iteration.started iteration.ended loop.resumed",
		"2":    "iteration.started iteration.ended",
		"0..2": "loop.started iteration.started iteration.ended loop.resumed iteration.started iteration.ended",
	} {
		got := r.printed(&logsVerb{Source: "night", Iteration: iterations, Type: []string{"loop.", "iteration."}})
		if got := strings.Join(types(got), " "); got != want {
			t.Errorf("-i %s: %s", iterations, got)
		}
	}
}

func returned(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("attach does not return")
		return nil
	}
}
