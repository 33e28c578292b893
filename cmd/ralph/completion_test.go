//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/front/completion"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestCompletion(t *testing.T) {
	r := record(t, "demo")
	r.end(event.ReasonPromise, "done")
	r.register()
	for line, want := range map[string]string{
		"sta":                         "start status",
		"run-":                        "",
		"compl":                       "completion", // and not the hidden verb
		"nosuch ":                     "",
		"status ":                     "demo",
		"status de":                   "demo",
		"status demo ":                "",
		"journal ver":                 "verify",
		"journal verify de":           "demo :files",
		"logs --gr":                   "--grep",
		"logs --case ":                "smart ignore match",
		"logs --case=m":               "--case=match",
		"logs --type loop.u":          "loop.unpaused",
		"logs --grep x --ca":          "--case",
		"logs -- --ca":                ":files",
		"logs --grep --ca":            "", // the text
		"set limits.cost":             "limits.cost= :nospace",
		"set demo limits.cost":        "limits.cost= :nospace",
		"set limits.cost=":            "limits.cost=none",
		"set demo de":                 "",
		"start --set context=f":       "context=fresh",
		"start --context ":            "fresh same",
		"start --limits.iterationT":   "--limits.iterationTokens",
		"start --set=context=s":       "--set=context=same",
		"start --task ":               ":files",
		"logs --project ":             ":folders",
		"start --agent cl":            "claude claude-agent-acp",
		"--maximum":                   "--maximum-iterations",
		"--completion.doneFile --max": "--maximum-iterations",
		"help why":                    "why",
		"steer demo de":               "",
		"clean demo de":               "demo",
		"attach --loop":               "",
	} {
		if got := strings.Join(strings.Fields(words(completion.Print(r.env, completed(), "fish", fieldsOf(line)))), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(r.env.Home, "settings.json"), []byte(`{"hosts": ["farm"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := completion.Print(r.env, completed(), "fish", []string{"attach", "fa"}); got != "farm:\tloops of that machine\n:nospace\n" {
		t.Errorf("of a host: %q", got)
	}
	// Bash breaks words at "=", and wants only what is after the last one.
	if got := completion.Print(r.env, completed(), "bash", []string{"start", "--set", "context", "=", "f"}); got != "fresh\n" {
		t.Errorf("for bash: %q", got)
	}
}

// fieldsOf splits a line, whose last word may be empty.
func fieldsOf(line string) []string { return strings.Split(line, " ") }

// words removes the help after each word.
func words(answer string) string {
	var b strings.Builder
	for line := range strings.Lines(answer) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		b.WriteString(word + "\n")
	}
	return b.String()
}

// TestCompletionTagsAreKnown walks the model of all verbs.
func TestCompletionTagsAreKnown(t *testing.T) {
	parser, err := commands().Parser(nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	tagged := 0
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		values := slices.Clone(n.Positional)
		for _, f := range n.Flags {
			values = append(values, f.Value)
		}
		for _, v := range values {
			if !v.Tag.Has(completion.Tag) {
				continue
			}
			tagged++
			for kind := range strings.SplitSeq(v.Tag.Get(completion.Tag), ",") {
				if !slices.Contains(completion.Kinds(), kind) {
					t.Errorf("%s: complete:%q is not known", v.Summary(), kind)
				}
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
	if tagged < 15 {
		t.Errorf("%d values have the tag", tagged)
	}
}

// shells are how an interactive shell is started that loads the script, which is in a file. Those
// that are not installed here are left out: .ci/run installs all.
var shells = map[string]struct {
	args []string
	load string
}{
	"bash": {[]string{"--norc", "--noprofile", "-i"}, "PS1='REA''DY> '; source "},
	"zsh":  {[]string{"-f", "-i"}, "autoload -U compinit; compinit -D -u; PS1='REA''DY> '; source "},
	"fish": {[]string{"--no-config", "-i"}, "function fish_prompt; echo 'REA''DY> '; end; source "},
}

func TestCompletionInShells(t *testing.T) {
	for name, shell := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed: .ci/run installs it", name)
			}
			r := record(t, "my-loop")
			r.end(event.ReasonPromise, "done")
			r.register()
			script := filepath.Join(t.TempDir(), "script")
			r.must(os.WriteFile(script, []byte(completion.Script(name)), 0o600))
			cmd := exec.CommandContext(t.Context(), program, shell.args...)
			cmd.Dir = r.env.Cwd
			cmd.Env = append(os.Environ(), "RALPH_HOME="+r.env.Home, "HOME="+t.TempDir(), "TERM=xterm", "INPUTRC=/dev/null", "HISTFILE=")
			s, err := terminaltest.Start(cmd, terminaltest.Options{Columns: 100, Rows: 30})
			r.must(err)
			t.Cleanup(s.End)
			typed := func(keys, want string) {
				t.Helper()
				if _, err := s.Type(keys); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Sees(want, patience); err != nil {
					t.Fatalf("after %q: %v\n%s", keys, err, s.Text())
				}
			}
			typed(shell.load+script+"\r", "READY>")
			typed("ralph wh\t", "ralph why")
			typed("my\t", "ralph why my-loop")
			typed("\x15ralph logs --grep x --ca\t", "--grep x --case")
			typed("\x15ralph logs --case=ma\t", "--case=match")
			typed("\x15ralph set limits.iterationT\t", "ralph set limits.iterationTokens=")
		})
	}
}
