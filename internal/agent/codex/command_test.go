package codex

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
)

func TestThreadParams(t *testing.T) {
	const defaults = `{"ephemeral":true,"sandbox":"danger-full-access","approvalPolicy":"never","cwd":"/p","config":{"features.goals":false,"features.unbounded_connection_retries":false}}`
	for name, row := range map[string]struct {
		spec   agent.Spec
		argv   string
		params string
	}{
		"with no settings": {agent.Spec{}, "codex app-server", defaults},
		"with settings": {agent.Spec{Model: "gpt-5.5", Provider: "azure", Thinking: "off"}, "codex app-server",
			`{"ephemeral":true,"sandbox":"danger-full-access","approvalPolicy":"never","cwd":"/p","model":"gpt-5.5","modelProvider":"azure",` +
				`"config":{"features.goals":false,"features.unbounded_connection_retries":false,"model_reasoning_effort":"none"}}`},
		"in its folder": {agent.Spec{Permissions: agent.PermitWorkspace}, "codex app-server", strings.Replace(defaults, "danger-full-access", "workspace-write", 1)},
		"asking": {agent.Spec{Permissions: agent.PermitAsk}, "codex app-server",
			strings.NewReplacer("danger-full-access", "read-only", "never", "on-request").Replace(defaults)},
		"with everything allowed by the user": {agent.Spec{Permissions: agent.PermitAsk, Flags: []string{"--yolo", "-a", "never"}}, "codex app-server", defaults},
		"with options of the user, which win": {
			agent.Spec{Permissions: agent.PermitAsk, Flags: []string{"-m", "mine", "--sandbox=workspace-write", "-a", "on-request", "-C", "/other", "--json"}, Model: "gpt-5.5"},
			"codex app-server",
			`{"ephemeral":true,"sandbox":"workspace-write","approvalPolicy":"on-request","cwd":"/other","model":"mine","config":{"features.goals":false,"features.unbounded_connection_retries":false}}`},
		"with configuration of the user, which wins": {
			agent.Spec{
				Flags: []string{"-c", `sandbox_mode="read-only"`, "-c", "approval_policy=never", "--config=model=mine", "-c", "features.goals=true", "-c", "model_reasoning_effort=high", "--enable", "x"},
				Model: "gpt-5.5", Thinking: "low",
			},
			`codex app-server -c sandbox_mode="read-only" -c approval_policy=never --config=model=mine -c features.goals=true -c model_reasoning_effort=high --enable x`,
			`{"ephemeral":true,"cwd":"/p","config":{"features.unbounded_connection_retries":false}}`},
		"with features of the user": {agent.Spec{Flags: []string{"--enable", "goals", "--disable", "unbounded_connection_retries"}},
			"codex app-server --enable goals --disable unbounded_connection_retries",
			`{"ephemeral":true,"sandbox":"danger-full-access","approvalPolicy":"never","cwd":"/p","config":{}}`},
		"when it is named": {agent.Spec{Flags: []string{"app-server", "--strict-config"}}, "codex app-server --strict-config", defaults},
		"after another program": {agent.Spec{Command: []string{"docker", "run", "-i", "img", "codex", "-m", "mine"}}, "docker run -i img codex app-server",
			`{"ephemeral":true,"sandbox":"danger-full-access","approvalPolicy":"never","cwd":"/p","model":"mine","config":{"features.goals":false,"features.unbounded_connection_retries":false}}`},
	} {
		t.Run(name, func(t *testing.T) {
			d, cmd := command(t, row.spec)
			if diff := cmp.Diff(row.argv, strings.Join(cmd.Argv, " ")) + cmp.Diff(canonical(row.params), string(agent.Line(d.params))); diff != "" {
				t.Error(diff)
			}
			if cmd.CloseStdin || !d.Abilities().Live {
				t.Errorf("%+v, %+v", cmd, d.Abilities())
			}
		})
	}
}

func command(t *testing.T, spec agent.Spec) (*Dialect, agent.Command) {
	t.Helper()
	if spec.Command == nil {
		spec.Command = []string{"codex"}
	}
	spec.Dir = "/p"
	d := New(nil, nil)
	cmd, err := d.Command(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d, cmd
}

func TestExec(t *testing.T) {
	const defaults = "codex exec --json --skip-git-repo-check --ephemeral --dangerously-bypass-approvals-and-sandbox -c features.goals=false -c features.unbounded_connection_retries=false"
	for name, row := range map[string]struct {
		spec agent.Spec
		argv string
	}{
		"by a flag":            {agent.Spec{Flags: []string{"exec"}}, defaults},
		"by its short name":    {agent.Spec{Flags: []string{"e"}}, defaults},
		"by the command":       {agent.Spec{Command: []string{"codex", "exec", "--json"}}, strings.Replace(defaults, " --json", "", 1) + " --json"},
		"for a commit message": {agent.Spec{Purpose: agent.PurposeMessage}, defaults},
		"with settings":        {agent.Spec{Flags: []string{"exec"}, Model: "m", Provider: "p", Thinking: "low"}, defaults + ` --model m -c model_provider="p" -c model_reasoning_effort="low"`},
		"in its folder": {agent.Spec{Flags: []string{"exec"}, Permissions: agent.PermitWorkspace},
			strings.Replace(defaults, "--dangerously-bypass-approvals-and-sandbox", "--sandbox workspace-write", 1)},
		"asking": {agent.Spec{Flags: []string{"exec"}, Permissions: agent.PermitAsk},
			strings.Replace(defaults, "--dangerously-bypass-approvals-and-sandbox", "--sandbox read-only", 1)},
		"with a sandbox":          {agent.Spec{Flags: []string{"exec", "-s", "read-only"}}, strings.Replace(defaults, " --dangerously-bypass-approvals-and-sandbox", "", 1) + " -s read-only"},
		"with a profile":          {agent.Spec{Flags: []string{"exec", "--profile", "x", "-m", "mine"}, Model: "m"}, defaults + " --profile x -m mine"},
		"with an approval policy": {agent.Spec{Purpose: agent.PurposeMessage, Flags: []string{"-a", "never"}}, strings.Replace(defaults, " --dangerously-bypass-approvals-and-sandbox", "", 1) + ` -c approval_policy="never"`},
	} {
		t.Run(name, func(t *testing.T) {
			d, cmd := command(t, row.spec)
			if diff := cmp.Diff(row.argv, strings.Join(cmd.Argv, " ")); diff != "" {
				t.Error(diff)
			}
			if !cmd.CloseStdin || !cmd.ParentDeath || d.Abilities().Live {
				t.Errorf("%+v, %+v", cmd, d.Abilities())
			}
		})
	}
	if _, cmd := command(t, agent.Spec{Flags: []string{"app-server"}, Purpose: agent.PurposeMessage}); cmd.CloseStdin {
		t.Error("the app-server that the user names is not used for everything")
	}
}

func TestRefusedOptions(t *testing.T) {
	for name, row := range map[string]struct {
		spec agent.Spec
		want string
	}{
		"nothing":                   {agent.Spec{Command: []string{}}, "its command is empty"},
		"a session that is resumed": {agent.Spec{Command: []string{"codex"}, Flags: []string{"exec", "resume", "--last"}}, `"resume" cannot be driven`},
		"a prompt":                  {agent.Spec{Command: []string{"codex", "fix it"}}, `"fix it" cannot be driven`},
		"an option of exec alone":   {agent.Spec{Command: []string{"codex"}, Flags: []string{"--profile", "x"}}, "begin its flags with exec"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(nil, nil).Command(row.spec); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// install makes what npm makes, in one of its shapes, and returns the folder of the wrapper's link
// and the native program.
func install(t *testing.T, vendor, folder string) (bin, native string) {
	t.Helper()
	platform, ok := triples[[2]string{runtime.GOOS, runtime.GOARCH}]
	if !ok || runtime.GOOS == "windows" {
		t.Skip("no link to a native Codex is installed here")
	}
	root := t.TempDir()
	scope := filepath.Join(root, "node_modules", "@openai")
	native = filepath.Join(scope, filepath.FromSlash(strings.ReplaceAll(vendor, "PKG", platform.pkg)), "vendor", platform.triple, folder, "codex")
	wrapper := filepath.Join(scope, "codex", "bin", "codex.js")
	for _, file := range []string{native, wrapper} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin = filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(wrapper, filepath.Join(bin, "codex")); err != nil {
		t.Fatal(err)
	}
	native, err := filepath.EvalSymlinks(native)
	if err != nil {
		t.Fatal(err)
	}
	return bin, native
}

func TestNativeProgramOfWrapper(t *testing.T) {
	for name, row := range map[string]struct{ vendor, folder string }{
		"in the package beside it":            {"PKG", "bin"},
		"in a package within it":              {"codex/node_modules/@openai/PKG", "bin"},
		"in the wrapper's own files":          {"codex", "bin"},
		"in a folder of its name, up to 0.98": {"codex", "codex"},
	} {
		t.Run(name, func(t *testing.T) {
			bin, native := install(t, row.vendor, row.folder)
			wrapper := filepath.Join(bin, "codex")
			if got := Native(wrapper); got != native {
				t.Errorf("got %q, want %q", got, native)
			}
			t.Setenv("PATH", bin)
			for _, argv := range [][]string{{"codex"}, {wrapper}, {"node", wrapper}} {
				cmd, err := New(Native, nil).Command(agent.Spec{Command: argv})
				if err != nil || cmd.Argv[0] != native || len(cmd.Argv) != 2 {
					t.Errorf("%v became %v, %v", argv, cmd.Argv, err)
				}
			}
			if err := os.Remove(native); err != nil {
				t.Fatal(err)
			}
			if got := Native(wrapper); got != "" {
				t.Errorf("what is not there was found: %q", got)
			}
		})
	}
}

func TestOtherProgramsStay(t *testing.T) {
	program := filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{program, filepath.Join(t.TempDir(), "none")} {
		cmd, err := New(Native, nil).Command(agent.Spec{Command: []string{program}})
		if err != nil || cmd.Argv[0] != program {
			t.Errorf("%v, %v", cmd.Argv, err)
		}
	}
}

func TestTextCommand(t *testing.T) {
	const rest = " -c features.goals=false -c features.unbounded_connection_retries=false"
	for name, row := range map[string]struct {
		spec agent.Spec
		want string // argv, or the error after "error: "
	}{
		"it prints text, and no person is asked": {agent.Spec{}, "codex exec --skip-git-repo-check --ephemeral --dangerously-bypass-approvals-and-sandbox" + rest},
		"exec is not said twice":                 {agent.Spec{Flags: []string{"e", "-o", "last.txt"}}, "codex exec --skip-git-repo-check --ephemeral --dangerously-bypass-approvals-and-sandbox" + rest + " -o last.txt"},
		"the user's flags win":                   {agent.Spec{Model: "m", Flags: []string{"-m", "mine", "-s", "read-only"}}, "codex exec --skip-git-repo-check --ephemeral" + rest + " -m mine -s read-only"},
		"the app-server prints no text":          {agent.Spec{Flags: []string{"app-server"}}, "error: codex: app-server is no plain program: leave it out, or leave its protocol out"},
	} {
		t.Run(name, func(t *testing.T) {
			row.spec.Command = []string{"codex"}
			command, err := TextCommand(row.spec, nil, nil)
			got := strings.Join(command.Argv, " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// ralph's hooks are options of the process, with the hashes by which Codex trusts them; those of
// the user's own options stay.
func TestHooksAreAdded(t *testing.T) {
	for _, flags := range [][]string{nil, {"exec"}} {
		_, cmd := command(t, agent.Spec{Flags: flags, Hooks: "/opt/ralph"})
		all := strings.Join(cmd.Argv, "\n")
		for _, want := range []string{
			`hooks.PreToolUse=[{matcher="Bash|apply_patch",hooks=[{type="command",command="'/opt/ralph' hook pre-tool-use",timeout=10}]}]`,
			`hooks.Stop=[{hooks=[{type="command",command="'/opt/ralph' hook stop",timeout=30}]}]`,
			`"/<session-flags>/config.toml:post_tool_use:0:0"={trusted_hash="sha256:`,
		} {
			if !strings.Contains(all, want) {
				t.Errorf("%q is not in %s", want, all)
			}
		}
		_, cmd = command(t, agent.Spec{Flags: append(flags, "-c", "hooks.Stop=[]"), Hooks: "/opt/ralph"})
		if all = strings.Join(cmd.Argv, "\n"); strings.Contains(all, "hook stop") || !strings.Contains(all, "hook pre-tool-use") {
			t.Errorf("%s", all)
		}
	}
}
