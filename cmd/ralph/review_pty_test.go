//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reviewed is a loop that has ended and changed go.mod, cart.go and notes.txt.
func (p *place) reviewed() {
	p.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, "go.mod"), []byte("module shop\n"), 0o600))
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"},
	} {
		p.must(exec.Command("git", append([]string{"-C", p.dir}, args...)...).Run())
	}
	agent := program(p.T, p.home, "agent.sh", `cat > /dev/null
printf 'module shop\n\nrequire example.org/x v1.0.0\n' > go.mod
printf 'package shop\n\n// Total is a sum, with <b>a comment</b> that is longer than a telephone has columns by far.\nfunc Total() int { return 1 }\n' > cart.go
echo note >> notes.txt
echo '<promise>COMPLETE</promise>'
`)
	p.fine("run", "--name", "demo", "-m", "3", "-p", "x", "--agent", agent, "--protocol", "text")
}

// A person goes through the work on the terminal: puts a file back, approves, sends words.
func TestReviewOnTerminal(t *testing.T) {
	leaveToInterface(t)
	t.Parallel()
	p := newPlace(t)
	p.reviewed()
	screen := p.watch("review", "demo")
	screen.sees("demo: reviewed 0 of 3", "1 of 3  Files by risk\ngo.mod  +2 −0\ndependencies\nralph diff demo go.mod\n", "+require example.org/x v1.0.0")
	screen.types("r")
	screen.sees("Put go.mod back to how it was before the loop? All is kept as it is now.")
	screen.types(enter)
	screen.sees("demo: reviewed 1 of 3", "1 of 3  Files by risk\ncart.go  +4 −0\n", "put back go.mod; 'ralph rollback demo refs/ralph/")
	if text, err := os.ReadFile(filepath.Join(p.dir, "go.mod")); err != nil || string(text) != "module shop\n" {
		t.Errorf("go.mod is %q: %v", text, err)
	}
	screen.types("na")
	screen.sees("demo: reviewed 2 of 3", "approved 1 other file", "cart.go  +4 −0")
	screen.types("l")
	screen.sees("> open         cart.go", "  approved     1 other file", "  rolled back  go.mod")
	screen.types(enter + "s")
	screen.sees("These words about it resume demo, up to 2 more iterations:")
	screen.types("Round to cents." + enter)
	screen.sees("loop demo is running again; the words are in its next prompt")
	p.until("the loop to have the words", func() bool { return strings.Contains(p.fine("logs", "demo"), "Round to cents.") })
	p.until("the loop to end again", func() bool { return p.dead("demo") })
	screen.types("q")
	screen.leaves()
}
