//go:build linux || darwin

package guardrail

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestMentions(t *testing.T) {
	for command, want := range map[string]string{
		"./check.sh":                       "program check.sh?",
		"scripts/test.sh --fast":           "program scripts/test.sh?",
		"sh check.sh":                      "program check.sh?",
		"CI=1 timeout -k 5 10s ./check.sh": "program check.sh?",
		"if ! ./a; then exit 1; fi && ./b": "program a? program b?",
		"bash -eu -c './a && ./b | ./c'":   "program a? program b? program c?",
		"cd sub && ./check.sh && make":     "program sub/check.sh? instructions sub/Makefile? instructions sub/makefile? instructions sub/GNUmakefile?",
		"make test":                        "instructions Makefile? instructions makefile? instructions GNUmakefile?",
		"make -C sub -f ci.mk":             "instructions sub/Makefile? instructions sub/makefile? instructions sub/GNUmakefile? instructions sub/ci.mk",
		"npm --prefix=web test":            "instructions web/package.json?",
		"golint --config=.lint.toml":       "instructions .lint.toml",
		"\"$PWD/check.sh\"":                "program check.sh?",
		"sh < in.sh":                       "program in.sh?",
		"'my check/run it.sh'":             "program my check/run it.sh?",
		"./mvnw verify":                    "instructions pom.xml? program mvnw?",
		"go test ./...":                    "",
		"$CHECK *.sh":                      "",
		"":                                 "",
		"./un'closed":                      "program unclosed?",
		"/opt/check.sh":                    "program /opt/check.sh?",
	} {
		var got []string
		for _, m := range mentions(command) {
			text := fmt.Sprint(m.role, " ", m.path)
			if m.awaited {
				text += "?"
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", command, got, want)
		}
	}
}

func FuzzMentions(f *testing.F) {
	for _, seed := range []string{"a 'b \"c' \\", "cd .. && ./x", "sh -c \"sh -c 'sh -c x'\"", "-C", "=a", "cd /\n./x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, m := range mentions(command) {
			if m.path == "" || m.role == "" {
				t.Fatalf("%q: %+v", command, m)
			}
		}
		// Whatever is mentioned, nothing outside an empty project is sealed.
		s, err := NewSnapshot(Place{Work: t.TempDir()}, []Guardrail{{Command: command}})
		if err != nil {
			t.Fatal(err)
		}
		if files := present(s); len(files) != 0 {
			t.Fatalf("%q: %v", command, files)
		}
	})
}

// present returns what a snapshot has of the paths that were not absent.
func present(s *FileSnapshot) []string {
	var paths []string
	for _, r := range s.Records() {
		if r.Kind != "" {
			paths = append(paths, fmt.Sprint(r.Path, " ", r.Role, " ", r.State))
		}
	}
	return paths
}

// project is a project with a few files.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T) project { return project{t, t.TempDir()} }

func (p project) at(name string) string { return filepath.Join(p.dir, name) }

func second(_ []string, err error) error { return err }

func (p project) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p project) write(name, text string, mode fs.FileMode) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	p.must(os.WriteFile(p.at(name), []byte(text), 0o600))
	p.must(os.Chmod(p.at(name), mode))
}

func (p project) snapshot(command string) *FileSnapshot {
	p.t.Helper()
	s, err := NewSnapshot(Place{Work: p.dir}, []Guardrail{{Command: command, Protect: true}})
	p.must(err)
	return s
}

func (p project) changes(s *FileSnapshot) string {
	p.t.Helper()
	changes, err := s.Changed()
	p.must(err)
	var all []string
	for _, c := range changes {
		if c.Was == c.Is && c.Kind != Changed {
			p.t.Errorf("%+v", c)
		}
		all = append(all, fmt.Sprint(c.Kind, " ", c.Role, " ", c.Path))
	}
	return strings.Join(all, ", ")
}

func TestChangesAreRestored(t *testing.T) {
	for name, row := range map[string]struct {
		command string
		change  func(p project)
		want    string
	}{
		"nothing":           {"./check.sh", func(p project) {}, ""},
		"the same again":    {"./check.sh", func(p project) { p.write("check.sh", "exit 1\n", 0o755) }, ""},
		"content":           {"./check.sh", func(p project) { p.write("check.sh", "exit 0\n", 0o755) }, "changed program check.sh"},
		"mode":              {"./check.sh", func(p project) { p.must(os.Chmod(p.at("check.sh"), 0o644)) }, "changed program check.sh"},
		"mode without read": {"./check.sh", func(p project) { p.write("check.sh", "exit 0\n", 0o111) }, "changed program check.sh"},
		"vanished":          {"./check.sh", func(p project) { p.must(os.Remove(p.at("check.sh"))) }, "vanished program check.sh"},
		"the folder vanished": {
			"scripts/test.sh", func(p project) { p.must(os.RemoveAll(p.at("scripts"))) }, "vanished program scripts/test.sh"},
		"a file in the folder's place": {
			"scripts/test.sh", func(p project) { p.must(os.RemoveAll(p.at("scripts"))); p.write("scripts", "", 0o600) }, "vanished program scripts/test.sh"},
		"a link in its place": {
			"./check.sh", func(p project) {
				p.must(os.Remove(p.at("check.sh")))
				p.must(os.Symlink("/bin/true", p.at("check.sh")))
			}, "changed program check.sh"},
		"a folder in its place": {
			"./check.sh", func(p project) { p.must(os.Remove(p.at("check.sh"))); p.write("check.sh/in", "", 0o600) }, "changed program check.sh"},
		"a pipe in its place": {
			"./check.sh", func(p project) { p.must(os.Remove(p.at("check.sh"))); p.must(syscall.Mkfifo(p.at("check.sh"), 0o600)) }, "changed program check.sh"},
		"a makefile that goes before": {
			"make test", func(p project) { p.write("GNUmakefile", "test:\n", 0o644) }, "appeared instructions GNUmakefile"},
		"a program that was not there": {
			"./new.sh", func(p project) { p.write("new.sh", "exit 0\n", 0o755) }, "appeared program new.sh"},
		"the settings":            {"true", func(p project) { p.write(SettingsFile, "{}", 0o644) }, "changed settings .ralph/settings.json"},
		"an argument":             {"diff want.txt have.txt", func(p project) { p.write("want.txt", "b", 0o644) }, ""},
		"an argument that is new": {"test -f done.txt", func(p project) { p.write("done.txt", "", 0o644) }, ""},
		"what a link leads to":    {"./linked.sh", func(p project) { p.write("scripts/test.sh", "", 0o755) }, "changed program scripts/test.sh"},
		"where a link leads": {"./linked.sh", func(p project) {
			p.must(os.Remove(p.at("linked.sh")))
			p.must(os.Symlink("check.sh", p.at("linked.sh")))
		}, "changed program linked.sh"},
		"a file in a link's place": {"./linked.sh", func(p project) {
			p.must(os.Remove(p.at("linked.sh")))
			p.write("linked.sh", "exit 0", 0o755)
		}, "changed program linked.sh"},
		"two at once": {"./check.sh && make", func(p project) {
			p.must(os.Remove(p.at("check.sh")))
			p.write("Makefile", "", 0o644)
		}, "vanished program check.sh, changed instructions Makefile"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.write(SettingsFile, `{"guardrails":[]}`, 0o644)
			p.write("check.sh", "exit 1\n", 0o755)
			p.write("scripts/test.sh", "exit 1\n", 0o755)
			p.write("Makefile", "test:\n\tfalse\n", 0o644)
			p.write("want.txt", "a", 0o644)
			p.must(os.Symlink("scripts/test.sh", p.at("linked.sh")))
			s := p.snapshot(row.command)
			before := present(s)
			row.change(p)
			if got := p.changes(s); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			changes, err := s.Changed()
			p.must(err)
			p.must(second(s.Restore(changes)))
			if got := p.changes(s); got != "" {
				t.Errorf("after it was put back: %q", got)
			}
			again := present(p.snapshot(row.command))
			for _, f := range before {
				if !slices.Contains(again, f) {
					t.Errorf("%v is not among %v", f, again)
				}
			}
			if left, _ := filepath.Glob(p.at("*/.ralph-restore-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestRestoreStaysInProject(t *testing.T) {
	p, outside := newProject(t), newProject(t)
	p.write("scripts/test.sh", "exit 1\n", 0o755)
	outside.write("test.sh", "exit 0\n", 0o755)
	s := p.snapshot("scripts/test.sh")
	p.must(os.RemoveAll(p.at("scripts")))
	p.must(os.Symlink(outside.dir, p.at("scripts")))
	if got := p.changes(s); got != "changed program scripts/test.sh" {
		t.Errorf("got %q", got)
	}
	changes, err := s.Changed()
	p.must(err)
	p.must(second(s.Restore(changes)))
	if text, err := os.ReadFile(outside.at("test.sh")); string(text) != "exit 0\n" {
		t.Errorf("outside: %q %v", text, err)
	}
	if text, err := os.ReadFile(p.at("scripts/test.sh")); string(text) != "exit 1\n" {
		t.Errorf("inside: %q %v", text, err)
	}
	if target, err := os.Readlink(p.at("scripts.set-aside")); target != outside.dir {
		t.Errorf("the link is lost: %q %v", target, err)
	}
}

func TestAppearedFileIsSetAside(t *testing.T) {
	p := newProject(t)
	p.write("new.sh.set-aside", "older", 0o600)
	s := p.snapshot("./new.sh")
	p.write("new.sh", "work", 0o755)
	changes, err := s.Changed()
	p.must(err)
	p.must(second(s.Restore(changes)))
	for name, want := range map[string]string{"new.sh.set-aside": "older", "new.sh.set-aside-2": "work"} {
		if text, err := os.ReadFile(p.at(name)); string(text) != want {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

func TestOutsideLinksAreRecorded(t *testing.T) {
	p := newProject(t)
	p.must(os.Symlink("/bin/sh", p.at("check.sh")))
	p.must(os.Symlink("loop", p.at("loop")))
	s := p.snapshot("./check.sh && ./loop && ../up.sh && /bin/sh")
	want := []string{"check.sh program link to /bin/sh", "loop program link to loop"}
	if got := present(s); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestAbsoluteProjectPathsAreRecorded(t *testing.T) {
	p := newProject(t)
	p.write("check.sh", "exit 1\n", 0o755)
	s, err := NewSnapshot(Place{Work: p.dir}, []Guardrail{{Command: p.at("check.sh")}})
	p.must(err)
	if got := present(s); len(got) != 1 || !strings.HasPrefix(got[0], "check.sh program ") {
		t.Errorf("got %v", got)
	}
}

func TestLargeFileIsNotKept(t *testing.T) {
	p := newProject(t)
	p.write("check.sh", "", 0o755)
	p.must(os.Truncate(p.at("check.sh"), MaxKept+1))
	p.write("small.sh", "exit 1", 0o755)
	s := p.snapshot("./check.sh && ./small.sh")
	p.must(os.WriteFile(p.at("check.sh"), bytes.Repeat([]byte("x"), MaxKept+1), 0o600))
	p.must(os.Remove(p.at("small.sh")))
	if got := p.changes(s); got != "changed program check.sh, vanished program small.sh" {
		t.Errorf("got %q", got)
	}
	changes, err := s.Changed()
	p.must(err)
	if _, err := s.Restore(changes); !errors.Is(err, ErrNotKept) || !strings.Contains(err.Error(), "check.sh") {
		t.Errorf("got %v", err)
	}
	if got := p.changes(s); got != "changed program check.sh" {
		t.Errorf("the small one is not back: %q", got)
	}
}

func TestLongWordsAreNoFiles(t *testing.T) {
	p := newProject(t)
	long := strings.Repeat("long/", 2000) + strings.Repeat("x", 300)
	if got := present(p.snapshot("./" + long + " && node -e '" + long + "'")); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestUnreadableProgramIsAnError(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	p := newProject(t)
	p.write("check", "", 0o111)
	p.write("notes", "", 0)
	if _, err := NewSnapshot(Place{Work: p.dir}, []Guardrail{{Command: "./check"}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
	if _, err := NewSnapshot(Place{Work: p.dir}, []Guardrail{{Command: "cat notes"}}); err != nil {
		t.Error(err)
	}
}

func TestRestoreRefusesUnknownPath(t *testing.T) {
	p := newProject(t)
	if _, err := p.snapshot("true").Restore([]Change{{Path: "../other"}}); err == nil || !strings.Contains(err.Error(), "../other") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyFilesAreRestored(t *testing.T) {
	p := newProject(t)
	p.write("Makefile", "", 0o600)
	s := p.snapshot("make")
	p.write("Makefile", "all:\n", 0o600)
	changes, err := s.Changed()
	p.must(err)
	p.must(second(s.Restore(changes)))
	if got := p.changes(s); got != "" {
		t.Errorf("got %q", got)
	}
}
