package preflight

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// find returns the findings of that name about a loop with these settings.
func find(t *testing.T, what string, change func(*config.Settings)) (found []Finding) {
	t.Helper()
	s := config.Defaults()
	agents(&s, config.Agent{Command: "ralph rehearse x"})
	change(&s)
	dir := t.TempDir()
	for _, f := range (Loop{Settings: s, WorkDir: dir, Branch: dir, Ask: func([]string) (string, int, bool) { return "", 0, false }}).Examine(&cli.Env{Cwd: dir, Home: t.TempDir()}) {
		if f.What == what {
			found = append(found, f)
		}
	}
	return found
}

// agents makes these the agents of settings.
func agents(s *config.Settings, all ...config.Agent) {
	s.Agent, s.Agents = nil, map[string]config.Agent{}
	for i, a := range all {
		name := string(rune('a' + i))
		s.Agent, s.Agents[name] = append(s.Agent, name), a
	}
}

// A loop that could not make or follow its pull request does not begin.
func TestMissingForgeIsRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, row := range map[string]struct {
		scm  config.SCM
		want []Finding
	}{
		"no pull request": {config.SCM{Command: "git", Tasks: []string{"commit", "push"}}, nil},
		"pr":              {config.SCM{Command: "git", Tasks: []string{"commit", "push", config.TaskPullRequest}}, noForge},
		"followPR":        {config.SCM{FollowPR: true}, noForge},
	} {
		if got := find(t, "pull request", func(s *config.Settings) { s.SCM = row.scm }); !slices.Equal(got, row.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

var noForge = []Finding{{
	"pull request", Fails, "neither gh nor glab is installed, and the settings ask for a pull request",
	"install gh or glab, or leave pr out of scm.tasks and scm.followPR out of the settings",
}}

// A start says in one line what holds the agent back.
func TestHeldBackSaysWhat(t *testing.T) {
	for name, row := range map[string]struct {
		agent config.Agent
		mode  string
		want  string
	}{
		"a rehearsal":             {config.Agent{Command: "ralph rehearse x"}, "none", ""},
		"nothing":                 {config.Agent{Command: "./agent.sh"}, "none", "nothing holds the agent back: 'ralph start --sandbox' does"},
		"a sandbox":               {config.Agent{Command: "./agent.sh"}, "bwrap", "the agent is held back by sandbox bwrap"},
		"a sandbox if there is":   {config.Agent{Command: "./agent.sh"}, "auto", "the agent is held back by the strongest sandbox that holds here"},
		"permissions":             {config.Agent{Command: "claude", Permissions: "ask"}, "none", "the agent is held back by its own permissions (agents.NAME.permissions)"},
		"permissions and sandbox": {config.Agent{Command: "codex", Permissions: "workspace"}, "bwrap", "the agent is held back by sandbox bwrap and its own permissions (agents.NAME.permissions)"},
		"none that are enforced":  {config.Agent{Command: "pi", Permissions: "ask"}, "none", "nothing holds the agent back: 'ralph start --sandbox' does"},
	} {
		var want []Finding
		if row.want != "" {
			want = []Finding{{"held back", Notes, row.want, ""}}
		}
		// A test's program is not ralph: it gives no hooks.
		if got := find(t, "held back", func(s *config.Settings) { agents(s, row.agent); s.Sandbox.Mode = row.mode }); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %q", name, got, row.want)
		}
	}
}

// Only a sandbox that is sure to have all guardrails in it is said to keep the held-out ones apart.
func TestHeldOutSaysWhat(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	if _, err := holdout.Open(home, project).Add(holdout.Guardrail{Command: "true", Requirement: "words"}, project, nil, false); err != nil {
		t.Fatal(err)
	}
	for mode, convention := range map[string]bool{"": true, "none": true, "docker-sandbox": true, "auto": true, "bwrap": false, "podman": false} {
		found := HeldOut(home, project, config.Settings{Sandbox: config.Sandbox{Mode: mode}}, 0)
		if len(found) != 1 || strings.Contains(found[0].Says, "by convention") != convention {
			t.Errorf("sandbox %q: %+v", mode, found)
		}
	}
	commits := config.Settings{Sandbox: config.Sandbox{Mode: "bwrap"}, SCM: config.SCM{Tasks: []string{"commit"}}}
	if found := HeldOut(home, project, commits, 0); len(found) != 1 || !strings.Contains(found[0].Says, "git's hooks at a commit outside of it") {
		t.Errorf("a loop that commits: %+v", found)
	}
}

// Each finding has the next step of what fails, and a limit that no agent keeps is named once.
func TestExamineNamesEachFindingOnce(t *testing.T) {
	text := config.Agent{Command: "./agent.sh", Protocol: config.ProtocolText}
	several := func(s *config.Settings) { agents(s, text, text); s.Limits.Cost = 5 }
	if got := find(t, "limits.cost", several); len(got) != 1 || got[0].State != Warns || !strings.Contains(got[0].Says, "does not report what it costs") {
		t.Errorf("%+v", got)
	}
	same := func(s *config.Settings) { agents(s, text); s.Context = config.ContextSame }
	if got := find(t, "context", same); len(got) != 1 || got[0].State != Fails || !strings.HasPrefix(got[0].Hint, "leave context at fresh") {
		t.Errorf("%+v", got)
	}
}

// A start that is refused prints the refusal alone; else it prints all but what works.
func TestReportRefusesOrPrints(t *testing.T) {
	var printed bytes.Buffer
	e := &cli.Env{Stderr: &printed}
	found := []Finding{{"a", Works, "fine", "no more"}, {"b", Notes, "as it is", ""}, {"c", Warns, "not quite", "better"}}
	if err := Report(e, found); err != nil || printed.String() != "ralph: as it is\nralph: not quite\nralph: hint: better\n" {
		t.Errorf("%v, %q", err, printed.String())
	}
	printed.Reset()
	err := Report(e, append(found, Finding{"d", Fails, "impossible", "another way"}, Finding{"e", Fails, "never", ""}))
	if f, ok := errors.AsType[*cli.Failure](err); !ok || f.Error() != "impossible" || f.Hint() != "another way" || f.Code != event.ExitUsage || printed.Len() > 0 {
		t.Errorf("%v, %q", err, printed.String())
	}
}

func TestWritableLeavesNothingBehind(t *testing.T) {
	parent := t.TempDir()
	if f := Writable("home", filepath.Join(parent, "not", "yet")); f.State != Works || !strings.HasSuffix(f.Says, "(will be made)") {
		t.Errorf("a folder that can be made: %+v", f)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	plain := filepath.Join(parent, "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := Writable("home", plain); f.State != Fails {
		t.Errorf("a file where a folder belongs: %+v", f)
	}
}
