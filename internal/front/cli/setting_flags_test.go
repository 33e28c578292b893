package cli

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

func TestEverySettingIsAFlag(t *testing.T) {
	for name, row := range map[string]struct{ args, want []string }{
		"a value may follow":                      {[]string{"run", "-p", "x", "--limits.idle", "5m"}, []string{"run", "-p", "x", "--set", "limits.idle=5m"}},
		"or be joined":                            {[]string{"start", "night", "--limits.cost=2.5", "-d"}, []string{"start", "night", "--set", "limits.cost=2.5", "-d"}},
		"a switch needs none":                     {[]string{"run", "--includeIterationCountInPrompt", "-p", "x"}, []string{"run", "--set", "includeIterationCountInPrompt=true", "-p", "x"}},
		"a switch may be turned off":              {[]string{"run", "--completion.doneFile", "false"}, []string{"run", "--set", "completion.doneFile=false"}},
		"run is meant where no verb is":           {[]string{"-p", "x", "--reflect.every", "3"}, []string{"-p", "x", "--set", "reflect.every=3"}},
		"a value may begin with a dash":           {[]string{"run", "--agents.pi.flags", "--fast"}, []string{"run", "--set", "agents.pi.flags=--fast"}},
		"one without a value is for the settings": {[]string{"run", "--limits.idle"}, []string{"run", "--set", "limits.idle"}},
		"one in a plain word as well":             {[]string{"run", "--context", "same", "--guardrails=[]"}, []string{"run", "--set", "context=same", "--set", "guardrails=[]"}},
		"also one that is a verb too":             {[]string{"run", "--guard", `{"unknown": "deny"}`}, []string{"run", "--set", `guard={"unknown": "deny"}`}},
		"the verb stays a verb":                   {[]string{"guard", "git", "push"}, []string{"guard", "git", "push"}},
		"but an agent is a command":               {[]string{"run", "--agent", "pi"}, []string{"run", "--agent", "pi"}},
		"flags of the verb are left alone":        {[]string{"run", "--prompt-file", "a.B", "--set", "limits.idle=1s"}, []string{"run", "--prompt-file", "a.B", "--set", "limits.idle=1s"}},
		"other verbs are":                         {[]string{"steer", "--limits.idle", "5m"}, []string{"steer", "--limits.idle", "5m"}},
		"and what follows two dashes":             {[]string{"run", "--limits.idle=1s", "--", "--limits.cost=1"}, []string{"run", "--set", "limits.idle=1s", "--", "--limits.cost=1"}},
		"other names of the same": {
			[]string{"start", "--max-iterations", "9", "--completion-promise=OK", "--min-tool-calls", "2", "--on-promise-no-work=warn", "--reflect-every", "5"},
			[]string{"start", "--maximum-iterations", "9", "--promise=OK", "--set", "completion.minToolCalls=2", "--set", "completion.onPromiseNoWork=warn", "--set", "reflect.every=5"},
		},
		"a worktree with a branch":          {[]string{"start", "x", "--worktree", "topic"}, []string{"start", "x", "--worktree", "topic"}},
		"one without, at the end":           {[]string{"start", "x", "--worktree"}, []string{"start", "x", "--worktree="}},
		"one without, before a flag":        {[]string{"start", "--worktree", "-d"}, []string{"start", "--worktree=", "-d"}},
		"what is copied to a worktree":      {[]string{"start", "--worktree.copy", "deps/"}, []string{"start", "--set", "worktree.copy=deps/"}},
		"which are no flags of other verbs": {[]string{"list", "--max-iterations", "9"}, []string{"list", "--max-iterations", "9"}},
		"nothing is nothing":                {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := SettingFlags(row.args); !slices.Equal(got, row.want) {
				t.Errorf("reads %q, want %q", got, row.want)
			}
		})
	}
}

func TestEverySettingIsFlag(t *testing.T) {
	for _, key := range config.Keys() {
		if key.Env == "" || slices.Contains([]string{"agent", "allowSharedWorktree", "sandbox", "worktree"}, key.Name) {
			continue // keys in a list have no flag, those of agents one for each name; these are flags of the verbs
		}
		if !namesSetting("--" + key.Name) {
			t.Errorf("--%s is no flag", key.Name)
		}
	}
	for _, name := range plainSettings {
		if _, ok := config.Text(config.Defaults(), name); !ok {
			t.Errorf("%s is no setting", name)
		}
	}
}
