//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// surveyed is what the tests look at of a Status.
type surveyed struct {
	Name, Status      string
	Alive, Died, Gone bool
}

func look(statuses []Status) (got []surveyed) {
	for _, s := range statuses {
		got = append(got, surveyed{s.Name, s.Head.Status, s.Live.Alive, s.Died, s.Gone})
	}
	return got
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
		{"f-beginning", "", "held", surveyed{Status: StatusUnknown, Alive: true}},
		{"g-no-state", "", "free", surveyed{Status: StatusUnknown}},
		{"h-torn", headLine[:100], "free", surveyed{Status: StatusUnknown}},
		{"i-not-a-state", "[]", "free", surveyed{Status: StatusUnknown}},
		{"j-reformatted", strings.ReplaceAll(completed, `,"`, ",\n \""), "free", surveyed{Status: "completed"}},
		{"k-long-wait", strings.Replace(completed, `"waiting":"`, `"waiting":"`+strings.Repeat("ü", 2000), 1), "free", surveyed{Status: "completed"}},
	}
	var want []surveyed
	for _, l := range loops {
		e := entryOf(l.name, project)
		if err := errors.Join(os.MkdirAll(e.Dir, 0o700), Put(home, e)); err != nil {
			t.Fatal(err)
		}
		if l.lock != "" {
			lock, err := Acquire(e.Dir)
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
			if err := os.WriteFile(filepath.Join(e.Dir, stateFile), []byte(l.state), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l.want.Name = l.name
		want = append(want, l.want)
	}
	if err := Put(home, entryOf("l-gone", project)); err != nil {
		t.Fatal(err)
	}
	want = append(want, surveyed{Name: "l-gone", Status: StatusUnknown, Gone: true})

	got, err := Survey(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, look(got)); diff != "" {
		t.Error(diff)
	}
	for _, s := range got {
		if s.Err != nil || s.File != s.file() || s.Live.Alive && s.Live.PID != os.Getpid() {
			t.Errorf("%+v", s)
		}
		if s.Head.Status == "running" && (s.Head.Iteration != 4 || s.Head.Cost != 1.25 || s.Head.TokensOut != 200) {
			t.Errorf("%+v", s.Head)
		}
	}

	got, err = Survey(home, func(e Entry) bool { return e.Name == "d-ended" })
	if diff := cmp.Diff([]surveyed{{Name: "d-ended", Status: "completed"}}, look(got)); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestSurveyShowsWhatItCannotRead(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	linked := entryOf("linked", project)
	state := entryOf("state-is-a-fifo", project)
	for _, e := range []Entry{linked, state} {
		if err := errors.Join(os.MkdirAll(e.Dir, 0o700), Put(home, e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Symlink("/dev/null", filepath.Join(linked.Dir, lockFile)),
		syscall.Mkfifo(filepath.Join(state.Dir, stateFile), 0o600),
		os.WriteFile(filepath.Join(Folder(home), "junk.json"), []byte("{"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	got, err := Survey(home, func(Entry) bool { return true })
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got[0]; s.Name != "linked" || !errors.Is(s.Err, syscall.ELOOP) {
		t.Errorf("the link: %+v", s)
	}
	if s := got[1]; s.Name != "state-is-a-fifo" || s.Err != nil || s.Head.Status != StatusUnknown {
		t.Errorf("the FIFO: %+v", s)
	}
	if s := got[2]; s.File != "junk.json" || s.Name != "" {
		t.Errorf("the junk: %+v", s)
	}
	if bad, ok := errors.AsType[*EntryError](got[2].Err); !ok || bad.File != "junk.json" {
		t.Errorf("the junk: %v", got[2].Err)
	}
}

func TestSurveyOfNothing(t *testing.T) {
	if got, err := Survey(filepath.Join(t.TempDir(), "absent"), nil); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	home := t.TempDir()
	if err := os.WriteFile(Folder(home), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Survey(home, nil); err == nil {
		t.Error("a registry that is a file was read")
	}
}

func TestInParallelHandsOutEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 1000} {
		got := make([]int32, n)
		inParallel(n, func(next func() (int, bool)) {
			for i, ok := next(); ok; i, ok = next() {
				got[i]++
			}
		})
		for i, times := range got {
			if times != 1 {
				t.Fatalf("of %d, %d was handed out %d times", n, i, times)
			}
		}
	}
}
