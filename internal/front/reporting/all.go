package reporting

import (
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
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
	call := e.NamesToType(loops)
	for _, s := range loops {
		add(view, s, call(s))
	}
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
func add(o *report.Overview, s registry.Status, name string) {
	group := listing.GroupOf(s)
	at := s.Head.At
	if at.Before(s.Started) {
		at = s.Started
	}
	if at.Before(o.Since) && !s.Live.Alive {
		if o.Older++; group == listing.NeedsYou {
			o.OlderNeed++
		}
		return
	}
	l := report.Line{Name: name, Project: render.Clean(s.Project), Group: group.String(), Started: s.Started, At: at, Report: "ralph report " + name}
	switch {
	case s.Gone:
		l.Group, l.Report, l.Sentence = "gone", "", "Its folder is gone, and its journal with it."
		l.Used.USDAtLeast, l.Used.TokensAtLeast = true, true
		l.Total, o.Used.USDAtLeast, o.Used.TokensAtLeast = l.Used, true, true
		o.Loops = append(o.Loops, l)
		return
	case s.Err != nil:
		l.Problem = render.Clean(s.Err.Error())
	}
	r, err := report.Read(s.Dir, report.Options{Since: o.Since})
	if err != nil {
		l.Group, l.Problem = "damaged", render.Clean(err.Error())
	}
	r.Judge(report.Facts{Name: name, Alive: s.Live.Alive, Now: o.At, Said: saidBy(s)})
	switch {
	case r.Damage != "":
		l.Group = "damaged"
	case err == nil && s.Live.Alive: // the state file may be older than the journal
		s.Head.Status, s.Head.Waiting = r.Status, r.Waiting
		l.Group = listing.GroupOf(s).String()
	}
	o.Add(l, r)
}

// saidBy is the status of a loop as its state file has it; empty if that cannot be read.
func saidBy(s registry.Status) string {
	if s.Head.Status == "" || s.Head.Status == event.StatusUnknown {
		return ""
	}
	said := string(s.Head.Status)
	if s.Head.Reason != "" {
		said += " (" + s.Head.Reason + ")"
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
