//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Only loops that are known to be removed are pruned: none on a disk that is not mounted, or of
// another machine.
func TestPrune(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	at := mount(here)
	if at == "" || mount(at) != at {
		t.Fatalf("%s is mounted on %q", here, at)
	}
	for name, c := range map[string]struct {
		change func(*Entry)
		made   bool
		want   bool
	}{
		"its folder was removed":                   {func(*Entry) {}, false, true},
		"its project was removed":                  {func(e *Entry) { e.Project = filepath.Join(here, "gone") }, false, true},
		"its folder is there":                      {func(*Entry) {}, true, false},
		"another machine's":                        {func(e *Entry) { e.Host = host + "x" }, false, false},
		"its disk is not mounted":                  {func(e *Entry) { e.Mount = filepath.Join(here, "project") }, false, false},
		"its disk's folder is not there":           {func(e *Entry) { e.Mount = filepath.Join(here, "media") }, false, false},
		"of an earlier version, with its project":  {func(e *Entry) { e.Mount = "" }, false, true},
		"of an earlier version, and no project is": {func(e *Entry) { e.Mount, e.Project = "", filepath.Join(here, "gone") }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			project := filepath.Join(here, "project")
			e := Entry{
				Name: "night", Project: project, Dir: filepath.Join(project, ".ralph", "night"), ID: "01JD", Agent: "pi",
				Host: host, Started: time.Now(), Mount: at,
			}
			if err := os.MkdirAll(project, 0o700); err != nil {
				t.Fatal(err)
			}
			if c.change(&e); c.made {
				e.Dir = t.TempDir()
			}
			if err := Put(home, e); err != nil {
				t.Fatal(err)
			}
			found, err := Survey(home, nil)
			if err != nil || len(found) != 1 || found[0].Mount != e.Mount {
				t.Fatalf("%v, %v", found, err)
			}
			pruned, err := Prune(home, found)
			left, _ := list(t, home)
			if err != nil || len(pruned) == 1 != c.want || len(left) == 0 != c.want {
				t.Errorf("pruned %v, left %v: %v", pruned, left, err)
			}
			// Replaced since by another loop of that name.
			e.ID = "01JE"
			if err := Put(home, e); err != nil {
				t.Fatal(err)
			}
			if pruned, err := Prune(home, found); len(pruned) != 0 || err != nil {
				t.Errorf("pruned %v, which was replaced: %v", pruned, err)
			}
		})
	}
}
