package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// ofAgent takes in what the agent used, and its problems.
func (f *Fold) ofAgent(e event.Event, p event.Payload) {
	switch p := p.(type) {
	case event.AgentUsed:
		f.used(e, p)
	case event.ToolCalled:
		f.toolCalled(p)
	case event.AgentFinished:
		if p.Error != "" {
			f.problem(e, p)
		}
	case event.AgentLimited, event.EffectFailed, event.FaultRaised, event.BreakerTripped:
		f.problem(e, p)
	}
}

// problem notes what went wrong in the open iteration.
func (f *Fold) problem(e event.Event, p event.Payload) {
	if f.open != nil && len(f.open.Problems) < problemsKept {
		f.open.Problems = append(f.open.Problems, Problem{e.Seq, line(f.words(p))})
	}
}

// words is the phrase of an event in one line.
func (f *Fold) words(p event.Payload) string {
	return phrase.Of(p, phrase.Known{Location: f.opt.Location}).Line()
}

// used counts what the agent used: for the iteration, and for the day.
func (f *Fold) used(e event.Event, p event.AgentUsed) {
	a := Amount{In: p.In, Out: p.Out, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, USD: p.USD, USDAtLeast: p.USD == nil && !p.Unpriced}
	f.unpriced, f.day = p.Unpriced, -1
	model := render.Clean(p.Model)
	if i := f.open; i != nil {
		i.Used.add(a)
		i.Context = max(i.Context, p.In+p.CacheRead+p.CacheWrite)
		if model != "" && len(i.Models) < 10 && !slices.Contains(i.Models, model) {
			i.Models = append(i.Models, model)
		}
	}
	if e.At.Before(f.opt.Since) {
		return
	}
	r := &f.report
	day := Day{Date: e.At.In(f.opt.Location).Format(time.DateOnly), Agent: cmp.Or(f.worker, f.agent), Model: model}
	i := slices.IndexFunc(r.Days, func(d Day) bool { return d.Date == day.Date && d.Agent == day.Agent && d.Model == day.Model })
	if i < 0 {
		if len(r.Days) >= daysKept {
			return
		}
		i = len(r.Days)
		r.Days = append(r.Days, day)
	}
	r.Days[i].Used.add(a)
	f.day = i
}

// unknownPrice ends the wait for a price that the last usage left open.
func (f *Fold) unknownPrice() {
	if !f.unpriced {
		return
	}
	f.unpriced = false
	if f.open != nil {
		f.open.Used.USDAtLeast = true
	}
	if f.day >= 0 {
		f.report.Days[f.day].Used.USDAtLeast = true
	}
}

func (f *Fold) toolCalled(p event.ToolCalled) {
	name := line(p.Name)
	if f.open != nil {
		f.open.Tools++
	}
	i, known := f.tools[name]
	if !known {
		if len(f.tools) >= toolsKept {
			return
		}
		i = len(f.report.Tools)
		f.tools[name] = i
		f.report.Tools = append(f.report.Tools, ToolUse{Name: name})
	}
	f.report.Tools[i].Times++
	if len(f.calls) >= callsKept {
		clear(f.calls)
		clear(f.edits)
	}
	if edits := transcript.Edits(p.Input); len(edits) > 0 {
		f.edits[p.ID] = edits
	}
	f.calls[p.ID] = name
}

// toolReturned reads only what is before the output.
func (f *Fold) toolReturned(e event.Event) {
	if string(e.Field("ok")) != "false" {
		f.edited(jsonscan.Unquote(e.Field("id")), e.Iter)
		return
	}
	p, err := event.As[event.ToolReturned](e)
	if err != nil {
		return // the state was folded, so this is of another version
	}
	if f.open != nil {
		f.open.Failed++
	}
	if i, ok := f.tools[f.calls[p.ID]]; ok {
		f.report.Tools[i].Failed++
	}
}

// edited counts the edits of a tool that has done them.
func (f *Fold) edited(id string, iteration int) {
	for _, edit := range f.edits[id] {
		edit.Path = line(strings.TrimPrefix(edit.Path, f.report.Project+"/"))
		i, known := f.files[edit.Path]
		if !known {
			if len(f.files) >= filesKept {
				continue
			}
			i = len(f.report.Files)
			f.files[edit.Path] = i
			f.report.Files = append(f.report.Files, FileUse{Edit: transcript.Edit{Path: edit.Path}})
		}
		file := &f.report.Files[i]
		file.Insertions, file.Deletions, file.Last = file.Insertions+edit.Insertions, file.Deletions+edit.Deletions, iteration
	}
	delete(f.edits, id)
}

// guardrailEdited notes what was found where a file was put back.
func (f *Fold) guardrailEdited(e event.Event, p event.GuardrailEdited) {
	folder := f.report.Project
	if p.Role == event.RoleSettings {
		folder = path.Dir(path.Dir(f.dir))
	}
	keep := func(command string) {
		if len(f.report.Kept) < filesKept {
			f.report.Kept = append(f.report.Kept, render.Clean(fmt.Sprintf("%s, as it was found in iteration %d: %s", p.Path, e.Iter, command)))
		}
	}
	if p.Kept != "" {
		keep("cat " + path.Join(f.dir, p.Kept))
	}
	for _, aside := range p.Aside {
		was, _, _ := strings.Cut(aside, ".set-aside")
		keep("mv -i " + path.Join(folder, aside) + " " + path.Join(folder, was))
	}
}

// repoInspected notes what the open iteration changed in a repository: what was not committed
// before it is not its own.
func (f *Fold) repoInspected(p event.RepoInspected) {
	if delete(f.away, p.Root); p.Left != "" && len(f.away) < reposKept {
		f.away[p.Root] = p.Away()
	}
	if p.When != event.MomentEnd {
		if len(f.begins) < reposKept {
			f.begins[p.Root] = p
		}
		return
	}
	i := f.open
	if i == nil {
		return
	}
	i.Made += p.Commits
	if c := p.Committed; c != nil {
		i.Kept = add(i.Kept, Changes(*c))
	}
	was, known := f.begins[p.Root]
	delete(f.begins, p.Root)
	c := Changes{p.Files, p.Insertions, p.Deletions}
	switch {
	case !p.Dirty, known && was.Head == p.Head && was.Fingerprint == p.Fingerprint:
		return
	case known && was.Head == p.Head: // lines of a file that differed before are counted, the file is not
		c = Changes{max(0, c.Files-was.Files), max(0, c.Insertions-was.Insertions), max(0, c.Deletions-was.Deletions)}
	}
	i.Left = add(i.Left, c)
}

// ofVerification takes in guardrails, claims and commits.
func (f *Fold) ofVerification(e event.Event, p event.Payload) {
	r := &f.report
	switch p := p.(type) {
	case event.GuardrailEnded:
		f.guardrailEnded(e, p)
	case event.CompletionClaimed:
		r.Claims++
	case event.CompletionRefused:
		r.Verdict = nil
		for _, missing := range p.Missing {
			r.Verdict = append(r.Verdict, line(missing))
		}
	case event.CompletionAccepted:
		r.Verdict, r.Doubtful = nil, line(p.Warning)
	case event.RepoInspected:
		f.repoInspected(p)
	case event.GuardrailEdited:
		f.guardrailEdited(e, p)
	case event.RepoCommitted:
		if f.open != nil {
			subject := units.FirstLine(p.Message)
			f.open.Commits = append(f.open.Commits, Commit{Changes{p.Files, p.Insertions, p.Deletions}, e.Seq, render.Clean(p.SHA), line(subject)})
			f.open.Left = nil
		}
	}
}

// add sums the changes of several repositories.
func add(sum *Changes, c Changes) *Changes {
	if sum != nil {
		c.Files, c.Insertions, c.Deletions = c.Files+sum.Files, c.Insertions+sum.Insertions, c.Deletions+sum.Deletions
	}
	return &c
}

func (f *Fold) guardrailEnded(e event.Event, p event.GuardrailEnded) {
	run := CheckRun{Name: line(p.Name), OK: p.OK, How: phrase.Verdict(p), Seq: e.Seq, Took: p.Took}
	if f.open != nil && len(f.open.Checks) < checksKept {
		f.open.Checks = append(f.open.Checks, run)
	}
	r := &f.report
	i, known := f.checks[p.Name]
	if !known {
		if len(f.checks) >= checksKept {
			return
		}
		i = len(r.Checks)
		f.checks[p.Name] = i
		r.Checks = append(r.Checks, Check{})
	}
	c := &r.Checks[i]
	c.CheckRun, c.Iteration, c.Output = run, e.Iter, ""
	if c.Runs++; !p.OK {
		c.Failed++
		if p.Message != nil {
			printed := strings.Trim(text(phrase.GuardrailOutput(p.Message.Text)), "\n")
			c.Output = strings.ToValidUTF8(printed[max(0, len(printed)-outputKept):], "")
		}
	}
}

// word returns a word of a closed list, clean: a journal from elsewhere may have any text there.
func word[T ~string](value T) T { return T(render.Clean(string(value))) }

// line returns a foreign text in one line of bounded length, clean.
func line(s string) string { return units.Cut(render.Clean(strings.TrimSpace(s)), lineKept) }

func lines(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, line(text))
	}
	return all
}

// text returns a foreign text of several lines, clean.
func text(s string) string { return string(render.CleanText(s)) }
