package reporting

import (
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/report"
)

// all reports the loops of this machine.
func all(e *cli.Env, o Options) error {
	since, err := moment(o.Since, e.Now())
	if err != nil {
		return err
	}
	loops, err := listing.Find(e, listing.Options{All: true})
	if err != nil {
		return err
	}
	view := &report.Overview{Since: since, At: e.Now(), Loops: []report.Line{}, Days: []report.Day{}}
	done := e.Busy("reading " + units.Quantity(len(loops), "loop"))
	for _, v := range loops {
		add(view, v)
	}
	done()
	view.Sort()
	return write(e, o, "ralph-all", func(w io.Writer) error {
		switch {
		case o.JSON:
			return cli.PrintJSON(w, view, "  ")
		case o.Markdown:
			return report.OverviewMarkdown(w, view, time.Local)
		}
		return report.OverviewHTML(w, view, time.Local)
	})
}

// add adds one loop, if it did anything since then.
func add(o *report.Overview, v *projector.View) {
	at := v.At
	if began := v.Found.Started; at.Before(began) {
		at = began
	}
	if at.Before(o.Since) && !v.Alive {
		if o.Older++; v.Group == projector.NeedsYou {
			o.OlderNeed++
		}
		return
	}
	l := report.Line{
		Name: v.Call, Project: render.Clean(v.Project), Group: string(v.Group), Started: v.Found.Started, At: at,
		Report: "ralph report " + v.Call, Problem: v.Error,
	}
	if v.Gone {
		l.Group, l.Report, l.Sentence = "gone", "", "Its folder is gone, and its journal with it."
		l.Used.USDAtLeast, l.Used.TokensAtLeast = true, true
		l.Total, o.Used.USDAtLeast, o.Used.TokensAtLeast = l.Used, true, true
		o.Loops = append(o.Loops, l)
		return
	}
	r, err := report.Read(v.Dir, report.Options{Since: o.Since})
	if err != nil {
		l.Group, l.Problem = "damaged", render.Clean(err.Error())
	}
	r.Judge(report.Facts{Name: v.Call, Alive: v.Alive, Now: o.At, Said: saidBy(v.Summary)})
	switch {
	case r.Damage != "":
		l.Group = "damaged"
	case err == nil && v.Alive: // the state file may be older than the journal
		now := v.Found
		now.Head.Status, now.Head.Waiting = r.Status, r.Waiting
		l.Group = string(projector.Brief(now).Group)
	}
	o.Add(l, r)
}

// saidBy is the status of a loop as its state file has it; empty if that cannot be read.
func saidBy(h registry.Summary) string {
	if h.Status == "" || h.Status == event.StatusUnknown {
		return ""
	}
	said := string(h.Status)
	if h.Reason != "" {
		said += " (" + h.Reason + ")"
	}
	return render.Clean(said)
}

// moment reads a time as people write it. Without one it is the beginning of yesterday.
func moment(text string, now time.Time) (time.Time, error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "", "yesterday":
		return today.AddDate(0, 0, -1), nil
	case "today":
		return today, nil
	}
	at, ok := units.ParseTime(text, now)
	if !ok {
		return at, cli.Refuse("write it as yesterday, today, 2026-11-21, 01:30, 12h or 7d", "%q is no time", text)
	}
	return at, nil
}
