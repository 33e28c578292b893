package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corpus "github.com/ralph-loop/ralph/conformance"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/conformance"
)

// plenty is a limit that only a program which never ends meets.
const plenty = 5 * time.Minute

type report struct {
	Right, Wrong, LeftOut int
	Cases                 []struct{ Case, Result, Problem string }
}

func score(t *testing.T, o conformance.Options) (r report, err error) {
	t.Helper()
	var out, notes bytes.Buffer
	env := &cli.Env{Stdout: &out, Stderr: &notes, Cwd: t.TempDir(), Environ: os.Environ()}
	o.JSON = true
	err = conformance.Score(env, o)
	if unread := json.Unmarshal(out.Bytes(), &r); unread != nil {
		t.Fatalf("%v in %q; %v; %s", unread, out.String(), err, notes.String())
	}
	if !strings.Contains(notes.String(), "cases done") {
		t.Errorf("no progress: %q", notes.String())
	}
	return r, err
}

// The reader in Python is a second implementation: it was written from the page alone.
func TestPythonReaderIsRight(t *testing.T) {
	reader, err := filepath.Abs("../../../contrib/python/ralph_reader.py")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(reader)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(source, []byte("\n")); lines > 500 {
		t.Errorf("%s has %d lines, and 500 are enough", reader, lines)
	}
	python, err := exec.LookPath("python3")
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal("python3 is not on PATH, and the gate needs it")
	case err != nil:
		t.Skip("python3 is not on PATH")
	}
	// The name on PATH may be a script that looks for an interpreter, for each case again.
	if self, err := exec.CommandContext(t.Context(), python, "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python = strings.TrimSpace(string(self))
	}
	r, err := score(t, conformance.Options{Command: []string{python, reader}, Limit: plenty})
	for _, c := range r.Cases {
		if c.Result == "wrong" {
			t.Errorf("%s: %s", c.Case, c.Problem)
		}
	}
	cases, _ := corpus.Cases()
	_, noZstd := exec.LookPath("zstd")
	if err != nil || r.Right+r.LeftOut != len(cases) || r.LeftOut > 0 && noZstd == nil {
		t.Errorf("%d right, %d wrong, %d left out of %d; %v", r.Right, r.Wrong, r.LeftOut, len(cases), err)
	}
}

// Whatever a program does is the result of that case.
func TestBadProgramsFailTheirCases(t *testing.T) {
	for _, c := range []struct {
		script, problem string
		limit           time.Duration
	}{
		{`echo 'no such key' >&2; exit 3`, "exit status 3: no such key", plenty},
		{`kill -SEGV $$`, "ended by SIGSEGV", plenty},
		{`echo nothing`, "the answer is not JSON: invalid character 'o' in literal null (expecting 'u')", plenty},
		{`true`, "it printed nothing", plenty},
		{`echo '{}'`, "entries is missing", plenty},
		{`yes`, "it printed more than 1.0 MB", plenty},
		{`sleep 600`, "it took longer than 0.1s", 100 * time.Millisecond},
		{`echo '{"unsupported":"zstd"}'`, "entries is missing", plenty},
	} {
		r, err := score(t, conformance.Options{Command: []string{"sh", "-c", c.script}, Only: "registry/gone", Limit: c.limit})
		if r.Wrong != 1 || r.Cases[0].Problem != c.problem || !errors.Is(err, cli.Exit(1)) {
			t.Errorf("%s: %+v, %v", c.script, r, err)
		}
	}
}

// A program may leave out what needs Zstandard, and nothing else.
func TestZstandardMayBeLeftOut(t *testing.T) {
	r, err := score(t, conformance.Options{Command: []string{"echo", `{"unsupported":"zstd"}`}, Only: "accept/compressed", Limit: plenty})
	if r.LeftOut+r.Wrong != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestDumpWritesNewFolder(t *testing.T) {
	var out bytes.Buffer
	env := &cli.Env{Stdout: &out, Cwd: t.TempDir()}
	if err := conformance.Dump(env, "corpus"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(env.Cwd, "corpus", "accept", "complete", "expect.json"))
	if err != nil || !json.Valid(text) || !strings.Contains(out.String(), corpus.Version()) {
		t.Errorf("%v, %s", err, out.String())
	}
	if err := conformance.Dump(env, "corpus"); err == nil || cli.ExitCode(err) != 2 {
		t.Errorf("a second time: %v", err)
	}
}
