package task_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/task"
)

func TestPullRequestText(t *testing.T) {
	for content, want := range map[string][2]string{
		"":                                    {"", ""},
		"\n\n# Fix the login\n\nIt failed.\n": {"Fix the login", "It failed."},
		"Fix the login":                       {"Fix the login", ""},
		"  ## Fix\r\nwhy\r\n":                 {"Fix", "why"},
		"bad \xff byte\n" + strings.Repeat("x", 100_000): {"bad \ufffd byte", strings.Repeat("x", 64<<10-len("bad _ byte\n"))},
	} {
		title, text, err := task.ReadPullRequest(folder(t, map[string]string{task.PullRequestFile: content}))
		if title != want[0] || text != want[1] || err != nil {
			t.Errorf("%.40q: %q, %.40q (%d), %v", content, title, text, len(text), err)
		}
	}
	if title, text, err := task.ReadPullRequest(t.TempDir()); title != "" || text != "" || err != nil {
		t.Errorf("without the file: %q, %q, %v", title, text, err)
	}
}
