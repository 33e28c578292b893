//go:build unix

package executor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/journal/event"
)

// noted is a repository with one commit, whose loop has an id and keeps work trees.
func noted(t *testing.T) *stage {
	t.Helper()
	s := plays(t, "say the work\nmessage\n  say Say two\n")
	track(t, s, "commit")
	git(t, s, "commit", "-qam", "two")
	s.cfg.ID, s.cfg.Snapshots = "01M8BNGX9EWD5NWXM83V7K0000", 5
	s.state.Rules.Breaker.NoProgress = 3
	return s.up()
}

// note is that of a commit.
func note(t *testing.T, s *stage, commit string) provenance.Note {
	t.Helper()
	notes, err := provenance.Notes(t.Context(), s.cfg.Project, s.cfg.Env...)
	if err != nil || len(notes[commit]) != 1 {
		t.Fatalf("notes of %s: %+v, %v", commit, notes, err)
	}
	return notes[commit][0]
}

func TestCommitsOfLoopHaveNotes(t *testing.T) {
	s := noted(t)
	s.do(begin)
	s.until(event.TypeIterationStarted)
	write(t, s.cfg.Project, "own.txt", "by the agent\n")
	git(t, s, "add", "own.txt")
	git(t, s, "commit", "-qm", "own")
	own := git(t, s, "rev-parse", "HEAD")
	write(t, s.cfg.Project, "work.txt", "three\n")

	checking := s.do(check)
	if e := s.until(event.TypeRepoInspected); !has(e, `"made":["`+own+`"]`) {
		t.Errorf("inspected: %s", e.data)
	}
	checked := s.until(event.TypeIterationChecked)
	ref := "refs/ralph/" + s.cfg.ID + "/iteration-1-end"
	if !has(checked, `"snapshot":"`+git(t, s, "rev-parse", ref)+`"`) || git(t, s, "show", ref+":work.txt") != "three" {
		t.Errorf("checked: %s", checked.data)
	}
	if n := note(t, s, own); n.Loop != s.cfg.ID || n.Iteration != 1 || n.Seq != checking {
		t.Errorf("the note of the agent's commit: %+v", n)
	}

	committing := s.do(commit)
	if e := s.until(event.TypeRepoCommitted); !has(e, `"message":"Say two"`) {
		t.Errorf("committed: %s", e.data)
	}
	if n := note(t, s, git(t, s, "rev-parse", "HEAD")); n.Iteration != 1 || n.Seq != committing {
		t.Errorf("the note of the loop's commit: %+v", n)
	}
}

// The files of a clean work tree can differ from those of its commit, so it is kept too.
func TestCleanEndIsKept(t *testing.T) {
	s := noted(t)
	s.do(begin)
	s.until(event.TypeIterationStarted)
	s.do(check)
	e, ref := s.until(event.TypeIterationChecked), "refs/ralph/"+s.cfg.ID+"/iteration-1-end"
	if !has(e, `"snapshot":"`+git(t, s, "rev-parse", ref)+`"`) || has(e, "warning") {
		t.Errorf("checked: %s", e.data)
	}
}

// A note that cannot be written is a warning: the commit counts.
func TestNoteThatCannotBeWritten(t *testing.T) {
	s := noted(t)
	write(t, s.cfg.Project, "work.txt", "three\n")
	notes := filepath.Join(s.cfg.Project, ".git", "refs", "notes")
	if err := os.WriteFile(notes, nil, 0o600); err != nil { // no ref can be below it
		t.Fatal(err)
	}
	s.do(commit)
	if e := s.until(event.TypeRepoCommitted); !has(e, `"warning":"add a note to 1 commit: `) {
		t.Errorf("committed: %s", e.data)
	}
	if e := s.until(event.TypeSCMEnded); has(e, "error") || !strings.Contains(e.data, "commit") {
		t.Errorf("ended: %s", e.data)
	}
}
