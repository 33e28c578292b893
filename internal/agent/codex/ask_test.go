package codex

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// What real programs print, shortened: 0.42.0 to 0.169.0.
const (
	helpOfServer = "[experimental] Run the app server\n\nUsage: codex app-server [OPTIONS]\n"
	helpOfAll    = "Codex CLI\n\nIf no subcommand is specified, options will be forwarded to the interactive CLI.\n\nUsage: codex [OPTIONS] [PROMPT]\n\nCommands:\n  exec        Run Codex non-interactively [aliases: e]\n  proto       Run the Protocol stream via stdin/stdout [aliases: p]\n"
	helpOfExec   = "Run Codex non-interactively\n\nUsage: codex exec [OPTIONS] [PROMPT]\n\nOptions:\n  -c, --config <key=value>\n          Override, as --ephemeral does not\n      --dangerously-bypass-approvals-and-sandbox\n  -m, --model <MODEL>\n      --skip-git-repo-check\n      --json\n"
	helpOfNewest = helpOfExec + "      --ephemeral\n"
)

// program answers questions and counts them.
type program struct {
	help    string // of app-server
	code    int
	version string
	exec    string
	silent  bool
	asked   []string
}

func (p *program) ask(argv []string) (said string, code int, ok bool) {
	p.asked = append(p.asked, strings.Join(argv, " "))
	switch {
	case p.silent:
		return "", 0, false
	case argv[1] == "--version":
		return p.version + "\n", 0, true
	case argv[1] == "exec":
		return p.exec, 0, true
	}
	return p.help, p.code, true
}

func TestOldServerMeansExec(t *testing.T) {
	const (
		rest = " --dangerously-bypass-approvals-and-sandbox -c features.goals=false -c features.unbounded_connection_retries=false"
		old  = "codex exec --json --skip-git-repo-check" + rest
	)
	for name, row := range map[string]struct {
		program program
		spec    agent.Spec
		argv    string
		notice  string
	}{
		"a current one keeps its server": {
			program: program{help: helpOfServer, version: "codex-cli 0.169.0"}, argv: "codex app-server"},
		"one that takes the word for a prompt": {
			program: program{help: helpOfAll, version: "codex-cli 0.44.0", exec: helpOfExec}, argv: old, notice: "this codex has no app-server: codex exec works instead. "},
		"one that refuses the word": {
			program: program{help: "error: unrecognized subcommand 'app-server'\n", code: 2, exec: helpOfNewest},
			argv:    "codex exec --json --skip-git-repo-check --ephemeral" + rest, notice: "this codex has no app-server"},
		"one that refuses it without naming it": {
			program: program{help: "unknown subcommand\n", code: 1, exec: helpOfNewest},
			argv:    "codex exec --json --skip-git-repo-check --ephemeral" + rest, notice: "this codex has no app-server"},
		"one whose server speaks another protocol": {
			program: program{help: helpOfServer, version: "codex-cli 0.98.0", exec: helpOfExec}, argv: old, notice: "codex 0.98 has an app-server that is older than 0.104"},
		"the oldest server that can be used": {
			program: program{help: helpOfServer, version: "codex-cli 0.104.0"}, argv: "codex app-server"},
		"a version that is not Codex's own says nothing": {
			program: program{help: helpOfServer, version: "mine 0.1.0"}, argv: "codex app-server"},
		"a version after 0": {
			program: program{help: helpOfServer, version: "codex-cli 1.0.0"}, argv: "codex app-server"},
		"one that cannot be asked is tried": {
			program: program{silent: true}, argv: "codex app-server"},
		"one that does not start says why when it is started": {
			program: program{help: "env: node: No such file or directory\n", code: 127}, argv: "codex app-server"},
		"one that says something else is tried": {
			program: program{help: "codex-cli 0.169.0\n", version: "codex-cli 0.169.0"}, argv: "codex app-server"},
		"a user who names the server gets it": {
			program: program{help: helpOfAll}, spec: agent.Spec{Flags: []string{"app-server"}}, argv: "codex app-server"},
		"a user who names exec gets no notice": {
			program: program{exec: helpOfExec}, spec: agent.Spec{Flags: []string{"exec"}}, argv: old},
		"a commit message changes nothing for the loop": {
			program: program{help: helpOfAll, exec: helpOfExec}, spec: agent.Spec{Purpose: agent.PurposeMessage}, argv: old},
		"an exec whose options are not known gets all": {
			program: program{exec: "?"}, spec: agent.Spec{Flags: []string{"exec"}}, argv: "codex exec --json --skip-git-repo-check --ephemeral" + rest},
	} {
		t.Run(name, func(t *testing.T) {
			row.spec.Command = []string{"codex"}
			d := New(nil, row.program.ask)
			cmd, err := d.Command(row.spec)
			if got := strings.Join(cmd.Argv, " "); err != nil || got != row.argv {
				t.Errorf("got %q, %v; want %q", got, err, row.argv)
			}
			if (row.notice == "") != (cmd.Notice == "") || !strings.HasPrefix(cmd.Notice, row.notice) {
				t.Errorf("notice %q", cmd.Notice)
			}
			live := d.Abilities().Live
			if want := strings.Contains(row.argv, "app-server"); live != want || cmd.CloseStdin == want {
				t.Errorf("live: %v, stdin is closed: %v", live, cmd.CloseStdin)
			}
			for _, asked := range row.program.asked {
				if strings.HasSuffix(row.spec.Purpose, "e") && strings.Contains(asked, "app-server") || row.spec.Flags != nil && strings.Contains(asked, "app-server") {
					t.Errorf("%q was asked, and nothing depends on it", asked)
				}
			}
		})
	}
}

// 0.42.0 prints other events, and none for the end of a turn.
func TestTooOldForExec(t *testing.T) {
	p := program{help: helpOfAll, version: "codex-cli 0.42.0", exec: helpOfExec + "      --experimental-json\n"}
	_, err := New(nil, p.ask).Command(agent.Spec{Command: []string{"codex"}})
	if err == nil || !strings.Contains(err.Error(), "version 0.42 is older than 0.44") {
		t.Errorf("error %v", err)
	}
}
