package plugininstall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/plugin"
)

const (
	marketplace = "ralph-loop"
	pluginID    = "ralph@" + marketplace

	answerWithin = time.Minute // of an agent's program; its first start may be slow
	mostAnswer   = 1 << 20     // bytes of what it prints
	mostSaid     = 4 << 10     // bytes of its error
)

// An Installed is one installation of the plugin, as the agent reports it.
type Installed struct {
	Scope   string `json:"scope"`             // user, project or local
	Project string `json:"project,omitempty"` // of the scopes project and local
	Version string `json:"version"`
	Enabled bool   `json:"enabled"`
	From    string `json:"from"` // the folder that it is read or was copied from
}

// An agent is a program that loads plugins.
type agent struct {
	name  string
	title string

	configVariable, configFolder string   // where its settings are: the variable, or else the folder in HOME
	hookFiles                    []string // that may call ralph's hooks already, in that folder
	projectHookFiles             []string // the same in a project
	perProject                   bool     // it can install a plugin for one project
	projectSettings              string   // where it writes that, in the project
	manifest                     string   // of the plugin, in the folder that ralph writes
	portableHidesHooks           bool     // if the manifest of the standard is there, it reads no hooks
	afterwards                   string   // what the person has to do next

	plugin     func() fs.FS
	installs   func(w *work) []string // the arguments of its program
	uninstalls func(w *work) []string

	// An agent with marketplaces lists them and its plugins as JSON. One without is asked by scan.
	listed  func(text []byte) ([]Installed, error)
	sources func(text []byte) (place string, err error) // of the marketplace; empty if there is none
	scan    func(a agent, e *cli.Env, folder string) (all []Installed, elsewhere string, err error)
}

func (a agent) hasMarketplaces() bool { return a.scan == nil }

var agents = []agent{
	{
		name: "claude", title: "Claude Code", configVariable: "CLAUDE_CONFIG_DIR", configFolder: ".claude",
		hookFiles: []string{"settings.json"}, projectHookFiles: []string{".claude/settings.json", ".claude/settings.local.json"},
		perProject: true, projectSettings: ".claude/settings.json", manifest: pluginFolder + "/.claude-plugin/plugin.json",
		plugin:     plugin.Files,
		installs:   func(w *work) []string { return []string{"plugin", "install", pluginID, "--scope", w.scope} },
		uninstalls: func(w *work) []string { return []string{"plugin", "uninstall", pluginID, "--scope", w.scope} },
		afterwards: "start a new session, or type /reload-plugins; then /ralph-loop TASK holds a session until its task is done",
		listed:     claudeList, sources: claudeSource,
	},
	{
		name: "codex", title: "Codex", configVariable: "CODEX_HOME", configFolder: ".codex",
		hookFiles: []string{"hooks.json"}, projectHookFiles: []string{".codex/hooks.json"},
		manifest: pluginFolder + "/.codex-plugin/plugin.json", portableHidesHooks: true,
		plugin:     plugin.Files,
		installs:   func(*work) []string { return []string{"plugin", "add", pluginID} },
		uninstalls: func(*work) []string { return []string{"plugin", "remove", pluginID} },
		afterwards: "start a new session and type /hooks: trust the hooks there, since nothing holds a session without them; " +
			"then $ralph:ralph-loop TASK holds a session until its task is done",
		listed: codexList, sources: codexSource,
	},
	{
		name: "pi", title: "pi", configVariable: "PI_CODING_AGENT_DIR", configFolder: ".pi/agent",
		perProject: true, projectSettings: ".pi/settings.json", manifest: "package.json",
		afterwards: "start a new session, or type /reload; then /ralph start NAME -p TASK starts a loop and shows it",
		plugin:     plugin.Pi,
		installs:   func(w *work) []string { return piArguments("install", w) },
		uninstalls: func(w *work) []string { return piArguments("remove", w) },
		scan:       piScan,
	},
}

// choose returns the agent of a name.
func choose(name string) (agent, error) {
	for _, a := range agents {
		if a.name == name {
			return a, nil
		}
	}
	return agent{}, cli.Refuse("'ralph plugin show' lists them", "no agent %q that ralph has a plugin for", name)
}

// config is the folder of the agent's settings.
func (a agent) config(e *cli.Env) string {
	if folder := e.Variable(a.configVariable); folder != "" {
		return e.Abs(folder)
	}
	return filepath.Join(e.Variable("HOME"), a.configFolder)
}

// present reports whether the agent's program is on PATH.
func (a agent) present() bool {
	_, err := exec.LookPath(a.name)
	return err == nil
}

// installed returns where the plugin is installed.
func (a agent) installed(e *cli.Env) ([]Installed, error) {
	if !a.hasMarketplaces() {
		all, _, err := a.scan(a, e, folderOf(e, a))
		return all, err
	}
	text, err := a.run(e, "plugin", "list", "--json")
	if a.lost(e, err) {
		return []Installed{{Scope: scopeUser, Enabled: true, From: folderOf(e, a)}}, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := a.listed(text)
	return all, a.unexpected(err)
}

// source returns where its marketplace of ralph's name is, or a plugin of ralph's name that is not
// in the folder; empty if it has none.
func (a agent) source(e *cli.Env) (string, error) {
	if !a.hasMarketplaces() {
		_, elsewhere, err := a.scan(a, e, folderOf(e, a))
		return elsewhere, err
	}
	text, err := a.run(e, "plugin", "marketplace", "list", "--json")
	if a.lost(e, err) {
		return folderOf(e, a), nil
	}
	if err != nil {
		return "", err
	}
	place, err := a.sources(text)
	return place, a.unexpected(err)
}

// elsewhere returns the source if it is not ralph's folder.
func (a agent) elsewhere(e *cli.Env) (string, error) {
	place, err := a.source(e)
	if cli.WithoutLinks(place) == folderOf(e, a) {
		place = ""
	}
	return place, err
}

// lost reports whether an agent lists nothing because its settings name ralph's folder and the
// files there are gone, as Codex 0.169.0 does. It still adds and removes what is in its settings.
func (a agent) lost(e *cli.Env, err error) bool {
	if err == nil || !strings.Contains(err.Error(), folderOf(e, a)) {
		return false
	}
	files, _, err := a.content()
	if err != nil {
		return false
	}
	write, _, err := folder{path: folderOf(e, a), files: files}.difference()
	return err == nil && len(write) > 0
}

func (a agent) unexpected(err error) error {
	if err == nil {
		return nil
	}
	return cli.Failed("update "+a.title, "%s's answer is not what ralph expects: %w", a.name, err)
}

// run runs the agent's program, and returns what it prints.
func (a agent) run(e *cli.Env, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), answerWithin, fmt.Errorf("no answer after %s", answerWithin))
	defer cancel()
	out, said := process.Head{Max: mostAnswer, Fail: true}, process.Tail{Max: mostSaid}
	exit, err := process.Run(ctx, process.Command{
		Argv: append([]string{a.name}, args...), Dir: e.Root(), Env: e.Environ, Stdout: &out, Stderr: &said, Session: true, LeaveStrays: true,
	})
	if err == nil {
		err = exit.Failure()
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, cli.Refuse("install "+a.title+" first", "%s is not on PATH", a.name)
	case err != nil:
		return nil, cli.Failed("mend what it names; then run ralph again: it goes on where it was",
			"%s: %w\n%s", cli.AsTyped(append([]string{a.name}, args...)), err, cli.Clean(strings.TrimSpace(said.String())))
	}
	return out.Bytes(), nil
}

func claudeList(text []byte) (all []Installed, err error) {
	var entries []struct {
		ID, Scope, Version, FolderVersion, ProjectPath, ReadFromFolder, InstallPath string
		Enabled                                                                     bool
	}
	err = json.Unmarshal(text, &entries)
	for _, entry := range entries {
		if entry.ID != pluginID {
			continue
		}
		i := Installed{Scope: entry.Scope, Project: entry.ProjectPath, Version: entry.Version, Enabled: entry.Enabled, From: entry.ReadFromFolder}
		if entry.FolderVersion != "" {
			i.Version = entry.FolderVersion
		}
		if i.From == "" {
			i.From = entry.InstallPath
		}
		all = append(all, i)
	}
	return all, err
}

func claudeSource(text []byte) (string, error) {
	var entries []struct{ Name, Source, Path, Repo, URL, InstallLocation string }
	err := json.Unmarshal(text, &entries)
	for _, entry := range entries {
		if entry.Name == marketplace {
			return firstOf(entry.Path, entry.Repo, entry.URL, entry.InstallLocation, entry.Source), err
		}
	}
	return "", err
}

func codexList(text []byte) (all []Installed, err error) {
	var list struct {
		Installed []struct {
			PluginID, Version  string
			Installed, Enabled bool
			Source             struct{ Path string }
		}
	}
	err = json.Unmarshal(text, &list)
	for _, entry := range list.Installed {
		if entry.PluginID == pluginID && entry.Installed {
			all = append(all, Installed{Scope: scopeUser, Version: entry.Version, Enabled: entry.Enabled, From: entry.Source.Path})
		}
	}
	return all, err
}

func codexSource(text []byte) (string, error) {
	var list struct {
		Marketplaces []struct {
			Name, Root        string
			MarketplaceSource struct{ Source string }
		}
	}
	err := json.Unmarshal(text, &list)
	for _, entry := range list.Marketplaces {
		if entry.Name == marketplace {
			return firstOf(entry.MarketplaceSource.Source, entry.Root), err
		}
	}
	return "", err
}

// firstOf returns the first text that is not empty.
func firstOf(all ...string) string {
	for _, text := range all {
		if text != "" {
			return text
		}
	}
	return "elsewhere"
}
