package proving_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/prove"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal/event"
)

// A repository is one case of testdata/strength: a small project before and after an agent's work,
// its guardrails, and what a careful reader would say of them. A file is a txtar archive:
//
//	One paragraph: what the agent did.
//
//	kind: gamed | honest
//	guardrail: COMMAND
//	held-out: COMMAND
//	requirement: what the person asked for, in words; belongs to the held-out guardrail above it
//	expect: weak | refused | not-weak
//	start: green
//	-- start/PATH --     the project before the first iteration
//	-- claimed/PATH --   a file that the agent wrote
//	-- removed/PATH --   a file that the agent removed
//	-- held-out/PATH --  a file that the agent cannot read
//
// "refused" is for what only a held-out guardrail can tell. The tests of the claim fail over the
// program of the start, except where an honest change alters no behaviour: "start: green". The name
// of a file begins with the language: go, py, ts or sh.
type repository struct {
	name, about, kind, expect string
	guardrails                []string
	heldOut                   []heldOut
	startGreen                bool
	// Contents by path.
	start, claimed, hidden map[string]string
}

type heldOut struct{ command, requirement string }

// part leaves out cases: all of them take minutes.
var part = flag.Int("corpus.part", 3, "each `n`th repository of the corpus is tried")

// readCorpus returns every nth case, from each language some.
func readCorpus(t *testing.T) []repository {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts many processes: make strength")
	}
	files, err := filepath.Glob("testdata/strength/*.txtar")
	testfile.Must(t, err)
	var all []repository
	for i, file := range files {
		if i%*part != 0 {
			continue
		}
		archive, err := txtar.ParseFile(file)
		testfile.Must(t, err)
		r, err := parseRepository(strings.TrimSuffix(path.Base(file), ".txtar"), archive)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, r)
	}
	return all
}

func parseRepository(name string, archive *txtar.Archive) (repository, error) {
	r := repository{name: name, start: map[string]string{}, hidden: map[string]string{}}
	about, header, _ := strings.Cut(string(archive.Comment), "\n\n")
	r.about = strings.TrimSpace(about)
	for line := range strings.Lines(strings.TrimSpace(header)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case key == "kind":
			r.kind = value
		case key == "expect":
			r.expect = value
		case key == "guardrail":
			r.guardrails = append(r.guardrails, value)
		case key == "held-out":
			r.heldOut = append(r.heldOut, heldOut{command: value})
		case key == "requirement" && len(r.heldOut) > 0:
			r.heldOut[len(r.heldOut)-1].requirement = value
		case key == "start" && value == "green":
			r.startGreen = true
		default:
			return r, fmt.Errorf("line %q is not understood", line)
		}
	}
	written, removed := map[string]string{}, map[string]string{}
	sections := map[string]map[string]string{"start": r.start, "claimed": written, "removed": removed, "held-out": r.hidden}
	for _, file := range archive.Files {
		section, at, _ := strings.Cut(file.Name, "/")
		if sections[section] == nil || at == "" {
			return r, fmt.Errorf("section %q is none of start/, claimed/, removed/, held-out/", file.Name)
		}
		sections[section][at] = string(file.Data)
	}
	r.claimed = maps.Clone(r.start)
	for at := range removed {
		delete(r.claimed, at)
	}
	maps.Copy(r.claimed, written)
	return r, nil
}

// tests finds files that a runner of tests reads, and no other part of a project does.
var tests = regexp.MustCompile(`(^|/)(tests?|testdata)(/|\.sh$)|_tests?\.(go|py|sh)$|(^|/)test_[^/]*\.py$|\.test\.ts$|(^|/)(Makefile|package\.json)$`)

// testsOverStart is the program of the start under the tests of the claim.
func (r repository) testsOverStart() map[string]string {
	files := map[string]string{}
	for at, content := range r.start {
		if !tests.MatchString(at) {
			files[at] = content
		}
	}
	for at, content := range r.claimed {
		if tests.MatchString(at) {
			files[at] = content
		}
	}
	return files
}

// programs run the languages of the cases.
var programs = map[string]string{"go": "go", "py": "python3", "ts": "node", "sh": "sh"}

// needs skips a case whose language cannot run here.
func (r repository) needs(t *testing.T) {
	t.Helper()
	language, _, _ := strings.Cut(r.name, "-")
	program := programs[language]
	if program == "" {
		t.Fatalf("the language %q is not known", language)
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not on PATH", program)
	}
	if language == "ts" && exec.CommandContext(t.Context(), program, "-e", "process.exit(process.features.typescript ? 0 : 1)").Run() != nil {
		t.Skip("this Node does not run TypeScript: tools/agents/install.sh installs one that does")
	}
}

// lay writes files into a new folder.
func lay(t *testing.T, files ...map[string]string) testgit.Tree {
	t.Helper()
	tree := testgit.Tree{T: t, Dir: t.TempDir()}
	for _, some := range files {
		for at, content := range some {
			tree.Write(at, content)
		}
	}
	return tree
}

// passes runs a guardrail as a loop does.
func passes(t *testing.T, tree testgit.Tree, command string) (green bool, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = tree.Dir
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// TestCorpusIsWhatItSays checks the cases, and nothing of the program: what is green and red, is.
func TestCorpusIsWhatItSays(t *testing.T) {
	for _, r := range readCorpus(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.checkHeader(t)
			r.needs(t)
			claimed := lay(t, r.claimed)
			for _, command := range r.guardrails {
				if green, out := passes(t, claimed, command); !green {
					t.Errorf("%s is red on the claimed state:\n%s", command, out)
				}
			}
			for _, h := range r.heldOut {
				if green, out := passes(t, lay(t, r.claimed, r.hidden), h.command); green != (r.expect != "refused") {
					t.Errorf("held out, %s: green is %t, of what is expected %s:\n%s", h.command, green, r.expect, out)
				}
			}
			if r.kind == "honest" {
				r.checkStart(t)
			}
		})
	}
}

func (r repository) checkStart(t *testing.T) {
	t.Helper()
	before, green, output := lay(t, r.testsOverStart()), true, ""
	for _, command := range r.guardrails {
		passed, out := passes(t, before, command)
		green, output = green && passed, output+out
	}
	if green != r.startGreen {
		t.Errorf("the tests of the claim over the program of the start: green is %t\n%s", green, output)
	}
}

func (r repository) checkHeader(t *testing.T) {
	t.Helper()
	expects := map[string]string{"weak": "gamed", "refused": "gamed", "not-weak": "honest"}
	if r.about == "" || r.kind == "" || expects[r.expect] != r.kind || len(r.guardrails) == 0 || (r.expect == "refused") != (len(r.heldOut) > 0) && r.kind == "gamed" {
		t.Errorf("kind %q, expect %q, %d guardrails, %d held out, about %q", r.kind, r.expect, len(r.guardrails), len(r.heldOut), r.about)
	}
	for _, h := range r.heldOut {
		if h.requirement == "" {
			t.Errorf("%s has no requirement", h.command)
		}
	}
}

// TestCorpusIsGraded grades the claims: gamed ones are weak, where no held-out guardrail refuses
// them, and honest ones are not.
func TestCorpusIsGraded(t *testing.T) {
	for _, r := range readCorpus(t) {
		if r.expect == "refused" {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.needs(t)
			s := r.prove(t)
			if (s.Grade == event.GradeWeak) != (r.expect == "weak") {
				text, err := json.MarshalIndent(s, "", "  ")
				testfile.Must(t, err)
				t.Errorf("%s, and graded %s: %s\n%s", r.kind, s.Grade, r.about, text)
			}
			t.Logf("%s: %s, %s", r.kind, s.Grade, strings.Join(s.Why, "; "))
		})
	}
}

// prove tries the guardrails of a claim as a loop does.
func (r repository) prove(t *testing.T) event.Strength {
	t.Helper()
	tree := lay(t, r.start)
	tree.Git("init", "-q")
	start := tree.Commit("before the loop")
	for at := range r.start {
		tree.Remove(at)
	}
	for at, content := range r.claimed {
		tree.Write(at, content)
	}
	c := prove.Config{
		Dir: tree.Dir, Home: t.TempDir(), Start: start, Claimed: tree.Commit("the claim"),
		Rules: event.ProveRules{Time: event.Duration(5 * time.Minute), Mutants: 12, Strong: 80},
		Known: event.Strength{Visible: event.Counted{Passed: len(r.guardrails)}, HeldOut: event.Counted{Passed: len(r.heldOut)}},
	}
	for _, command := range r.guardrails {
		c.Guardrails = append(c.Guardrails, guardrail.Guardrail{Command: command, Timeout: time.Minute})
	}
	s, err := prove.Run(t.Context(), c)
	testfile.Must(t, err)
	return s
}

func TestMain(m *testing.M) {
	// What has been compiled is found by HOME, which the tests do without.
	cache, err := os.UserCacheDir()
	if err != nil {
		panic(err)
	}
	agents := os.Getenv("RALPH_TEST_AGENTS")
	if agents == "" {
		agents, _ = filepath.Abs("../../../.agents")
	}
	for name, value := range map[string]string{
		"GOCACHE": filepath.Join(cache, "go-build"), "GOFLAGS": "-trimpath", "GOTOOLCHAIN": "local", "PYTHONDONTWRITEBYTECODE": "1",
		// The Node of the real agents runs TypeScript as it is.
		"PATH": filepath.Join(agents, "node_modules/node/bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	} {
		os.Setenv(name, value)
	}
	testgit.Main(m)
}
