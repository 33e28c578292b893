package reporting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
	"github.com/ralph-loop/ralph/render/report"
)

// Options say what is reported, and how.
type Options struct {
	Name       string // of the loop, or the path of a copy of its folder
	Iterations string // that a page shows in full
	All        bool   // all loops of this machine
	Since      string
	Markdown   bool
	JUnit      bool // XML for CI systems
	JSON       bool
	Provenance bool   // a statement of where the result comes from
	Output     string // a file; - is stdout; empty is stdout, or on a terminal a page in a new file
	Force      bool   // Output may exist
	// List returns what there is to read of a loop, whose repository a front end does not read.
	List func(context.Context, registry.Status) (reading.List, error)
}

// Report writes a report.
func Report(e *cli.Env, o Options) error {
	switch {
	case o.Markdown && o.JSON:
		return cli.Refuse("leave one of them out", "--markdown and --json are two forms")
	case o.JUnit && (o.Markdown || o.JSON):
		return cli.Refuse("leave one of them out", "--junit and --markdown or --json are different forms")
	case o.Provenance && (o.Markdown || o.JUnit || o.JSON):
		return cli.Refuse("leave one of them out", "--provenance and --markdown, --junit or --json are different forms")
	case o.Provenance && (o.All || o.Iterations != ""):
		return cli.Refuse("name one loop, and leave -i out", "--provenance is about one loop, with every iteration")
	case o.JUnit && o.All:
		return cli.Refuse("name one loop", "--junit is about one loop")
	case o.JUnit && o.Iterations != "":
		return cli.Refuse("leave -i out", "--junit has every iteration")
	case o.All && o.Name != "":
		return cli.Refuse("leave the name out, or --all", "--all is about all loops")
	case o.All && o.Iterations != "":
		return cli.Refuse("name one loop", "-i is about one loop")
	case !o.All && o.Since != "":
		return cli.Refuse("add --all; one loop is always reported from its beginning", "--since is about all loops")
	case o.Force && (o.Output == "" || o.Output == "-"):
		return cli.Refuse("add -o FILE", "--force is about a file")
	case o.All:
		return all(e, o)
	}
	return one(e, o)
}

// one reports one loop.
func one(e *cli.Env, o Options) error {
	spans, err := filter.Iterations(o.Iterations)
	if err != nil {
		return err
	}
	var full func(n int) bool
	if o.Iterations != "" {
		full = spans.Contains
	}
	dir, facts, err := find(e, o)
	if err != nil {
		return err
	}
	done := e.Busy("reading loop " + facts.Name)
	r, err := report.Read(dir, report.Options{})
	done()
	if err != nil {
		return err
	}
	r.Judge(facts)
	if r.Last == 0 {
		return cli.Refuse("'ralph list' shows the loops", "%s has no journal: it never began, or its files are gone", facts.Name)
	}
	if o.Provenance {
		return provenance(e, o, r, dir)
	}
	return write(e, o, "ralph-"+r.Name, func(w io.Writer) error {
		switch {
		case o.JSON:
			return cli.PrintJSON(w, r, "  ")
		case o.JUnit:
			return report.JUnit(w, r)
		case o.Markdown:
			return report.Markdown(w, r, time.Local)
		}
		if o.Output != "-" { // else the page may be on this terminal
			defer e.Busy("writing the page of loop " + facts.Name)()
		}
		return report.HTML(w, r, dir, report.PageOptions{Full: full, Name: facts.Name})
	})
}

// provenance writes the statement of a loop.
func provenance(e *cli.Env, o Options, r *report.Report, dir string) error {
	statement, err := r.Statement(dir)
	if errors.Is(err, report.ErrNoSubject) {
		return cli.Refuse("a loop in a git repository has one once an iteration was checked, with snapshots.keep or a commit", "loop %s: %w", r.Name, err)
	}
	if err != nil {
		return fmt.Errorf("state where the result of loop %s comes from: %w", r.Name, err)
	}
	return write(e, o, "", func(w io.Writer) error { return cli.PrintJSON(w, statement, "  ") })
}

// find returns the folder of a loop, and what is known of it besides its journal.
func find(e *cli.Env, o Options) (dir string, f report.Facts, err error) {
	s, err := e.Find(o.Name)
	if err == nil {
		f = report.Facts{Name: e.NameToType(s), Alive: s.Live.Alive, Now: e.Now(), Said: saidBy(s.Head)}
		list, err := o.List(context.Background(), s)
		if err != nil {
			list = reading.New(f.Name, nil, nil, err.Error())
		}
		f.Reading = &list
		return s.Dir, f, nil
	}
	path := e.Abs(o.Name)
	if info, statErr := os.Stat(filepath.Join(path, "journal")); o.Name == "" || statErr != nil || !info.IsDir() {
		return "", f, err
	}
	f = report.Facts{Name: cli.AsTyped([]string{o.Name}), Copy: true, Now: e.Now()}
	if loop, err := projector.Load(path); err == nil {
		view := loop.View()
		list := reading.New(f.Name, view.Support(), nil, "this is a copy of the loop's folder, without its repository")
		f.Reading = &list
	}
	return path, f, nil
}
