package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// The list of iterations says what went wrong in those that are done, from their files and live.
func TestListShowsWhatHurt(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "iterations"), 0o700); err != nil {
		t.Fatal(err)
	}
	var s side
	m := &model{theme: terminal.NewTheme(true, colorprofile.NoTTY)}
	for name, text := range map[string]string{
		"001": `{"n":1,"outcome":"done","failed":["make"],"refused":["the guardrail failed"],"progress":"no"}`,
		"002": `{"n":2,"outcome":"done","refused":["no work was done"]}`, "003": `{"n":3,"outcome":"done","progress":"no"}`,
		"004": `{"n":4,"outcome":"done","progress":"yes"}`, "005": `{"n":5,"outcome":"failed","progress":"no"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "iterations", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var read []iteration
	for n := 1; n <= 5; n++ {
		read = append(read, readIteration(dir, n))
	}
	s.loaded(m, sideMsg{read})
	live := func(n int, bodies ...transcript.Body) {
		for _, body := range append(bodies, transcript.IterationEnd{N: n, Outcome: event.OutcomeDone, Progress: event.ProgressNo}) {
			s.note(m, transcript.Entry{Iteration: n, Body: body})
		}
	}
	live(6, transcript.Guardrail{State: transcript.StateFailed}, transcript.Claim{State: transcript.ClaimRefused})
	live(7, transcript.Claim{State: transcript.ClaimRefused})
	live(8)
	var words []string
	for _, line := range s.lines(m, sideColumns, 20)[1:] {
		words = append(words, strings.Fields(line)[1])
	}
	if got := strings.Join(words, " "); got != "failing refused stuck done failed failing refused stuck" {
		t.Errorf("%s", got)
	}
}

// The diff of an iteration is its commit, as the program shows it.
func TestDiffIsOfCommit(t *testing.T) {
	var asked string
	b := newBench(t, Options{ShowCommit: func(_ context.Context, project, commit string) (string, error) {
		asked = project + " " + commit
		return "commit c0ffee\n\n+tabs\x1b[2J\n", nil
	}})
	b.view.Project = "/mill"
	b.side.item(3).commit = "c0ffee"
	b.types("<esc>", "d")
	b.shows("Iteration 3: commit c0ffee", "+tabs")
	if asked != "/mill c0ffee" {
		t.Errorf("it was asked for %q", asked)
	}
	if strings.Contains(b.View().Content, "\x1b[2J") {
		t.Error("a command to the terminal is in it")
	}
}
