//go:build unix

package registry_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// surveyed is what the tests look at of a Status.
type surveyed struct {
	Name              string
	Status            event.Status
	Alive, Died, Gone bool
}

func look(statuses []registry.Status) (got []surveyed) {
	for _, s := range statuses {
		got = append(got, surveyed{s.Name, s.Head.Status, s.Live.Alive, s.Died, s.Gone})
	}
	return got
}

const headLine = `{"seq":412,"status":"running","reason":"","iteration":4,"maximumIterations":10,"since":"2026-11-21T01:52:28.123456Z",` +
	`"at":"2026-11-21T01:52:28.123456Z","cost":1.25,"tokensIn":1000,"tokensOut":200,"agent":"pi","waiting":""` + "\n" + `,"more":[{"x":1}]}`

func entryOf(name, project string) registry.Entry {
	return registry.Entry{
		Name: name, Dir: filepath.Join(project, ".ralph", name), Project: project, ID: "01JD0000000000000000000000", Agent: "pi",
		Host: "mill", PID: 4711, Started: time.Date(2026, 11, 21, 1, 52, 28, 123456000, time.UTC), Version: "1.0.0",
	}
}

func TestSurvey(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	completed := strings.Replace(headLine, "running", "completed", 1)
	loops := []struct {
		name, state string
		lock        string // "", "free", "held"
		want        surveyed
	}{
		{"a-alive", headLine, "held", surveyed{Status: "running", Alive: true}},
		{"b-died", headLine, "free", surveyed{Status: "running", Died: true}},
		{"c-died-before-its-lock", strings.Replace(headLine, "running", "starting", 1), "", surveyed{Status: "starting", Died: true}},
		{"d-ended", completed, "free", surveyed{Status: "completed"}},
		{"e-ending", completed, "held", surveyed{Status: "completed", Alive: true}},
		{"f-beginning", "", "held", surveyed{Status: event.StatusStarting, Alive: true}},
		{"g-no-state", "", "free", surveyed{Status: event.StatusUnknown}},
		{"h-torn", headLine[:100], "free", surveyed{Status: event.StatusUnknown}},
		{"i-not-a-state", "[]", "free", surveyed{Status: event.StatusUnknown}},
		{"j-reformatted", strings.ReplaceAll(completed, `,"`, ",\n \""), "free", surveyed{Status: "completed"}},
		{"k-long-wait", strings.Replace(completed, `"waiting":"`, `"waiting":"`+strings.Repeat("ü", 2000), 1), "free", surveyed{Status: "completed"}},
	}
	var want []surveyed
	for _, l := range loops {
		e := entryOf(l.name, project)
		if err := errors.Join(os.MkdirAll(e.Dir, 0o700), registry.Put(home, e)); err != nil {
			t.Fatal(err)
		}
		if l.lock != "" {
			lock, err := registration.Acquire(e.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if l.lock == "held" {
				defer lock.Release()
			} else if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
		}
		if l.state != "" {
			if err := os.WriteFile(filepath.Join(e.Dir, "state.json"), []byte(l.state), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l.want.Name = l.name
		want = append(want, l.want)
	}
	if err := registry.Put(home, entryOf("l-gone", project)); err != nil {
		t.Fatal(err)
	}
	want = append(want, surveyed{Name: "l-gone", Status: event.StatusUnknown, Gone: true})

	got, err := registry.Survey(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, look(got)); diff != "" {
		t.Error(diff)
	}
	for _, s := range got {
		if s.Err != nil || s.File != s.Entry.File() || s.Live.Alive && s.Live.PID != os.Getpid() {
			t.Errorf("%+v", s)
		}
		if s.Head.Status == "running" && (s.Head.Iteration != 4 || *s.Head.Cost != 1.25 || *s.Head.TokensOut != 200) {
			t.Errorf("%+v", s.Head)
		}
	}

	got, err = registry.Survey(home, func(e registry.Entry) bool { return e.Name == "d-ended" })
	if diff := cmp.Diff([]surveyed{{Name: "d-ended", Status: "completed"}}, look(got)); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestSurveyShowsUnreadableEntries(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	linked := entryOf("linked", project)
	state := entryOf("state-is-a-fifo", project)
	for _, e := range []registry.Entry{linked, state} {
		if err := errors.Join(os.MkdirAll(e.Dir, 0o700), registry.Put(home, e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Symlink("/dev/null", filepath.Join(linked.Dir, registry.LockFile)),
		syscall.Mkfifo(filepath.Join(state.Dir, "state.json"), 0o600),
		os.WriteFile(filepath.Join(registry.Folder(home), "junk.json"), []byte("{"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	got, err := registry.Survey(home, func(registry.Entry) bool { return true })
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got[0]; s.Name != "linked" || !strings.Contains(s.Err.Error(), "is a symbolic link") {
		t.Errorf("the link: %+v", s)
	}
	if s := got[1]; s.Name != "state-is-a-fifo" || s.Err != nil || s.Head.Status != event.StatusUnknown {
		t.Errorf("the FIFO: %+v", s)
	}
	if s := got[2]; s.File != "junk.json" || s.Name != "" {
		t.Errorf("the junk: %+v", s)
	}
	if bad, ok := errors.AsType[*registry.EntryError](got[2].Err); !ok || bad.File != "junk.json" {
		t.Errorf("the junk: %v", got[2].Err)
	}
}

func TestSurveyWithoutRegistry(t *testing.T) {
	if got, err := registry.Survey(filepath.Join(t.TempDir(), "absent"), nil); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	home := t.TempDir()
	if err := os.WriteFile(registry.Folder(home), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Survey(home, nil); err == nil {
		t.Error("a registry that is a file was read")
	}
}
