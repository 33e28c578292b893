package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestErrorMessages reads testdata/errors.txtar: each file is a settings.json,
// and the file of the same name with ".golden" is the message, its column and its hint.
func TestErrorMessages(t *testing.T) {
	path := filepath.Join("testdata", "errors.txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten []txtar.File
	for i, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".golden") {
			continue
		}
		text := strings.ReplaceAll(strings.TrimSuffix(string(file.Data), "\n"), `\x00`, "\x00")
		got := errorText(t, layers{project: text + "\n"})
		rewritten = append(rewritten, file, txtar.File{Name: file.Name + ".golden", Data: []byte(got)})
		if *update {
			continue
		}
		if i+1 == len(archive.Files) || archive.Files[i+1].Name != file.Name+".golden" {
			t.Errorf("%s has no golden message; it reads:\n%s", file.Name, got)
			continue
		}
		if diff := cmp.Diff(string(archive.Files[i+1].Data), got); diff != "" {
			t.Errorf("%s (-golden +got):\n%s", file.Name, diff)
		}
	}
	if *update {
		archive.Files = rewritten
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(rewritten) < 40 {
		t.Errorf("only %d cases were read", len(rewritten))
	}
}

// errorText returns the message, column and hint of Load's error.
func errorText(t *testing.T, l layers) string {
	t.Helper()
	_, err := Load(l.source(t))
	bad, ok := errors.AsType[*Error](err)
	if !ok {
		t.Errorf("no *Error but %v for %+v", err, l)
		return ""
	}
	var b strings.Builder
	b.WriteString(bad.Error() + "\n")
	if bad.Line > 0 {
		b.WriteString("column " + strconv.Itoa(bad.Column) + "\n")
	}
	if bad.Hint() != "" {
		b.WriteString("hint: " + bad.Hint() + "\n")
	}
	return b.String()
}

func TestErrorsNameVariableOrFlag(t *testing.T) {
	for name, row := range map[string]struct {
		layers layers
		want   string
	}{
		"a variable with a word for a number": {
			layers{env: []string{"RALPH_MAXIMUM_ITERATIONS=ten"}},
			"RALPH_MAXIMUM_ITERATIONS: maximumIterations: want a whole number, got \"ten\"\n" + takes("maximumIterations"),
		},
		"a variable out of range": {
			layers{env: []string{"RALPH_RESTART_WAIT_EXIT_CODE=256"}},
			"RALPH_RESTART_WAIT_EXIT_CODE: restart.waitExitCode: 256 is above 255\n" + takes("restart.waitExitCode"),
		},
		"a variable with broken JSON": {
			layers{env: []string{`RALPH_GUARDRAILS=[{"command":"a"},]`}},
			"RALPH_GUARDRAILS: guardrails: not JSON: trailing comma before ']' (character 17)\nhint: JSON has no comma after the last entry: remove it\n",
		},
		"a variable with a word for an object": {
			layers{env: []string{`RALPH_SCM=git`}},
			"RALPH_SCM: scm: want an object in JSON\nhint: its keys can be set one by one: scm.command or RALPH_SCM_COMMAND\n",
		},
		"a variable with a word for named agents": {
			layers{env: []string{`RALPH_AGENTS=claude`}},
			"RALPH_AGENTS: agents: want an object of objects in JSON\n" + takes("agents"),
		},
		"a variable with an agent without a name": {
			layers{env: []string{`RALPH_AGENT={"command": "claude"}`}},
			"RALPH_AGENT: agent.command is no key: agents have names (character 2)\nhint: write \"agent\": \"claude\"\n",
		},
		"a variable with a word for a list of objects": {
			layers{env: []string{`RALPH_GUARDRAILS=make test`}},
			"RALPH_GUARDRAILS: guardrails: want a list of objects in JSON\n" +
				"hint: write it as '[{\"command\": \"…\"}]'; 'ralph doctor --schema' has its other keys\n",
		},
		"a variable with an unknown key inside": {
			layers{env: []string{`RALPH_GUARDRAILS=[{"comand":"a"}]`}},
			"RALPH_GUARDRAILS: unknown key \"guardrails[0].comand\" (character 3)\nhint: did you mean \"guardrails[0].command\"?\n",
		},
		"an unknown flag": {
			layers{flags: map[string]string{"limit.idle": "1m"}},
			"command line: unknown key \"limit.idle\"\nhint: did you mean \"limits.idle\"?\n",
		},
		"a key below a scalar": {
			layers{flags: map[string]string{"context.fresh": "1"}},
			"command line: unknown key \"context.fresh\"\nhint: 'ralph doctor --schema' and docs/reference/settings.md have all of them\n",
		},
		"a flag with a bad duration": {
			layers{flags: map[string]string{"limits.idle": "10"}},
			"command line: limits.idle: \"10\" is not a duration such as \"10m\"\n" + takes("limits.idle"),
		},
		"a flag with a bad truth": {
			layers{flags: map[string]string{"journal.raw": "maybe"}},
			"command line: journal.raw: want true or false, got \"maybe\"\n" + takes("journal.raw"),
		},
		"a flag with no number at all": {
			layers{flags: map[string]string{"limits.cost": "NaN"}},
			"command line: limits.cost: want a number, got \"NaN\"\n" + takes("limits.cost"),
		},
		"a flag with a negative duration": {
			layers{flags: map[string]string{"restart.delay": "-1s"}},
			"command line: restart.delay: \"-1s\" is below 0\n" + takes("restart.delay"),
		},
		"a variable of the agent with no name": {
			layers{flags: map[string]string{"agents.pi.env.A=B": "1"}},
			"command line: agents.pi.env.A=B: \"A=B\" is no name of an environment variable\n" + takes("agents.pi.env.A=B"),
		},
		"a flag for an agent with no name": {
			layers{flags: map[string]string{"agents.a b.model": "x"}},
			"command line: agents.a b.model: \"a b\" is no name of an agent\nhint: a name has letters, digits, - and _ only\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := errorText(t, row.layers)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestErrorHasPlaceAndKey(t *testing.T) {
	_, err := Load(layers{local: "{\n  \"limits\": {\n    \"idel\": \"1m\"\n  }\n}"}.source(t))
	bad, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := Error{
		File: ".ralph/settings.local.json", Line: 3, Column: 5,
		Key: "limits.idel", Problem: `unknown key "limits.idel"`, Nearest: "limits.idle",
	}
	if diff := cmp.Diff(want, *bad, cmpopts.IgnoreUnexported(Error{})); diff != "" {
		t.Error(diff)
	}
}

func TestLevenshtein(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"idle", "idle", 0}} {
		if got := levenshtein(row.a, row.b); got != row.want {
			t.Errorf("%q to %q takes %d edits, want %d", row.a, row.b, got, row.want)
		}
	}
}

// takes is the hint of a value that its key cannot take.
func takes(key string) string {
	return "hint: 'ralph doctor --schema' and docs/reference/settings.md say what " + key + " takes\n"
}
