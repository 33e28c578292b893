package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Install writes the unit and enables it. It replaces a file that a person changed only with force.
func Install(e *cli.Env, force bool) error {
	u, err := unitOf(e)
	if err == nil {
		err = u.Write(e, force)
	}
	if err != nil {
		return err
	}
	if err := u.enable(); err != nil {
		return fmt.Errorf("enable the service: %w", err)
	}
	fmt.Fprintln(e.Stdout, cli.Clean(e.Short(u.Path)))
	cli.Tell(e.Stderr, "loops that run when the machine is switched off continue after your next login")
	if Platform == "linux" && !Lingers(e) {
		cli.Tell(e.Stderr, "hint: 'loginctl enable-linger' lets them continue at boot, and lets loops live on when you log out")
	}
	cli.Tell(e.Stderr, "hint: keys of agents that are not logged in go into %s, as NAME=VALUE lines; give it the mode 0600",
		e.Short(EnvironmentFile(e)))
	return nil
}

// Write writes the file. It replaces one that a person changed only with force.
func (u Unit) Write(e *cli.Env, force bool) error {
	state, err := u.State()
	if err != nil {
		return err
	}
	if state == foreign && !force {
		return cli.Refuse("compare it with what ralph would write, or add --force", "%s was changed by hand", e.Short(u.Path))
	}
	if err := os.MkdirAll(filepath.Dir(u.Path), 0o755); err != nil {
		return fmt.Errorf("install the service: %w", err)
	}
	if err := safefile.WriteFile(u.Path, []byte(u.Text), 0o644); err != nil {
		return fmt.Errorf("install the service: %w", err)
	}
	return nil
}

// enable makes the link that 'systemctl --user enable' makes, which also works where no systemd of
// the person runs.
func (u Unit) enable() error {
	if u.link == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(u.link), 0o755); err != nil {
		return err
	}
	err := os.Symlink(u.Path, u.link)
	if errors.Is(err, fs.ErrExist) {
		if target, err := os.Readlink(u.link); err == nil && target == u.Path {
			return nil
		}
		return cli.Refuse("remove it", "%s is something else", u.link)
	}
	return err
}

// Removable refuses to remove a file that a person changed, without force.
func (u Unit) Removable(e *cli.Env, force bool) error {
	state, err := u.State()
	if err == nil && state == foreign && !force {
		err = cli.Refuse("remove it by hand, or add --force", "%s was changed by hand", e.Short(u.Path))
	}
	return err
}

// Remove disables the unit and removes its file, if there is one.
func (u Unit) Remove(e *cli.Env, force bool) error {
	if err := u.Removable(e, force); err != nil {
		return err
	}
	if target, err := os.Readlink(u.link); err == nil && target == u.Path {
		if err := os.Remove(u.link); err != nil {
			return fmt.Errorf("disable the service: %w", err)
		}
	}
	if err := os.Remove(u.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the service: %w", err)
	}
	return nil
}

// Uninstall removes the unit. Loops go on.
func Uninstall(e *cli.Env, force bool) error {
	u, err := unitOf(e)
	if err != nil {
		return err
	}
	if state, err := u.State(); err == nil && state == Absent {
		return cli.Refuse("'ralph service install' installs it", "the service is not installed")
	}
	if err = u.Remove(e, force); err == nil {
		cli.Tell(e.Stderr, "removed %s; loops that run go on", e.Short(u.Path))
	}
	return err
}

// A Report is the state of the service.
type Report struct {
	File    string `json:"file"`
	State   string `json:"state"` // absent, installed, outdated or changed
	Enabled bool   `json:"enabled"`
	// Lingers says that services of the person begin at boot; only systemd has that.
	Lingers bool     `json:"lingers"`
	Loops   []Result `json:"loops"` // those that a resume would continue, or leave alone
}

// Status reports the state of the service, and what a resume would do now.
func Status(e *cli.Env, asJSON bool) error {
	u, err := unitOf(e)
	if err != nil {
		return err
	}
	r := Report{File: u.Path, Lingers: Platform == "linux" && Lingers(e)}
	if r.State, err = u.State(); err != nil {
		return err
	}
	target, err := os.Readlink(u.link)
	r.Enabled = r.State != Absent && (u.link == "" || err == nil && target == u.Path)
	if r.Loops, err = find(e); err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, r, "")
	}
	fmt.Fprintf(e.Stdout, "file     %s\nstate    %s\nenabled  %s\n", cli.Clean(e.Short(r.File)), r.State, yes(r.Enabled))
	if Platform == "linux" {
		fmt.Fprintf(e.Stdout, "lingers  %s\n", yes(r.Lingers))
	}
	for _, l := range r.Loops {
		fmt.Fprintf(e.Stdout, "loop     %s\n", l.text(e, "would be resumed"))
	}
	return nil
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
