package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/registry"
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

func TestTakenIDIsRefused(t *testing.T) {
	const id = "01M8FA2JYHKW6VVFM7DY5FR4JE"
	e := &cli.Env{Cwd: t.TempDir(), Home: t.TempDir()}
	if err := checkFree(e, id); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(e.Cwd, ".ralph", "one")
	entry := registry.Entry{Name: "one", Dir: dir, Project: e.Cwd, ID: id, Agent: "pi", Host: "mill", PID: 7, Started: time.Now().UTC(), Version: "dev"}
	if err := registry.Put(e.Home, entry); err != nil {
		t.Fatal(err)
	}
	if err := checkFree(e, id); err == nil || err.Error() != "another loop has the id "+id {
		t.Errorf("error %v", err)
	}
}
