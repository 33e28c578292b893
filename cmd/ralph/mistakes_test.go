//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// TestMistakesAreAnswered types the wrong command lines of testdata/mistakes.txt, in which each is
// followed by what a person reads. Each answer names what is in brackets, in the line or after a #,
// says what is wrong with it, and has a next step. Nothing is on stdout.
func TestMistakesAreAnswered(t *testing.T) {
	const file = "testdata/mistakes.txt"
	text := testfile.Read(t, file)
	w := newMistakes(t)
	var got strings.Builder
	count := 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		line, _, _ := strings.Cut(block, "\n")
		if strings.HasPrefix(line, "#") {
			fmt.Fprintf(&got, "%s\n\n", block)
			continue
		}
		count++
		fmt.Fprintf(&got, "%s\n%s\n", line, w.answer(t, line))
	}
	if count < 100 {
		t.Errorf("there are only %d mistakes", count)
	}
	golden.Check(t, file, strings.TrimSpace(got.String())+"\n")
}

// mistakes is a project with a loop done, which has ended, a loop quiet, which runs, and files that
// are of no use.
type mistakes struct {
	top     string
	project string
	env     []string
}

func newMistakes(t *testing.T) *mistakes {
	top := cli.WithoutLinks(t.TempDir())
	w := &mistakes{top: top, project: filepath.Join(top, "shop")}
	bin := filepath.Join(top, "bin") // which has no agent that might be started
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ralph", "git", "sh"} {
		program, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(program, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "RALPH_") && !strings.HasPrefix(name, "GIT_") {
			w.env = append(w.env, entry)
		}
	}
	home := filepath.Join(top, "home", ".ralph")
	w.env = append(w.env, "HOME="+filepath.Dir(home), "RALPH_HOME="+home, "RALPH_TRUST=1")
	for name, text := range map[string]string{
		"shop/prompt.md": "do it", "shop/empty.md": "", "shop/tasks/a.md": "Do a.", "shop/silent.rehearsal": "iteration\n  say I begin.\n  silence\n",
		"shop/.ralph/settings.json":    `{"agent": "ralph rehearse silent.rehearsal"}`,
		"shop/done.rehearsal":          "iteration\n  tool Bash {\"command\":\"true\"} -> ok\n  say <promise>COMPLETE</promise>\n",
		"broken/.ralph/settings.json":  "{\"agent\": {\"command\": \"pi\",}\n",
		"unknown/.ralph/settings.json": `{"maximumIteration": 3}`,
		"wrong/.ralph/settings.json":   `{"maximumIterations": "three"}`,
		"plan/ralph/tasks.json":        `{"userStories": [{"id": "US-001"}]}`,
		"empty/README":                 "",
		"home/.gitconfig":              "[init]\n\tdefaultBranch = main\n[user]\n\tname = Ada\n\temail = ada@example.org\n",
	} {
		path := filepath.Join(top, name)
		testfile.Write(t, path, text)
	}
	t.Cleanup(func() { endRunners(home) })
	for _, line := range []string{
		"git init -q", "git add prompt.md", "git commit -q -m one",
		"ralph run --name done -p x -a 'ralph rehearse done.rehearsal'", "ralph start quiet --worktree --detach -p x -a 'ralph rehearse " + w.project + "/silent.rehearsal'",
	} {
		argv, err := config.Agent{Command: line}.Argv()
		if err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		command.Dir, command.Env = w.project, w.env
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return w
}

// A typed line is the exit code, where it is typed, and the words.
var typed = regexp.MustCompile(`^(\d) (\w+)\$ ralph ?(.*)$`)

// answer types a line, checks what a person reads, and returns it.
func (w *mistakes) answer(t *testing.T, line string) string {
	t.Helper()
	part := typed.FindStringSubmatch(line)
	if part == nil {
		t.Fatalf("%q is no line to type", line)
	}
	thing := ""
	if _, after, found := strings.Cut(part[3], "["); found {
		thing, _, _ = strings.Cut(after, "]")
		thing = strings.Trim(thing, "'")
	}
	words, _, _ := strings.Cut(part[3], " # ")
	args, err := config.Agent{Command: "ralph " + strings.NewReplacer("[", "", "]", "").Replace(words)}.Argv()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	var stdout, stderr bytes.Buffer
	e := (&cli.Env{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Home: w.home(), Environ: w.env, Now: time.Now,
	}).At(filepath.Join(w.top, part[2]))
	ended := make(chan int, 1)
	go func() { ended <- perform(e, args[1:]) }()
	code := 0
	select {
	case code = <-ended:
	case <-time.After(patience):
		t.Fatalf("%s: it does not end", line)
	}
	said := changing.ReplaceAllString(strings.ReplaceAll(stderr.String(), w.top, ""), "$1 …")
	lines := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
	complain := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\n%s%s", line, said, fmt.Sprintf(format, args...))
	}
	begins := func(with string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, with) })
	}
	failed := max(begins("ralph: error: "), 0)
	hint := len(lines) - 1 // it comes last
	if !strings.HasPrefix(lines[hint], "ralph: hint: ") {
		complain("no hint is at its end")
	}
	message := strings.Join(lines[failed:hint], "\n")
	if fmt.Sprint(code) != part[1] {
		complain("the exit code is %d, not %s", code, part[1])
	}
	if stdout.Len() > 0 {
		complain("on stdout is %q", stdout.String())
	}
	if thing == "" || !strings.Contains(message, thing) {
		complain("it does not name %q", thing)
	}
	if words := len(strings.Fields(message)); words < 4 {
		complain("no cause is in %d words", words)
	}
	if !nextStep.MatchString(lines[hint]) {
		complain("no next step is in the hint")
	}
	if len(lines) > 6 {
		complain("it has %d lines", len(lines))
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "ralph: ") && !strings.HasPrefix(l, "  ") {
			complain("a line does not begin as ralph's: %q", l)
		}
	}
	return said
}

func (w *mistakes) home() string { return filepath.Join(w.top, "home", ".ralph") }

// changing matches what differs each time: the runner of a loop, and its events.
var changing = regexp.MustCompile(`(run by pid|has the events) .*`)

// nextStep matches a hint with a command, a flag, what may be typed, or a verb of what to do.
var nextStep = regexp.MustCompile(`'(ralph|git) |ralph |--?[a-z]|did you mean "|such as |there (is|are) |these |` +
	`\b(add|answer|begin|choose|correct|give|install|leave|make|name|put|remove|say|use|write)\b`)
