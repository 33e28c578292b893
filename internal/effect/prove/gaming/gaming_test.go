package gaming_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/effect/prove/gaming"
	"github.com/ralph-loop/ralph/journal/event"
)

// A twin is one case of testdata/*.txt, which begins with "=== " and its name: the files before and
// after, and the facts that are found. The case before or after it is much alike, and the other way
// round.
//
//	=== a test is skipped
//	red                          the tests of the start fail on the work
//	guardrail: COMMAND
//	mutant: PATH:LINE noticed    or without the last word
//	want: tests-skipped! a.py:3  a kind, with "!" if it weakens, and where; none for "want: nothing"
//	-- start/PATH --
//	-- claimed/PATH --           only what differs
//	-- removed/PATH --
type twin struct {
	name string
	in   gaming.Input
	want []string
}

func readTwins(t *testing.T, file string) (all []twin) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(text), "\n=== ") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		archive := txtar.Parse([]byte(part))
		name, header, _ := strings.Cut(string(archive.Comment), "\n")
		c := twin{name: name, in: gaming.Input{Start: map[string]string{}, Tests: &event.ProofTried{On: event.TrialTests, Passed: []int{0}}}}
		for line := range strings.Lines(header) {
			line = strings.TrimSpace(line)
			switch key, value, _ := strings.Cut(line, ": "); key {
			case "red":
				c.in.Tests.Passed, c.in.Tests.Failed = nil, []int{0}
			case "guardrail":
				c.in.Guardrails = append(c.in.Guardrails, value)
			case "mutant":
				at, noticed, _ := strings.Cut(value, " ")
				file, line, _ := strings.Cut(at, ":")
				n, err := strconv.Atoi(line)
				if err != nil {
					t.Fatalf("%s: %s: %v", file, name, err)
				}
				c.in.Mutants = append(c.in.Mutants, gaming.Mutant{File: file, Line: n, Noticed: noticed == "noticed"})
			case "want":
				if value != "nothing" {
					c.want = append(c.want, value)
				}
			case "":
			default:
				t.Fatalf("%s: %s: line %q is not understood", file, name, line)
			}
		}
		written, removed := map[string]string{}, map[string]string{}
		sections := map[string]map[string]string{"start": c.in.Start, "claimed": written, "removed": removed}
		for _, f := range archive.Files {
			section, path, _ := strings.Cut(f.Name, "/")
			sections[section][path] = string(f.Data)
		}
		c.in.Claimed = maps.Clone(c.in.Start)
		maps.Copy(c.in.Claimed, written)
		for path := range removed {
			delete(c.in.Claimed, path)
		}
		all = append(all, c)
	}
	return all
}

func TestFind(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		for _, c := range readTwins(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+c.name, func(t *testing.T) {
				facts := gaming.Find(c.in)
				var got []string
				for _, f := range facts {
					got = append(got, short(f))
				}
				slices.Sort(got)
				slices.Sort(c.want)
				if !slices.Equal(got, c.want) {
					t.Errorf("found\n\t%s\nwant\n\t%s\nin %+v", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"), facts)
				}
			})
		}
	}
}

func short(f event.GamingFact) string {
	text := string(f.Kind)
	if f.Weakens {
		text += "!"
	}
	if f.File != "" {
		text += " " + f.File
	}
	if f.Line > 0 {
		text += ":" + strconv.Itoa(f.Line)
	}
	return text
}

// What no parser understands ends no process, and large files take no long time.
func FuzzFind(f *testing.F) {
	for _, name := range []string{"a.go", "test_a.py", "a.test.ts", "test.sh", "Makefile", "package.json", "conftest.py", "lib.rs"} {
		f.Add(name, "func TestA(t *testing.T) {\n\tt.Skip()\n}\n", "def test_a():\n    assert f(1) == 2\n", "make test || true")
	}
	f.Add("a.py", "\"\"\"\n'\\", "x = {1: 2, '3': \"4\n", "sh -c 'sh a'")
	f.Fuzz(func(t *testing.T, name, start, claimed, command string) {
		gaming.Find(gaming.Input{
			Start: map[string]string{name: start, "b_test.go": start}, Claimed: map[string]string{name: claimed, "b_test.go": start, "test_c.py": claimed, "d.py": start},
			Guardrails: []string{command}, Tests: &event.ProofTried{Failed: []int{0}},
		})
	})
}

func TestLargeFiles(t *testing.T) {
	before := map[string]string{}
	for i, line := range []string{"def test_a(): assert f(1, 'x') == [2, 3]\n", "  \"a\": 55, if x == 12: return 144\n", "((((((\n", "it.skip('a', () => { try { expect(x).toBe(x)\n"} {
		for j, name := range []string{"test_a.py", "a.py", "a.ts", "a.test.ts", "a.sh"} {
			before[strings.Repeat("d/", i+j)+name] = strings.Repeat(line, (gaming.LargestFile/16)/len(line))
		}
	}
	after := maps.Clone(before)
	for name := range after {
		after[name] += "x\n"
	}
	began := time.Now()
	facts := gaming.Find(gaming.Input{Start: before, Claimed: after, Guardrails: []string{"sh d/a.sh"}, Tests: &event.ProofTried{Failed: []int{0}}})
	t.Logf("%d facts in %v", len(facts), time.Since(began))
	if len(facts) > gaming.MostFacts {
		t.Errorf("%d facts", len(facts))
	}
}

// Scripts and targets that start themselves end.
func TestCommandsInCircles(t *testing.T) {
	files := map[string]string{
		"a.sh":     "set -e\n" + strings.Repeat("sh a.sh\n", 200),
		"Makefile": "a: a b\n" + strings.Repeat("\tmake b\n", 100) + "b: a b\n" + strings.Repeat("\tmake a && sh a.sh\n", 100),
	}
	gaming.Find(gaming.Input{Start: map[string]string{}, Claimed: files, Guardrails: []string{"sh a.sh", "make a"}})
}
