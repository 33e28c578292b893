package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/trust"
	"github.com/ralph-loop/ralph/render"
)

type trustVerb struct {
	placed
	Yes    bool `short:"y" help:"Trust them without being asked."`
	Revoke bool `help:"Trust them no more."`
	List   bool `help:"List the projects whose settings are trusted."`
	JSON   bool `help:"Say it as JSON; nothing is trusted without --yes."`
}

// Run shows what the settings of this project would run, and asks whether they are trusted.
func (v *trustVerb) Run(e *env) error {
	switch {
	case v.List && (v.Yes || v.Revoke), v.Yes && v.Revoke:
		return refuse("give one of them", "--yes, --revoke and --list do not go together")
	case v.List:
		return v.list(e)
	case e.variable(loopDirVariable) != "":
		return refuse("do it in a terminal of your own", "what a project's settings may run is not for its agent to say")
	case v.Revoke:
		return v.revoke(e)
	}
	loaded, err := config.Load(config.Source{HomeDir: e.home, ProjectDir: e.root()})
	if err != nil {
		return err
	}
	c := e.confidence(loaded)
	if c.err != nil {
		tell(e.stderr, "%v", c.err)
	}
	given, err := v.ask(e, c)
	if err != nil {
		return err
	}
	if given {
		if err := c.give(e); err != nil {
			return err
		}
		c = e.confidence(loaded)
	}
	if v.JSON {
		return printJSON(e.stdout, c.report(e), "")
	}
	switch c.standing() {
	case trustNeedless:
		tell(e.stderr, "the settings of this project set nothing that needs trust")
	case trustGiven:
		fmt.Fprintf(e.stdout, "the settings of %s are trusted\n", render.Clean(e.root()))
	default:
		tell(e.stderr, "nothing is trusted")
	}
	return nil
}

// ask reports whether a person says yes to what stands there now.
func (v *trustVerb) ask(e *env, c confidence) (bool, error) {
	switch c.standing() {
	case trustNeedless:
		return false, nil
	case trustGiven:
		if !v.JSON {
			v.show(e, c)
		}
		return false, nil
	}
	switch {
	case v.Yes && v.JSON:
		return true, nil
	case v.Yes:
		v.show(e, c)
		return true, nil
	case v.JSON:
		return false, nil
	}
	return e.consents(c.about(), c.lines(c.parts), "'ralph trust --yes' trusts them")
}

func (v *trustVerb) show(e *env, c confidence) {
	tell(e.stderr, "%s:\n%s", c.about(), strings.Join(c.lines(c.parts), "\n"))
}

func (v *trustVerb) revoke(e *env) error {
	err := trust.Remove(e.home, e.root())
	if errors.Is(err, trust.ErrNotTrusted) {
		tell(e.stderr, "the settings of this project were not trusted")
		return nil
	}
	if err == nil {
		fmt.Fprintf(e.stdout, "the settings of %s are trusted no more\n", render.Clean(e.root()))
	}
	return err
}

// trustReport is what is said as JSON.
type trustReport struct {
	Project  string      `json:"project"`
	Standing string      `json:"standing"` // needless, trusted, untrusted or changed
	Since    *time.Time  `json:"since,omitempty"`
	Parts    []trustPart `json:"parts"`
}

type trustPart struct {
	Key   string `json:"key"`
	Value string `json:"value"` // secrets masked
	From  string `json:"from"`
	Own   string `json:"own,omitempty"` // the person's own value, in whose place it stands
}

func (c confidence) report(e *env) trustReport {
	r := trustReport{Project: e.root(), Standing: c.standing(), Parts: []trustPart{}}
	if r.Standing == trustGiven {
		r.Since = &c.record.At
	}
	for _, p := range c.parts {
		part := trustPart{Key: p.Key, Value: c.shown(p.Key, p.Value), From: p.Origin.String()}
		if p.Own != "" {
			part.Own = c.shown(p.Key, p.Own)
		}
		r.Parts = append(r.Parts, part)
	}
	return r
}

// list prints the projects that are trusted, as they were then.
func (v *trustVerb) list(e *env) error {
	records, bad := trust.List(e.home)
	for _, err := range bad {
		tell(e.stderr, "%v", err)
	}
	if v.JSON {
		if records == nil {
			records = []trust.Record{}
		}
		return printJSON(e.stdout, records, "")
	}
	if len(records) == 0 {
		tell(e.stderr, "no project's settings are trusted")
	}
	for _, r := range records {
		gone := ""
		if _, err := os.Stat(r.Project); errors.Is(err, fs.ErrNotExist) {
			gone = "  (it is gone)"
		}
		fmt.Fprintf(e.stdout, "%s  %s%s\n", r.At.Local().Format("2006-01-02 15:04"), render.Clean(r.Project), gone)
	}
	return nil
}
