package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
)

func TestProgramVersion(t *testing.T) {
	for _, tt := range []struct {
		name, body, want, wantErr string
	}{
		{"a version among words", "echo 'git version 2.39.5'", "2.39.5", ""},
		{"a version before words", "echo '2.1.329 (Claude Code)'", "2.1.329", ""},
		{"a version at the end of a sentence", "echo 'GitHub Copilot CLI 1.0.102.'", "1.0.102", ""},
		{"a version with a suffix, on stderr", "echo v0.0.1790142911-g7618fb >&2", "0.0.1790142911-g7618fb", ""},
		{"a program that fails", "echo 1.2.3; exit 3", "", "does not start: exit status 3"},
		{"a program that says something else", "echo hello", "", "says no version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := program(t, t.TempDir(), "agent", tt.body)
			got, err := programVersion(&cli.Env{Environ: os.Environ()}, path, "--version")
			if text := errorText(err); got != tt.want || text != tt.wantErr {
				t.Errorf("got %q, error %q; want %q, error %q", got, text, tt.want, tt.wantErr)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestHangingProgramIsEnded(t *testing.T) {
	folder := t.TempDir()
	pidFile := filepath.Join(folder, "pid")
	path := program(t, folder, "agent", "sleep 300 & echo $! > "+pidFile+".new; mv "+pidFile+".new "+pidFile+"\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	child := make(chan int)
	go func() {
		defer cancel() // as a timeout would
		child <- awaitPID(pidFile)
	}()
	answered := make(chan error, 1)
	go func() {
		_, err := versionUntil(ctx, &cli.Env{Environ: os.Environ()}, path)
		answered <- err
	}()
	pid := <-child
	if err := <-answered; err == nil || err.Error() != "does not answer" {
		t.Errorf("error %v, want: does not answer", err)
	}
	if pid == 0 {
		t.Fatal("the program has not written its child's pid")
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if _, alive := process.StartTime(pid); !alive {
			return
		}
		time.Sleep(5 * time.Millisecond) // there is no event for a process that is not our child
	}
	t.Errorf("process %d, a child of the program, lives on", pid)
}

// patience bounds the wait for what another process is certain to do.
const patience = 2 * time.Minute

// awaitPID reads a pid from a file that another process is about to make.
func awaitPID(name string) int {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if text, err := os.ReadFile(name); err == nil {
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			return pid
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0
}

// A loop uses each agent as doctor describes it. The tests with the tag realagents check it with
// the real programs.
func TestDoctorDescribesAgents(t *testing.T) {
	home := t.TempDir()
	login := filepath.Join(home, ".codex", "auth.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(login), 0o700), os.WriteFile(login, []byte(`{"made": "up"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"claude":       "claude: steer cost tools same; claude --print --input-format stream-json --output-format stream-json --verbose --replay-user-messages; claude pays with ANTHROPIC_API_KEY: no login of its own is found; agents.claude.passKeys=false withholds it",
		"pi":           "pi: steer cost reset tools same; pi --mode rpc --no-session",
		"codex":        "codex: steer reset tools same; codex app-server; codex uses its own login (" + login + ") and is not given OPENAI_API_KEY or CODEX_API_KEY; agents.codex.passKeys=true hands it on",
		"amp":          "amp: tools (by its documentation); amp --stream-json --dangerously-allow-all -x",
		"opencode":     "acp: steer cost reset tools same; opencode acp --print-logs --log-level=ERROR",
		"gemini":       "acp: reset tools same; gemini --acp",
		"copilot":      "acp: reset tools same; copilot --acp",
		"qwen":         "acp: steer reset tools same; qwen --acp --yolo",
		"goose":        "acp: reset tools same (by its documentation); goose acp",
		"cursor-agent": "acp: reset tools same (by its documentation); cursor-agent acp",
		"kimi":         "acp: reset tools same (by its documentation); kimi acp",
	}
	folder := t.TempDir()
	for name := range want {
		program(t, folder, name, "echo "+name+" 1.2.3\n")
	}
	t.Setenv("PATH", folder+":/bin:/usr/bin")
	environ := append(os.Environ(), "HOME="+home, "CODEX_HOME=", "CLAUDE_CONFIG_DIR=", "CLAUDE_CODE_OAUTH_TOKEN=", "ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=b", "CODEX_API_KEY=c", "GEMINI_API_KEY=d", "AMP_API_KEY=e")
	found, missing := findAgents(&cli.Env{Environ: environ})
	if len(missing) > 0 || len(found) != len(want) {
		t.Errorf("found %d of %d; missing %q", len(found), len(want), missing)
	}
	for _, a := range found {
		says := a.Protocol + ": " + a.can() + "; " + strings.TrimSpace(strings.Join(a.Argv, " "))
		if a.Name == "claude" { // its permissions depend on the user
			says, _, _ = strings.Cut(says, " --permission-mode")
			says, _, _ = strings.Cut(says, " --dangerously")
		}
		if a.Keys != nil {
			says += "; " + a.keyMessage
		}
		if says != want[a.Name] || a.Version != "1.2.3" || a.Path != filepath.Join(folder, a.Name) {
			t.Errorf("%s %s at %s\n%s\nwant\n%s", a.Name, a.Version, a.Path, says, want[a.Name])
		}
	}
}

func TestDoctorKeepsToTheTerminal(t *testing.T) {
	d := Report{
		Agents: []foundAgent{{
			Name: "codex", Version: "0.169.0", Protocol: "codex", Path: "/usr/local/bin/codex", Tried: true, Spoken: true, Steer: true, Reset: true, Tools: true,
			Argv: []string{"codex", "app-server", "-c", "model=x"}, keyMessage: "codex uses its own login, and OPENAI_API_KEY is withheld; agents.codex.passKeys=true hands it on", Notice: "this codex has no app-server: codex exec works instead",
		}},
		Missing: []string{"claude", "pi", "amp", "opencode", "gemini", "copilot", "qwen", "goose"},
		Checks:  []finding{preflight.New("node", preflight.Works, "not on PATH; agents that come with npm need it", "a hint of some words, as long as a line")},
	}
	words := func(width int) string {
		var out bytes.Buffer
		if err := d.Print(&out, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := len(strings.TrimRight(line, "\n")); width > 0 && n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	whole := words(0)
	for _, width := range []int{40, 80, 200} {
		if got := words(width); got != whole {
			t.Errorf("in %d columns it says\n%s\nand not\n%s", width, got, whole)
		}
	}
}

func TestDoctorMasksSecretsOfSettings(t *testing.T) {
	project, home := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(project, ".ralph"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `{"agent": "sh", "maximumIterations": 30, "agents": {"sh": {"env": {"MY_API_KEY": "tr0ub4dor-and-3", "PLAIN": "visible-value"}},
		"second": {"command": "sh", "env": {"OTHER_API_KEY": "tr0ub4dor-and-4"}}, "unused": {"env": {"THIRD_API_KEY": "tr0ub4dor-and-5"}}},
		"review": {"agent": "second"}}`
	if err := os.WriteFile(filepath.Join(project, ".ralph", "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	found, loaded := examineSettings(&cli.Env{Home: home, Cwd: project})
	if found.Problem != "" || len(loaded.AllAgents()) != 2 {
		t.Fatalf("problem %q, %d agents", found.Problem, len(loaded.AllAgents()))
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("tr0ub4dor")) {
		t.Errorf("the secret is shown: %s", text)
	}
	for _, want := range []string{"visible-value", "[masked:MY_API_KEY]", `"maximumIterations","value":"30","from":".ralph/settings.json:1"`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
}

// program writes an executable shell script.
func program(t *testing.T, folder, name, body string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	testfile.Program(t, path, body)
	return path
}

// After an update of ralph, the plugin in ralph's home is that of the one before.
func TestDoctorNamesOldPlugin(t *testing.T) {
	home := t.TempDir()
	e := &cli.Env{Home: home, Cwd: t.TempDir(), Environ: []string{"PATH="}}
	about := func() (text string) {
		for _, f := range Examine(e).Checks {
			if f.What == "plugin" {
				text = string(f.State) + " " + f.Says + ": " + f.Hint
			}
		}
		return text
	}
	if got := about(); got != "" {
		t.Errorf("without a plugin, it says %q", got)
	}
	if err := os.MkdirAll(filepath.Join(home, "plugins", "codex", "plugin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := about(), "warn not that of this ralph: codex: 'ralph plugin install codex' updates it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
