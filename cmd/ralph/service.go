//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/service"
)

type serviceVerb struct {
	Install   serviceInstallVerb   `cmd:"" help:"Let loops that run when the machine is switched off continue after the next login."`
	Uninstall serviceUninstallVerb `cmd:"" help:"Remove the service; running loops continue."`
	Status    serviceStatusVerb    `cmd:"" help:"Show whether it is installed, and which loops a resume would continue."`
	Resume    serviceResumeVerb    `cmd:"" help:"Continue the loops whose runner died; the service calls this."`
}

type serviceInstallVerb struct {
	Force bool `help:"Replace a file that was changed by hand."`
}

// Help shows examples.
func (serviceInstallVerb) Help() string { return cli.Examples("ralph service install") }

// Run writes a unit of systemd, or an agent of launchd, and enables it.
func (v *serviceInstallVerb) Run(e *cli.Env) error { return service.Install(e, v.Force) }

type serviceUninstallVerb struct {
	Force bool `help:"Remove a file that was changed by hand."`
}

// Help shows examples.
func (serviceUninstallVerb) Help() string { return cli.Examples("ralph service uninstall") }

// Run removes it.
func (v *serviceUninstallVerb) Run(e *cli.Env) error { return service.Uninstall(e, v.Force) }

type serviceStatusVerb struct {
	JSON bool `help:"Print JSON."`
}

// Help shows examples.
func (serviceStatusVerb) Help() string { return cli.Examples("ralph service status") }

// Run changes nothing.
func (v *serviceStatusVerb) Run(e *cli.Env) error { return service.Status(e, v.JSON) }

type serviceResumeVerb struct {
	DryRun bool `help:"Show what would be resumed, and resume nothing."`
	JSON   bool `help:"Print what became of each loop as JSON."`
}

// Help shows examples.
func (serviceResumeVerb) Help() string { return cli.Examples("ralph service resume --dry-run") }

// Run resumes one loop after another. It leaves paused and stopped ones alone.
func (v *serviceResumeVerb) Run(e *cli.Env) error { return service.Resume(e, v.DryRun, v.JSON) }
