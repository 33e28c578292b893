//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/plugininstall"
)

type pluginVerb struct {
	Install   pluginInstallVerb   `cmd:"" help:"Install the plugin in an agent, or update it: skills, commands and hooks."`
	Uninstall pluginUninstallVerb `cmd:"" help:"Take the plugin out of an agent."`
	Show      pluginShowVerb      `cmd:"" help:"Show where the plugin is installed."`
}

type pluginPlace struct {
	Agent   string `arg:"" enum:"claude,codex,pi" help:"The agent: claude, codex or pi."`
	Project bool   `help:"Only for the project of this folder, in the agent's settings there."`
	Yes     bool   `short:"y" help:"Do what is shown without a question."`
}

func (p pluginPlace) request() plugininstall.Request {
	return plugininstall.Request{Agent: p.Agent, Project: p.Project, Yes: p.Yes}
}

type pluginInstallVerb struct{ pluginPlace }

// Help shows examples.
func (pluginInstallVerb) Help() string {
	return cli.Examples("ralph plugin install claude", "ralph plugin install claude --project", "ralph plugin install codex --yes", "ralph plugin install pi")
}

// Run shows what it will write and run, asks, and does it.
func (v *pluginInstallVerb) Run(e *cli.Env) error { return v.request().Install(e) }

type pluginUninstallVerb struct{ pluginPlace }

// Help shows examples.
func (pluginUninstallVerb) Help() string { return cli.Examples("ralph plugin uninstall claude") }

// Run shows what it will remove and run, asks, and does it.
func (v *pluginUninstallVerb) Run(e *cli.Env) error { return v.request().Uninstall(e) }

type pluginShowVerb struct {
	JSON bool `help:"Print JSON."`
}

// Help shows examples.
func (pluginShowVerb) Help() string { return cli.Examples("ralph plugin show") }

// Run asks the agents.
func (v *pluginShowVerb) Run(e *cli.Env) error { return plugininstall.Show(e, v.JSON) }
