//go:build linux || darwin

package guardrail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var keepGuards = []Guardrail{{Command: "./check.sh", Protect: true}, {Command: "sh loose.sh"}}

// kept is a project with a snapshot by an earlier process.
func kept(t *testing.T) (p project, loopDir string, records []Record) {
	t.Helper()
	p, loopDir = newProject(t), t.TempDir()
	p.write("check.sh", "exit 1\n", 0o755)
	p.write("loose.sh", "exit 2\n", 0o644)
	p.must(os.Symlink("check.sh", p.at("link.sh")))
	s, err := NewSnapshot(Place{Work: p.dir}, keepGuards)
	p.must(err)
	p.must(s.Keep(loopDir, nil))
	return p, loopDir, s.Records()
}

// reopened returns the snapshot of the next process.
func reopened(t *testing.T, p project, loopDir string, records []Record) *FileSnapshot {
	t.Helper()
	s, err := Reopen(Place{Work: p.dir}, loopDir, records, keepGuards)
	p.must(err)
	return s
}

func TestSnapshotIsReopened(t *testing.T) {
	p, loopDir, records := kept(t)
	p.write("check.sh", "exit 0\n", 0o755)
	p.write("loose.sh", "exit 0\n", 0o644)
	s := reopened(t, p, loopDir, records)
	if got := s.Records(); !slices.Equal(got, records) {
		t.Errorf("reopened as\n%+v, was\n%+v", got, records)
	}
	changes, err := s.Changed()
	p.must(err)
	if len(changes) != 2 || !changes[0].Protected || changes[0].Path != "check.sh" || changes[1].Protected {
		t.Fatalf("changes: %+v", changes)
	}
	p.must(second(s.Restore(changes[:1])))
	if text, err := os.ReadFile(p.at("check.sh")); err != nil || string(text) != "exit 1\n" {
		t.Errorf("check.sh holds %q, %v", text, err)
	}
	if _, err := s.Restore(changes[1:]); !errors.Is(err, ErrNotKept) {
		t.Errorf("what is not protected is put back: %v", err)
	}
	copies, err := os.ReadDir(filepath.Join(loopDir, KeptDir))
	p.must(err)
	if len(copies) != 1 {
		t.Errorf("kept: %v", copies)
	}
}

func TestChangedCopyIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"edited":   func(file string) error { return os.WriteFile(file, []byte("exit 0\n"), 0o600) },
		"gone":     os.Remove,
		"a folder": func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		"a link":   func(file string) error { return errors.Join(os.Remove(file), os.Symlink("/etc/hostname", file)) },
		"its folder is a file": func(file string) error {
			d := filepath.Dir(file)
			return errors.Join(os.RemoveAll(d), os.WriteFile(d, nil, 0o600))
		},
		"its folder leads elsewhere": func(file string) error {
			d := filepath.Dir(file)
			return errors.Join(os.RemoveAll(d), os.Symlink("/", d))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, loopDir, records := kept(t)
			at := slices.IndexFunc(records, func(r Record) bool { return r.Path == "check.sh" })
			p.must(spoil(filepath.Join(loopDir, KeptDir, records[at].SHA256)))
			p.write("check.sh", "exit 0\n", 0o755)
			s := reopened(t, p, loopDir, records)
			changes, err := s.Changed()
			p.must(err)
			if _, err := s.Restore(changes); err == nil || !strings.Contains(err.Error(), "restore check.sh: its copy") {
				t.Errorf("restored: %v", err)
			}
			if text, err := os.ReadFile(p.at("check.sh")); err != nil || string(text) != "exit 0\n" {
				t.Errorf("check.sh holds %q, %v", text, err)
			}
			// A process that has the content sets it right.
			p.write("check.sh", "exit 1\n", 0o755)
			whole, err := NewSnapshot(Place{Work: p.dir}, keepGuards)
			p.must(err)
			p.must(whole.Keep(loopDir, nil))
			p.write("check.sh", "exit 0\n", 0o755)
			p.must(second(reopened(t, p, loopDir, records).Restore(changes)))
		})
	}
}

func TestKeepRemovesOldCopies(t *testing.T) {
	p, loopDir, records := kept(t)
	p.write("check.sh", "exit 3\n", 0o755)
	s, err := NewSnapshot(Place{Work: p.dir}, keepGuards)
	p.must(err)
	p.must(s.Keep(loopDir, records))
	if copies, err := os.ReadDir(filepath.Join(loopDir, KeptDir)); err != nil || len(copies) != 2 {
		t.Errorf("beside the seal before: %v, %v", copies, err)
	}
	p.must(s.Keep(loopDir, s.Records()))
	copies, err := os.ReadDir(filepath.Join(loopDir, KeptDir))
	p.must(err)
	if len(copies) != 1 || slices.ContainsFunc(records, func(r Record) bool { return r.SHA256 == copies[0].Name() }) {
		t.Errorf("kept: %v", copies)
	}
	loose, err := NewSnapshot(Place{Work: p.dir}, keepGuards[1:])
	p.must(err)
	p.must(loose.Keep(loopDir, nil))
	if copies, err := os.ReadDir(filepath.Join(loopDir, KeptDir)); err != nil || len(copies) != 0 {
		t.Errorf("kept: %v, %v", copies, err)
	}
	fresh := t.TempDir()
	p.must(loose.Keep(fresh, nil))
	if _, err := os.Lstat(filepath.Join(fresh, KeptDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is kept, and there is a folder for it: %v", err)
	}
}

func TestReopenAddsNewFiles(t *testing.T) {
	p, loopDir, records := kept(t)
	p.write("more.sh", "exit 4\n", 0o755)
	s, err := Reopen(Place{Work: p.dir}, loopDir, records, append(slices.Clone(keepGuards), Guardrail{Command: "./more.sh", Protect: true}))
	p.must(err)
	p.write("more.sh", "exit 0\n", 0o755)
	changes, err := s.Changed()
	p.must(err)
	p.must(second(s.Restore(changes)))
	if text, err := os.ReadFile(p.at("more.sh")); err != nil || string(text) != "exit 4\n" {
		t.Errorf("more.sh holds %q, %v", text, err)
	}
}

func TestBadRecordsAreRefused(t *testing.T) {
	for name, r := range map[string]Record{
		"of another kind":        {Path: "a", State: State{Kind: "device"}},
		"outside the project":    {Path: "../a"},
		"of a hash that is none": {Path: "a", State: State{Kind: KindFile, SHA256: "ab"}},
	} {
		if _, err := Reopen(Place{Work: t.TempDir()}, t.TempDir(), []Record{r}, nil); err == nil {
			t.Errorf("%s: reopened", name)
		}
	}
}

func TestOneProtectingGuardrailIsEnough(t *testing.T) {
	p := newProject(t)
	p.write("Makefile", "all:\n", 0o644)
	s, err := NewSnapshot(Place{Work: p.dir}, []Guardrail{{Command: "make lint"}, {Command: "make test", Protect: true}})
	p.must(err)
	for _, r := range s.Records() {
		if !r.Protected {
			t.Errorf("%s is not protected", r.Path)
		}
	}
}
