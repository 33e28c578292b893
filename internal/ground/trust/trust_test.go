package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/trust"
)

func record(project string) trust.Record {
	return trust.Record{
		Project: project, Fingerprint: "abc", At: time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC),
		Parts: []trust.Part{trust.NewPart("agents.pi.env.TOKEN", "tops3cret", "[masked:TOKEN]")},
	}
}

func TestRecordBelongsToProject(t *testing.T) {
	home := t.TempDir()
	if _, err := trust.Get(home, "/srv/a b"); !errors.Is(err, trust.ErrNotTrusted) {
		t.Errorf("nothing is trusted: %v", err)
	}
	if err := trust.Put(home, record("/srv/a b")); err != nil {
		t.Fatal(err)
	}
	got, err := trust.Get(home, "/srv/a b")
	if err != nil || !reflect.DeepEqual(got, record("/srv/a b")) {
		t.Errorf("%v %+v", err, got)
	}
	for _, other := range []string{"/srv/a-b", "/srv/a b/c", "/srv", "/mnt/a b"} {
		if _, err := trust.Get(home, other); !errors.Is(err, trust.ErrNotTrusted) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if err := trust.Put(home, record("relative")); err == nil {
		t.Error("a relative path was recorded")
	}
	if err := trust.Remove(home, "/srv/a b"); err != nil {
		t.Error(err)
	}
	if _, err := trust.Get(home, "/srv/a b"); !errors.Is(err, trust.ErrNotTrusted) {
		t.Errorf("after it was removed: %v", err)
	}
	if err := trust.Remove(home, "/srv/a b"); !errors.Is(err, trust.ErrNotTrusted) {
		t.Errorf("removed again: %v", err)
	}
}

func TestRecordsArePrivate(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := trust.Put(home, record("/srv/a")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(home, "trust", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	for path, want := range map[string]os.FileMode{filepath.Join(home, "trust"): 0o700, files[0]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	text, err := os.ReadFile(files[0])
	if err != nil || strings.Contains(string(text), "tops3cret") {
		t.Errorf("%v: the value is in the record:\n%s", err, text)
	}
}

// A file that is not a record of the project trusts nothing, and the error names it.
func TestInvalidRecordTrustsNothing(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"of another project": func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(text), "/srv/a", "/srv/b", 1)), 0o600))
		},
		"cut off":         func(path string) error { return os.Truncate(path, 20) },
		"empty object":    func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
		"a symbolic link": func(path string) error { return errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path)) },
		"too long":        func(path string) error { return os.Truncate(path, 64<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := trust.Put(home, record("/srv/a")); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(home, "trust", "*.json"))
			if err := spoil(files[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := trust.Get(home, "/srv/a"); err == nil || errors.Is(err, trust.ErrNotTrusted) {
				t.Errorf("%v", err)
			}
			if records, bad := trust.List(home); len(records) != 0 || len(bad) != 1 {
				t.Errorf("%v %v", records, bad)
			}
		})
	}
}

func TestList(t *testing.T) {
	home := t.TempDir()
	if records, bad := trust.List(home); len(records)+len(bad) != 0 {
		t.Errorf("%v %v", records, bad)
	}
	for _, project := range []string{"/srv/b", "/srv/a"} {
		if err := trust.Put(home, record(project)); err != nil {
			t.Fatal(err)
		}
	}
	records, bad := trust.List(home)
	if len(records) != 2 || records[0].Project != "/srv/a" || len(bad) != 0 {
		t.Errorf("%v %v", records, bad)
	}
}
