package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
)

func TestWhichProject(t *testing.T) {
	for _, row := range []struct {
		name          string
		there         []string // folders
		cwd           string
		others        []string // folders of another user
		want, foreign string
	}{
		{name: "here", there: []string{"a/.ralph", "a/b/.ralph", "a/.git"}, cwd: "a/b", want: "a/b"},
		{name: "above", there: []string{"a/.ralph", "a/b/c"}, cwd: "a/b/c", want: "a"},
		{name: "the nearest", there: []string{"a/.ralph", "a/b/.ralph", "a/b/c/d", "a/.git"}, cwd: "a/b/c/d", want: "a/b"},
		{name: "no further than the work tree", there: []string{"a/.ralph", "a/b/.git", "a/b/c"}, cwd: "a/b/c", want: "a/b"},
		{name: "nor from its root", there: []string{"a/.ralph", "a/b/.git"}, cwd: "a/b", want: "a/b"},
		{name: "the root where there is none", there: []string{"a/.git", "a/b/c"}, cwd: "a/b/c", want: "a"},
		{name: "nothing at all", there: []string{"a/b"}, cwd: "a/b", want: "a/b"},
		{name: "not the home folder", there: []string{"home/.ralph", "home/a"}, cwd: "home/a", want: "home/a"},
		{name: "nor where it is a work tree", there: []string{"home/.ralph", "home/.git", "home/a"}, cwd: "home/a", want: "home/a"},
		{name: "but from within", there: []string{"home/.ralph"}, cwd: "home", want: "home"},
		{name: "not above it", there: []string{".ralph", "home/a"}, cwd: "home/a", want: "home/a"},
		{name: "not ralph's own home", there: []string{"a/ours/.ralph", "a/.ralph", "a/ours/b"}, cwd: "a/ours/b", want: "a"},
		{name: "another's folder", there: []string{"a/.ralph", "a/b"}, cwd: "a/b", others: []string{"a"}, want: "a/b", foreign: "a/.ralph"},
		{name: "another's .ralph", there: []string{"a/.ralph", "a/b"}, cwd: "a/b", others: []string{"a/.ralph"}, want: "a/b", foreign: "a/.ralph"},
		{name: "not across another's folder", there: []string{"a/.ralph", "a/b/c"}, cwd: "a/b/c", others: []string{"a/b"}, want: "a/b/c"},
		{name: "another's work tree", there: []string{"a/.git", "a/b"}, cwd: "a/b", others: []string{"a"}, want: "a/b"},
		{name: "another user's, as the current folder", there: []string{"a/.ralph"}, cwd: "a", others: []string{"a", "a/.ralph"}, want: "a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			top := t.TempDir()
			for _, folder := range row.there {
				if err := os.MkdirAll(filepath.Join(top, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			s := search{
				cwd: filepath.Join(top, row.cwd), userHome: filepath.Join(top, "home"), ralphHome: filepath.Join(top, "a/ours/.ralph"),
				own: func(path string) bool {
					inside, err := filepath.Rel(top, path)
					return err == nil && filepath.IsLocal(inside) && inside != "." && !slices.Contains(row.others, filepath.ToSlash(inside))
				},
			}
			project, foreign := s.project()
			if want := filepath.Join(top, row.want); project != want {
				t.Errorf("the project is %s, not %s", project, want)
			}
			if want := row.foreign; want != "" && foreign != filepath.Join(top, want) || want == "" && foreign != "" {
				t.Errorf("what does not count is %q, not %q", foreign, want)
			}
		})
	}
}

func TestRooted(t *testing.T) {
	for _, row := range []struct{ command, want string }{
		{"./agent", "'/p q/x/agent'"},
		{"claude --model opus", "claude --model opus"},
		{"/bin/agent a", "/bin/agent a"},
		{"bin/agent 'two words'", "'/p q/x/bin/agent' 'two words'"},
		{"../agent", "'/p q/agent'"},
		{"", ""},
	} {
		folder := "/p q/x"
		if got := Rooted(row.command, folder); got != row.want {
			t.Errorf("%q is %q, not %q", row.command, got, row.want)
		}
	}
	if got := Rooted("./it's", "/p"); got != "/p/it's" { // a quote in a single word has no meaning
		t.Errorf("it is %q", got)
	}
}

func TestRootedAgents(t *testing.T) {
	for value, want := range map[string]string{
		"./a.sh --x":              "/p/a.sh --x",
		`["./a.sh --x","claude"]`: `["/p/a.sh --x","claude"]`,
		`["./a.sh"]`:              "/p/a.sh",
		"[./a.sh":                 "/p/[./a.sh",
	} {
		if got := RootedAgents(value, "/p"); got != want {
			t.Errorf("%s became %s", value, got)
		}
	}
}

// A loop is named after its branch; on main and master, after its project.
