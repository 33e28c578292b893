package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// A branch that is larger than limits.diff becomes several pull requests. Its commits are grouped
// in their order into parts of at most that size; a commit is never split. Each part is a branch,
// and is based on the one before it. All but the last, on which the guardrails have just passed,
// are checked in a throw-away work tree, and one that fails there is joined with the next. What was
// published before stays as it is, except the last part: commits are added to that one.

// part is consecutive commits that become one pull request.
type part struct {
	event.StackedRequest
	from    string // the commit that it follows
	commits []repo.Commit
	stays   bool // as it was published
}

// partsMost is how many parts a branch can have; the last one has the rest.
const partsMost = 50

// stack is a branch on its way to several pull requests.
type stack struct {
	*Executor
	branch string
	limit  int
	known  []event.StackedRequest // what the journal says of them
	was    []event.StackedRequest // what was published before
	over   int                    // how many branches before those are of work that is over
	parts  []part
	works  error // why no verdict of a guardrail counts in the throw-away tree
}

// publishStack makes or changes the pull requests of the branch, if it is to have several. With
// none, it is to have one.
func (x *Executor) publishStack(ctx context.Context, at forge.Place, branch string, p commitPlan, last string) ([]event.StackedRequest, error) {
	s := stack{Executor: x, branch: branch, limit: p.limit}
	if p.was != nil {
		s.known = p.was.Stack
	}
	if s.limit == 0 && len(s.known) == 0 {
		return nil, nil
	}
	if err := s.find(ctx, at); err != nil {
		return nil, err
	}
	if err := s.group(ctx); err != nil || len(s.parts) < 2 && len(s.was) == 0 {
		return nil, err
	}
	if err := s.push(ctx); err != nil {
		return s.requests(), err
	}
	err := s.publish(ctx, at, last)
	return s.requests(), err
}

// firstOpen returns the address of the first pull request that is open; empty if there is none.
func firstOpen(all []event.StackedRequest) string {
	for _, r := range all {
		if r.State == event.RequestOpen {
			return r.URL
		}
	}
	return ""
}

func (s *stack) requests() (all []event.StackedRequest) {
	for _, p := range s.parts {
		all = append(all, p.StackedRequest)
	}
	return all
}

// group groups the commits into parts.
func (s *stack) group(ctx context.Context) error {
	from, chain, err := s.begin(ctx)
	if err != nil {
		return err
	}
	var open *part
	for _, c := range chain {
		if open != nil && len(s.parts) < partsMost {
			lines, err := s.lines(ctx, open.from, c.SHA)
			if err != nil {
				return err
			}
			if lines > s.limit && s.limit > 0 {
				open = nil
			}
		}
		if open == nil {
			s.parts = append(s.parts, part{from: from})
			open = &s.parts[len(s.parts)-1]
		}
		open.commits, open.Head, from = append(open.commits, c), c.SHA, c.SHA
	}
	if err := s.join(ctx); err != nil {
		return err
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.stays && p.Lines > 0 {
			continue
		}
		if p.Branch, p.State = forge.PartBranch(s.branch, s.over+i), event.RequestOpen; i < len(s.was) {
			p.URL, p.State = s.was[i].URL, s.was[i].State
		}
		if p.Lines, err = s.lines(ctx, p.from, p.Head); err != nil {
			return err
		}
		if p.Lines > s.limit && s.limit > 0 && p.Note == "" && !p.stays {
			p.Note = "one commit cannot be split"
			if len(p.commits) > 1 {
				p.Note = fmt.Sprintf("a branch has at most %d parts", partsMost)
			}
		}
	}
	return nil
}

// find finds what was published before, also by a runner that died, or by an earlier loop on this
// branch. What a person merged or closed, and this branch does not add to the default branch, is of
// work that is over: the numbers continue after it. A branch of that name whose commits are not in
// this one ends the list: it may be a person's.
func (s *stack) find(ctx context.Context, at forge.Place) error {
	there, err := at.Parts(ctx, s.branch, partsMost)
	if err != nil {
		return err
	}
	_, own, err := repo.Chain(ctx, s.cfg.Project, "", s.cfg.Env...)
	if err != nil {
		return err
	}
	for i, r := range there {
		p := event.StackedRequest{Branch: forge.PartBranch(s.branch, i), Head: r.Head}
		known := slices.IndexFunc(s.known, func(k event.StackedRequest) bool { return k.Branch == p.Branch && k.Head == r.Head })
		adds := slices.ContainsFunc(own, func(c repo.Commit) bool { return c.SHA == r.Head })
		switch {
		case known >= 0:
			p = s.known[known]
		case r.State != event.RequestOpen && !adds && len(s.was) == 0:
			s.over++
			continue
		case !adds:
			if since, _, err := repo.Chain(ctx, s.cfg.Project, r.Head, s.cfg.Env...); err != nil || since != r.Head {
				return err
			}
		}
		p.URL, p.State = r.URL, r.State
		s.was = append(s.was, p)
	}
	return nil
}

// begin takes over the parts that stay as they were published: all but the last, and that too if a
// person has merged or closed it. It returns the commits after them.
func (s *stack) begin(ctx context.Context) (from string, chain []repo.Commit, err error) {
	from, chain, err = repo.Chain(ctx, s.cfg.Project, "", s.cfg.Env...)
	for i, p := range s.was {
		if err != nil || i == len(s.was)-1 && p.State == event.RequestOpen {
			break
		}
		stays := part{StackedRequest: p, from: from, stays: true}
		if at := slices.IndexFunc(chain, func(c repo.Commit) bool { return c.SHA == p.Head }); at >= 0 {
			stays.commits, chain = chain[:at+1], chain[at+1:]
		} else {
			var since string
			since, chain, err = repo.Chain(ctx, s.cfg.Project, p.Head, s.cfg.Env...)
			if since != p.Head { // the history was written again
				break
			}
		}
		s.parts, from = append(s.parts, stays), p.Head
	}
	return from, chain, err
}

func (s *stack) lines(ctx context.Context, from, to string) (int, error) {
	files, err := keep.Lines(ctx, s.cfg.Project, from, to, s.cfg.Env...)
	return sizeOf(files).Lines, err
}

// join joins each part whose guardrails fail with the next one.
func (s *stack) join(ctx context.Context) error {
	for i := 0; i < len(s.parts)-1; i++ {
		p := &s.parts[i]
		if p.stays {
			continue
		}
		failed, err := s.check(ctx, p.Head)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case err != nil:
			p.Note = notes(p.Note, "the guardrails were not run on it: "+oneLine(err.Error()))
		case failed != "":
			next := &s.parts[i+1]
			next.Note = notes(p.Note, fmt.Sprintf("%s fails after %q", failed, p.commits[len(p.commits)-1].Subject))
			next.from, next.commits = p.from, slices.Concat(p.commits, next.commits)
			s.parts = slices.Delete(s.parts, i, i+1)
			i--
		}
	}
	return nil
}

// notes joins those that are not empty.
func notes(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(n string) bool { return n == "" }), "; ")
}

// check returns the first guardrail that fails on a commit; empty if all pass. Where they fail on
// the finished work too, a throw-away tree lacks what they need, and there is no verdict.
func (s *stack) check(ctx context.Context, commit string) (failed string, err error) {
	if known, ok := s.results.commits[commit]; ok {
		return known, nil
	}
	if slices.ContainsFunc(s.was, func(p event.StackedRequest) bool { return p.Head == commit }) {
		return "", nil // it was the last part, after the guardrails had passed
	}
	if s.works != nil {
		return "", s.works
	}
	failed, err = s.try(ctx, commit)
	if err == nil && failed != "" {
		control, err := s.try(ctx, s.parts[len(s.parts)-1].Head)
		if err == nil && control != "" {
			err = fmt.Errorf("in a throw-away work tree %s fails on the finished work too", control)
		}
		if s.works = err; err != nil {
			return "", err
		}
	}
	if err == nil {
		s.results.commits[commit] = failed
	}
	return failed, err
}

// try runs the guardrails on a commit.
func (s *stack) try(ctx context.Context, commit string) (failed string, err error) {
	if len(s.cfg.Guardrails) == 0 {
		return "", nil
	}
	tree, err := s.cfg.Scratch(ctx, commit)
	if err != nil {
		return "", err
	}
	defer func() { _ = tree.Close() }() // what is left is removed by the next one
	results, err := guardrail.Run(ctx, guardrail.Config{
		Dir: tree.Dir, LoopDir: tree.Logs, Env: tree.Env, Wrap: tree.Wrap, Guardrails: s.cfg.Guardrails, Redact: s.redactor(),
	})
	for _, r := range results {
		switch {
		case r.Err != nil:
			return "", r.Err
		case !r.OK && failed == "":
			failed = "`" + units.Cut(oneLine(r.Guardrail.Command), maxCommand) + "`"
		}
	}
	return failed, err
}

// push pushes the branches.
func (s *stack) push(ctx context.Context) error {
	_, own, err := repo.Chain(ctx, s.cfg.Project, "", s.cfg.Env...)
	if err != nil {
		return err
	}
	var parts []repo.Part
	for _, p := range s.parts {
		if p.State != event.RequestOpen {
			continue
		}
		to := repo.Part{Branch: p.Branch, SHA: p.Head}
		for _, c := range own {
			to.Pushed = append(to.Pushed, c.SHA)
		}
		for _, published := range slices.Concat(s.known, s.was) {
			to.Pushed = append(to.Pushed, published.Head)
		}
		parts = append(parts, to)
	}
	return repo.PushParts(ctx, repo.Config{Dir: s.cfg.Project, Command: s.cfg.SCM.Command, Env: s.cfg.Env}, parts)
}

// publish makes the pull requests that are missing, so that each has an address, and then gives
// each of them its text, which lists all of them.
func (s *stack) publish(ctx context.Context, at forge.Place, last string) error {
	title, _, err := s.pullRequestText(ctx, s.branch)
	if err != nil {
		return err
	}
	_, body, _ := task.ReadPullRequest(s.cfg.Dir) // the agent's; each part lists its commits
	for _, onlyMissing := range []bool{true, false} {
		base := ""
		for i := range s.parts {
			p := &s.parts[i]
			if p.State == event.RequestMerged {
				continue // the next one is based on what this one was
			}
			if p.State == event.RequestOpen && (p.URL == "" || !onlyMissing) {
				r, err := at.Publish(ctx, s.draft(i, base, title, body, last))
				if err != nil {
					return err
				}
				p.URL, p.State = r.URL, r.State
			}
			base = p.Branch
		}
	}
	return s.overview(ctx, at, title)
}

// draft is what one pull request is to say.
func (s *stack) draft(i int, base, title, body, last string) forge.Draft {
	p := &s.parts[i]
	subject := title
	if len(p.commits) > 0 {
		subject = p.commits[0].Subject
	}
	texts := []string{fmt.Sprintf("Part %d of %d: %s", i+1, len(s.parts), title), s.list(i)}
	if i == 0 {
		texts = append(texts, body)
	}
	if len(p.commits) > 0 {
		var commits strings.Builder
		for _, c := range p.commits[:min(len(p.commits), maxSubjects)] {
			fmt.Fprintf(&commits, "- %s\n", c.Subject)
		}
		texts = append(texts, "## Commits\n\n"+commits.String())
	}
	if i == len(s.parts)-1 {
		texts = append(texts, last)
	}
	return forge.Draft{
		Branch: p.Branch, Part: true, Base: base, Title: s.masked(fmt.Sprintf("(%d/%d) %s", i+1, len(s.parts), subject)),
		Body: s.masked(join(texts...)), Draft: s.cfg.SCM.Draft,
	}
}

// list lists the pull requests; at is the place of the one that has the list, -1 for none.
func (s *stack) list(at int) string {
	var b strings.Builder
	b.WriteString("Each part is based on the one before it: review and merge them in this order.\n\n")
	for i, p := range s.parts {
		fmt.Fprintf(&b, "%d. %s, %s", i+1, cmp.Or(p.URL, "`"+p.Branch+"`"), units.Quantity(p.Lines, "line"))
		if p.Note != "" {
			b.WriteString(" (" + p.Note + ")")
		}
		if p.State != event.RequestOpen {
			b.WriteString(", " + string(p.State))
		}
		if i == at {
			b.WriteString(" **← this one**")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// overview changes the text of pull requests that are no part any more: that of the branch itself,
// from when it was smaller, and those of parts that were joined.
func (s *stack) overview(ctx context.Context, at forge.Place, title string) error {
	if r, err := at.Open(ctx, s.branch); err != nil {
		return err
	} else if r != nil {
		body := "This is the whole work, which is in review as several pull requests. Close this one.\n\n" + s.list(-1)
		if _, err := at.Publish(ctx, forge.Draft{Branch: s.branch, Title: s.masked(title), Body: s.masked(body)}); err != nil {
			return err
		}
	}
	for i := len(s.parts); i < len(s.was); i++ {
		if s.was[i].URL == "" || s.was[i].State != event.RequestOpen {
			continue
		}
		body := "What this had is in another part now. Close this one.\n\n" + s.list(-1)
		if _, err := at.Publish(ctx, forge.Draft{Branch: s.was[i].Branch, Part: true, Title: s.masked(title), Body: s.masked(body)}); err != nil {
			return err
		}
	}
	return nil
}
