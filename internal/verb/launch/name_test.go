package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
)

func TestDefaultName(t *testing.T) {
	for _, row := range []struct{ branch, want string }{
		{"", "my-app"}, {"main", "my-app"}, {"master", "my-app"}, {"fix/Login", "fix-login"}, {"main-2", "main-2"},
	} {
		project := filepath.Join(t.TempDir(), "My App")
		below := filepath.Join(project, "src")
		if err := os.MkdirAll(below, 0o700); err != nil {
			t.Fatal(err)
		}
		if row.branch != "" {
			if out, err := exec.Command("git", "init", "-q", "-b", row.branch, project).CombinedOutput(); err != nil {
				t.Fatalf("git init: %v: %s", err, out)
			}
		}
		e := &cli.Env{Cwd: below, Project: project}
		if got := DefaultName(e); got != row.want {
			t.Errorf("on branch %q it is %q, not %q", row.branch, got, row.want)
		}
	}
}
