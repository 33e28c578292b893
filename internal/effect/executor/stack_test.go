//go:build unix

package executor_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/journal/event"
)

// Parts are as large as limits.diff allows, a larger commit is one of its own, and a part on which
// a guardrail fails is joined with the next, unless the guardrail cannot pass in a throw-away tree.
func TestPartsOfBranch(t *testing.T) {
	const notRun = "the guardrails were not run on it: in a throw-away work tree `test -e ignored` fails on the finished work too"
	for name, row := range map[string]struct {
		limit   int
		lines   []int // of the commits
		guard   string
		want    []int // lines of the parts; none if there is one pull request
		note    string
		ignored bool
	}{
		"as large as the limit":           {4, []int{2, 2}, "true", nil, "", false},
		"a line more":                     {4, []int{2, 2, 1}, "true", []int{4, 1}, "", false},
		"a larger commit":                 {4, []int{2, 5, 2}, "true", []int{2, 5, 2}, "one commit cannot be split", false},
		"one fails":                       {2, []int{2, 2, 2}, "test ! -e 1 || test -e 2", []int{2, 4}, "`test ! -e 1 || test -e 2` fails after \\\"commit 1\\\"", false},
		"all but the last fail":           {2, []int{2, 2, 2}, "test -e 2", nil, "", false},
		"it needs what is not in commits": {2, []int{2, 2}, "test -e ignored", []int{2, 2}, notRun, true},
		"there is no limit":               {0, []int{2, 2}, "true", nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := published(t, noneYet(), "push", "pr")
			s.cfg.Guardrails = []guardrail.Guardrail{{Command: row.guard}}
			home := t.TempDir()
			s.cfg.Scratch = func(ctx context.Context, commit string) (*executor.ScratchTree, error) {
				tree, err := scratch.Open(ctx, scratch.Config{Dir: s.cfg.Project, Tree: commit, Home: home, Env: s.cfg.Env})
				if err != nil {
					return nil, err
				}
				return &executor.ScratchTree{Dir: tree.Project, Logs: filepath.Dir(tree.Root), Env: s.cfg.Env, Close: tree.Close}, nil
			}
			s.state.Rules.Limits.Diff = row.limit
			s.up()
			git(t, s, "checkout", "-q", ".")
			git(t, s, "update-ref", "refs/remotes/origin/main", "HEAD")
			for i, lines := range row.lines {
				write(t, s.cfg.Project, fmt.Sprint(i), strings.Repeat("x\n", lines))
				git(t, s, "add", ".")
				git(t, s, "commit", "-qm", fmt.Sprint("commit ", i))
			}
			if row.ignored {
				write(t, s.cfg.Project, "ignored", "")
			}
			all := s.answer(commit)
			ended := decodeAs[event.SCMEnded](t, all[len(all)-1])
			if ended.Error != "" || ended.PR == "" {
				t.Fatalf("%+v", ended)
			}
			var got []int
			var notes []string
			for _, r := range ended.PRs {
				got, notes = append(got, r.Lines), append(notes, r.Note)
			}
			if fmt.Sprint(got) != fmt.Sprint(row.want) {
				t.Errorf("parts of %v lines, want %v: %s", got, row.want, all[len(all)-1].data)
			}
			if !has(all[len(all)-1], row.note) || row.note == "" && strings.Join(notes, "") != "" {
				t.Errorf("the notes are %q, want %q", notes, row.note)
			}
		})
	}
}
