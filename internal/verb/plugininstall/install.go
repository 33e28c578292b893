package plugininstall

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/render"
)

const (
	scopeUser    = "user"
	scopeProject = "project"
)

// A Request is one call to install the plugin or to take it out.
type Request struct {
	Agent   string // claude, codex or pi
	Project bool   // for the project only; otherwise for all of the person's
	Yes     bool   // a person has agreed
}

// work is what one request has to do, and for what.
type work struct {
	agent
	e         *cli.Env
	scope     string
	folder    folder
	version   string
	installed []Installed
	source    string // of the agent's marketplace of this name

	write, remove []string   // files in the folder
	removesFolder bool       // once the commands have run
	commands      [][]string // arguments of the agent's program, in order
}

// prepare reads what is there.
func (r Request) prepare(e *cli.Env) (*work, error) {
	a, err := choose(r.Agent)
	switch {
	case err != nil:
		return nil, err
	case r.Project && !a.perProject:
		return nil, cli.Refuse("leave out --project: the hooks act only in sessions that ralph holds or runs",
			"%s installs plugins for all projects of a person", a.title)
	case !a.present():
		return nil, cli.Refuse("install "+a.title+" first", "%s is not on PATH", a.name)
	}
	w := &work{agent: a, e: e, scope: scopeUser}
	if r.Project {
		w.scope = scopeProject
	}
	w.folder.path = folderOf(e, a)
	if w.folder.files, w.version, err = a.content(); err != nil {
		return nil, err
	}
	if w.installed, err = a.installed(e); err != nil {
		return nil, err
	}
	w.source, err = a.source(e)
	return w, err
}

func folderOf(e *cli.Env, a agent) string {
	return filepath.Join(cli.WithoutLinks(e.Home), "plugins", a.name)
}

// here returns the installation that the request is about.
func (w *work) here() int {
	return slices.IndexFunc(w.installed, func(i Installed) bool {
		return i.Scope == w.scope && (w.scope == scopeUser || cli.WithoutLinks(i.Project) == cli.WithoutLinks(w.e.Root()))
	})
}

// Install installs the plugin, or brings it up to date.
func (r Request) Install(e *cli.Env) error {
	w, err := r.prepare(e)
	if err != nil {
		return err
	}
	if w.source != "" && !w.hasMarketplaces() {
		return cli.Refuse(fmt.Sprintf("'%s' removes it, if you want this one instead", render.Clean(cli.AsTyped([]string{w.name, "remove", w.source}))),
			"%s loads ralph's extension from %s already, which stays as it is", w.title, render.Clean(w.source))
	}
	if w.source != "" && !w.ownSource() {
		return cli.Refuse(fmt.Sprintf("'%s plugin marketplace remove %s' removes it, if you want this one instead", w.name, marketplace),
			"%s has a marketplace %s from %s already, which stays as it is", w.title, marketplace, render.Clean(w.source))
	}
	if w.write, w.remove, err = w.folder.difference(); err != nil {
		return err
	}
	if w.source == "" && w.hasMarketplaces() {
		w.commands = append(w.commands, []string{"plugin", "marketplace", "add", w.folder.path})
	}
	if at := w.here(); at < 0 || w.installed[at].Version != w.version && !w.readsInPlace(w.installed[at]) {
		w.commands = append(w.commands, w.installs(w))
	}
	w.warn()
	if w.idle() {
		_, err := fmt.Fprintf(e.Stdout, "the plugin is installed in %s already (%s)\n", w.title, w.where())
		return err
	}
	if agreed, err := w.confirm(r.Yes, "install the plugin in "); err != nil || !agreed {
		return err
	}
	if err := w.folder.update(w.write, w.remove); err != nil {
		return err
	}
	if err := w.runAll(); err != nil {
		return err
	}
	cli.Tell(e.Stderr, "%s", w.afterwards)
	_, err = fmt.Fprintf(e.Stdout, "the plugin is installed in %s (%s)\n", w.title, w.where())
	return err
}

// Uninstall takes the plugin out of the agent.
func (r Request) Uninstall(e *cli.Env) error {
	w, err := r.prepare(e)
	if err != nil {
		return err
	}
	others := slices.Clone(w.installed)
	if at := w.here(); at >= 0 {
		others = slices.Delete(others, at, at+1)
		w.commands = append(w.commands, w.uninstalls(w))
	}
	others = slices.DeleteFunc(others, func(i Installed) bool { return i.Scope != scopeUser && vanished(i.Project) })
	if len(others) == 0 {
		if w.ownSource() {
			w.commands = append(w.commands, []string{"plugin", "marketplace", "remove", marketplace})
		}
		if w.remove, err = w.folder.found(); err != nil {
			return err
		}
		w.removesFolder = len(w.remove) > 0
	}
	if w.idle() {
		_, err := fmt.Fprintf(e.Stdout, "the plugin is not installed in %s (%s)\n", w.title, w.where())
		w.sayOthers(others)
		return err
	}
	if agreed, err := w.confirm(r.Yes, "uninstall the plugin from "); err != nil || !agreed {
		return err
	}
	if err := w.runAll(); err != nil {
		return err
	}
	if w.removesFolder {
		if err := os.RemoveAll(w.folder.path); err != nil {
			return fmt.Errorf("remove the folder of the plugin: %w", err)
		}
	}
	_, err = fmt.Fprintf(e.Stdout, "the plugin is uninstalled from %s (%s)\n", w.title, w.where())
	w.sayOthers(others)
	return err
}

// vanished reports whether a project is there no more: the plugin cannot be taken out of it.
func vanished(project string) bool {
	_, err := os.Stat(project)
	return project != "" && errors.Is(err, fs.ErrNotExist)
}

func (w *work) idle() bool { return len(w.write)+len(w.remove)+len(w.commands) == 0 }

// ownSource reports whether the agent's marketplace is the folder that this ralph writes.
func (w *work) ownSource() bool { return cli.WithoutLinks(w.source) == w.folder.path }

// readsInPlace reports whether the agent reads the folder itself, and needs no command for new
// files.
func (w *work) readsInPlace(i Installed) bool {
	return cli.Within(w.folder.path, cli.WithoutLinks(i.From)) && w.perProject
}

func (w *work) where() string {
	if w.scope == scopeProject {
		return "for the project " + render.Clean(w.e.Short(w.e.Root()))
	}
	return "for all projects"
}

// warn names what will not work, or work twice.
func (w *work) warn() {
	if _, err := exec.LookPath("ralph"); err != nil {
		cli.Tell(w.e.Stderr, "ralph is not on PATH; the hooks and skills of the plugin call it there")
	}
	for _, path := range w.hookPaths() {
		if text, err := safefile.ReadLinked(path, mostFile); err == nil && strings.Contains(string(text), "ralph hook ") {
			cli.Tell(w.e.Stderr, "%s calls 'ralph hook' too: take those lines out, or each hook runs twice", w.e.Short(path))
		}
	}
}

func (w *work) hookPaths() (paths []string) {
	for _, name := range w.hookFiles {
		paths = append(paths, filepath.Join(w.config(w.e), name))
	}
	for _, name := range w.projectHookFiles {
		paths = append(paths, filepath.Join(w.e.Root(), name))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// confirm shows what will be done, and asks.
func (w *work) confirm(yes bool, doing string) (bool, error) {
	about := "to " + doing + w.title + " (" + w.where() + "), ralph will"
	if yes {
		cli.Tell(w.e.Stderr, "%s:\n%s", about, strings.Join(w.lines(), "\n"))
		return true, nil
	}
	agreed, err := w.e.ConfirmAll(about, w.lines(), "Do it?", "without a terminal ralph cannot ask; the same with --yes does it")
	if err == nil && !agreed {
		cli.Tell(w.e.Stderr, "nothing is changed")
	}
	return agreed, err
}

// lines are what will be written, removed and run.
func (w *work) lines() (lines []string) {
	for _, name := range w.write {
		lines = append(lines, "write  "+w.e.Short(filepath.Join(w.folder.path, name)))
	}
	for _, args := range w.commands {
		lines = append(lines, "run    "+cli.AsTyped(append([]string{w.name}, args...)))
	}
	if len(w.commands) > 0 {
		about := pluginID
		if !w.hasMarketplaces() {
			about = "this folder"
		}
		lines = append(lines, "       (it changes only its own entries for "+about+" in "+w.settingsOf()+")")
	}
	for _, name := range w.remove {
		lines = append(lines, "remove "+w.e.Short(filepath.Join(w.folder.path, name)))
	}
	return lines
}

// settingsOf names the files that the agent's program changes.
func (w *work) settingsOf() string {
	config := w.e.Short(w.config(w.e))
	switch {
	case w.scope == scopeProject && w.hasMarketplaces():
		return filepath.Join(w.e.Short(w.e.Root()), w.projectSettings) + " and " + config
	case w.scope == scopeProject:
		return filepath.Join(w.e.Short(w.e.Root()), w.projectSettings)
	default:
		return config
	}
}

func (w *work) runAll() error {
	for _, args := range w.commands {
		if _, err := w.run(w.e, args...); err != nil {
			return err
		}
	}
	return nil
}

// sayOthers names the installations that stay.
func (w *work) sayOthers(others []Installed) {
	for _, other := range others {
		flag, where := "", "for all projects"
		if other.Scope != scopeUser {
			flag, where = " --project", "for the project "+other.Project
		}
		cli.Tell(w.e.Stderr, "it stays installed %s: 'ralph plugin uninstall %s%s' takes it out there", where, w.name, flag)
	}
}
