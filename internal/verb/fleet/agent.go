package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/internal/verb/merging"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Agent is what the fleet's loop runs in each iteration.
type Agent struct {
	Parallel  int
	Folder    string   // of task files; "" for ralph/tasks.json
	Conflicts string   // agent or person
	Verify    string   // fingerprint of the verifyCommands as a person started the fleet with them
	Flags     []string // of the start of each loop
}

// Who resolves a conflict of a merge.
const (
	ByAgent  = "agent"
	ByPerson = "person"
)

// maxTries is how often a loop is resumed or sent back before its task is left to a person.
const maxTries = 3

// FactsFile is the file for what loops tell each other, in the folder of the fleet's loop.
const FactsFile = "facts.md"

// a run is one call of the agent.
type run struct {
	Agent
	e       *cli.Env
	out     io.Writer
	name    string // of the fleet's loop
	dir     string // its folder
	project string // where loops live
	tree    string // the project's folder in which the fleet works
	tasks   Tasks
	state   State
	limit   float64 // limits.cost of the fleet, US dollars; 0 for none
	closed  string  // why no other task begins; empty if one may
}

// Run works through the tasks and returns when nothing can be done any more. It ends with the
// promise that the runner looks for, or with a word to a person.
func (a Agent) Run(ctx context.Context, e *cli.Env) error {
	r := &run{Agent: a, e: e, out: e.Stdout, name: e.Variable("RALPH_LOOP"), dir: e.Variable(cli.LoopDirVariable)}
	if r.name == "" || r.dir == "" {
		return cli.Refuse("'ralph fleet' starts it", "fleet-agent is the agent of a fleet's loop")
	}
	if _, err := io.Copy(io.Discard, e.Stdin); err != nil { // the prompt
		return err
	}
	r.project = filepath.Dir(filepath.Dir(r.dir))
	var err error
	if r.tree, err = workspace.Tree(r.dir, r.project); err != nil {
		return err
	}
	if err := r.open(); err != nil {
		return err
	}
	for !over(r.tasks.List, &r.state) && (r.closed == "" || r.state.count(Working, Merging) > 0) {
		changed, err := r.pass(ctx)
		if err != nil {
			return err
		}
		if changed {
			continue
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return r.end()
}

// pollEvery is how often the loops are looked at.
const pollEvery = 300 * time.Millisecond

func (r *run) open() (err error) {
	folder := r.Folder
	if folder != "" && !filepath.IsAbs(folder) {
		folder = filepath.Join(r.project, folder)
	}
	if r.tasks, err = ReadTasks(r.tree, folder); err != nil {
		return err
	}
	if r.state, err = ReadState(r.dir); err != nil {
		return err
	}
	for _, t := range r.tasks.List {
		r.state.of(t, r.name)
	}
	if r.e.ReviewCommands(r.tasks.Verify).Fingerprint() != r.Verify {
		r.closed = "the verifyCommands of ralph/tasks.json have changed since the fleet was started, and an agent could change them; a person puts them back on the fleet's branch and resumes it, or starts another fleet"
	}
	s, err := loopstate.Open(r.dir)
	if err != nil {
		return err
	}
	r.limit = s.Rules.Limits.Cost
	if _, err := os.Stat(filepath.Join(r.dir, StateFile)); err == nil {
		r.say("going on")
	}
	r.say("%s: %d merged, %d to do, %d at once", units.Quantity(len(r.tasks.List), "task"), r.state.count(Merged), r.state.count(Waiting, Working, Merging), r.Parallel)
	for i := range r.state.Tasks { // a person who resumes the fleet wants to see it tried again
		if t := &r.state.Tasks[i]; t.Step == Failed {
			t.Step, t.Tries, t.Why = Working, 0, ""
			if _, err := loopstate.Open(r.loopDir(*t)); err != nil {
				t.Step = Waiting
			}
		}
	}
	return errors.Join(makeFacts(r.dir), r.state.write(r.dir))
}

// say prints a line, which the journal of the fleet has then.
func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.out, format+"\n", args...)
}

func (r *run) loopDir(t Entry) string { return filepath.Join(r.project, cli.RalphFolder, t.Loop) }

// pass looks at each task once.
func (r *run) pass(ctx context.Context) (changed bool, err error) {
	for i := range r.state.Tasks {
		t := &r.state.Tasks[i]
		before := *t
		switch t.Step {
		case Working:
			err = r.watch(ctx, t)
		case Merging:
			err = r.merge(ctx, t)
		}
		if err != nil {
			return changed, err
		}
		if *t != before {
			changed = true
			if err := r.state.write(r.dir); err != nil {
				return changed, err
			}
		}
	}
	for _, id := range startable(r.tasks.List, &r.state, r.Parallel) {
		if may, err := r.mayBegin(); err != nil || !may {
			return changed, err
		}
		if err := r.begin(ctx, id); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// mayBegin reports whether another task may begin now, and notes why none may any more: a person
// stops the fleet, or its money is spent. While loops work, some of their parts may be left over.
func (r *run) mayBegin() (bool, error) {
	s, err := loopstate.Open(r.dir)
	if err != nil {
		return false, err
	}
	if s.Commands.Stopping != "" {
		r.closed = "a person stops the fleet"
		return false, nil
	}
	if r.limit <= 0 {
		return true, nil
	}
	free := r.free()
	if free <= 0 && r.state.count(Working) == 0 {
		r.closed = "its loops have spent " + units.Of(r.limit-free, r.limit)
	}
	return free > 0, nil
}

func (r *run) task(id string) Task {
	return r.tasks.List[slices.IndexFunc(r.tasks.List, func(t Task) bool { return t.ID == id })]
}

// begin starts the loop of a task, on a branch that begins where the fleet is.
func (r *run) begin(ctx context.Context, id string) error {
	t, task := r.state.of(r.task(id), r.name), r.task(id)
	t.Step = Working
	if err := r.state.write(r.dir); err != nil { // before the loop is there
		return err
	}
	branch, err := r.makeBranch(ctx, launch.BranchOf(t.Loop))
	if err != nil {
		return err
	}
	// The start of the fleet has tried the guardrails.
	args := []string{"start", t.Loop, "--detach", "--anyway", "--worktree=" + branch, "--prompt=-"}
	if share := r.share(); share > 0 {
		args = append(args, "--set", "limits.cost="+strconv.FormatFloat(share, 'f', 4, 64))
	}
	if len(r.tasks.Verify) > 0 {
		args = append(args, r.verify()...)
	}
	said, err := r.ralph(ctx, r.prompt(task), append(args, r.Flags...)...)
	if err != nil {
		r.fail(t, "its loop could not be started: "+said)
		return r.state.write(r.dir)
	}
	r.say("%s begins: %s (loop %s)", t.ID, task.Title, t.Loop)
	return nil
}

// makeBranch makes the branch of a task's loop, where the fleet is. If the branch is there already,
// the fleet was killed before the loop used it. A git that was killed may have left a lock on the
// name: then another one is taken.
func (r *run) makeBranch(ctx context.Context, name string) (string, error) {
	var failed error
	for n := 1; n <= maxTries; n++ {
		branch := name
		if n > 1 {
			branch = fmt.Sprintf("%s-%d", name, n)
		}
		if repo.HasBranch(ctx, r.project, branch, r.e.Environ...) {
			return branch, nil
		}
		if failed = repo.MakeBranch(ctx, r.tree, branch, r.e.Environ...); failed == nil {
			return branch, nil
		}
	}
	return "", failed
}

// verify are the flags that make the commands of tasks.json guardrails, besides those of the
// settings.
func (r *run) verify() []string {
	loaded, err := r.e.Settings(nil, r.project)
	if err != nil {
		return nil // the start reports it
	}
	text, ok := config.Text(config.Settings{Guardrails: launch.WithVerify(loaded.Settings.Guardrails, r.tasks.Verify)}, "guardrails")
	if !ok {
		return nil
	}
	return []string{"--set", "guardrails=" + text}
}

// share is what the next loop may spend: what is free, in equal parts for the loops that may still
// begin beside those that work; 0 without a budget. A loop spends more than its share by its last
// turn at most.
func (r *run) share() float64 {
	if r.limit <= 0 {
		return 0
	}
	room := r.Parallel - r.state.count(Working) + 1 // with the next loop, which counts as working
	return max(r.free()/float64(max(room, 1)), 0.0001)
}

// free is what is left of the fleet's budget without what loops that work may still spend.
func (r *run) free() float64 {
	left := r.limit
	for _, t := range r.state.Tasks {
		s, err := loopstate.Open(r.loopDir(t))
		if err != nil || !s.Begun() {
			continue
		}
		var taken float64
		if used := s.Budget.Used(); used.USD != nil {
			taken = *used.USD
		}
		if t.Step == Working && s.Lifecycle.Ended == nil {
			taken = max(taken, s.Rules.Limits.Cost)
		}
		left -= taken
	}
	return left
}

// prompt is the base prompt of a task's loop.
func (r *run) prompt(t Task) string {
	facts := filepath.Join(r.dir, FactsFile)
	return fmt.Sprintf(`%s%s

You work on this task alone, in a worktree of your own; other loops work on other tasks of the same project at the same
time. Commit your work when it is done. Do not merge or push it: that is done for you.

What the others have found is in %s. Append a line to it, such as "- the parser is in internal/parse", when you find
something that they need. Never change a line of theirs.
`, t.Text, r.aboutPlan(), facts)
}

// aboutPlan is what the prompts of stories say besides: where the plan is, and what the person adds
// to each prompt.
func (r *run) aboutPlan() string {
	if r.Folder != "" {
		return ""
	}
	about := `

This story is one of a plan. Before you begin, read ralph/prd.md, which says what is to be built, and ralph/progress.txt, its
section Codebase Patterns first. Leave the files in ralph/ as they are: what is done is recorded for you.`
	if extra, err := plan.Read(r.tree, plan.Prompt); err == nil && len(bytes.TrimSpace(extra)) > 0 {
		about += "\n\n" + string(bytes.TrimSpace(extra))
	}
	return about
}

// ralph runs a verb of ralph, and returns what it said on stderr.
func (r *run) ralph(ctx context.Context, stdin string, args ...string) (said string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.project, r.e.Environ, strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return strings.Join(strings.Fields(out.String()), " "), err
}

// watch looks at the loop of a task.
func (r *run) watch(ctx context.Context, t *Entry) error {
	dir := r.loopDir(*t)
	live, err := registry.Probe(dir)
	if err != nil || live.Alive {
		return err
	}
	s, err := loopstate.Open(dir)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		r.fail(t, err.Error())
	case err != nil || !s.Begun(): // the fleet was killed before it was there
		t.Step = Waiting
	case s.Lifecycle.Ended == nil:
		r.again(ctx, t, "its runner died", "")
	case s.Lifecycle.Ended.Status == event.StatusCompleted:
		t.Step = Merging
	case s.Lifecycle.Ended.Reason == event.ReasonInterrupt:
		r.again(ctx, t, "it was interrupted", "")
	default:
		r.fail(t, fmt.Sprintf("its loop ended as %s: %s", s.Lifecycle.Ended.Status, s.Lifecycle.Ended.Why))
	}
	return nil
}

// again resumes the loop of a task, with a message for its agent.
func (r *run) again(ctx context.Context, t *Entry, why, message string) {
	if t.Tries >= maxTries {
		r.fail(t, fmt.Sprintf("%s, and it was tried %s already", why, units.Times(t.Tries)))
		return
	}
	t.Tries++
	t.Step = Working
	if message != "" {
		if _, err := client.Drop(t.Loop, r.loopDir(*t), inbox.Command{Kind: inbox.FollowUp, Text: message}); err != nil {
			r.fail(t, err.Error())
			return
		}
	}
	more := "3" // iterations
	if s, err := loopstate.Open(r.loopDir(*t)); err == nil {
		more = strconv.Itoa(max(s.Rules.MaximumIterations, s.Budget.Counted+3))
	}
	if said, err := r.ralph(ctx, "", "start", t.Loop, "--resume", "--detach", "--maximum-iterations", more); err != nil {
		r.fail(t, "its loop could not be resumed: "+said)
		return
	}
	r.say("%s goes on: %s", t.ID, why)
}

func (r *run) fail(t *Entry, why string) {
	t.Step, t.Why = Failed, units.Cut(why, 1000)
	r.say("%s is left to a person: %s", t.ID, t.Why)
}

// merge merges the work of a task into the fleet's branch. Guardrails have to pass on the result.
func (r *run) merge(ctx context.Context, t *Entry) (err error) {
	if err := r.keepPlan(); err != nil {
		return err
	}
	defer func() {
		if err == nil { // else the merge is made again, from the plan that was there before it
			r.state.Plan = ""
		}
	}()
	dir := r.loopDir(*t)
	w, err := workspace.Read(dir)
	if err != nil {
		return err
	}
	if w == nil {
		r.fail(t, "its worktree is gone")
		return nil
	}
	if err := r.commitRest(ctx, *t, w); err != nil {
		r.again(ctx, t, "its work could not be committed", "Your work could not be committed: "+err.Error()+"\nCommit it yourself.")
		return nil //nolint:nilerr // the agent mends it
	}
	done, err := merging.Merge{Name: t.Loop, Tree: r.tree, Message: fmt.Sprintf("Merge %s: %s", t.ID, r.task(t.ID).Title)}.Do(ctx, r.e, registry.Status{
		Entry: registry.Entry{Name: t.Loop, Dir: dir, Project: r.project},
	}, w)
	conflict := errors.Is(err, repo.ErrConflicts)
	head, _ := repo.BranchBase(ctx, r.project, w.Branch, r.e.Environ...) // empty for a branch that is gone
	switch {
	case errors.Is(err, repo.ErrMerged) && head == w.Base: // whatever the agent claims
		r.again(ctx, t, "it changed nothing", "You said that the task is done, and no file was changed. Do it; or, if nothing is to be done, say so with 'ralph blocked'.")
		return nil
	case errors.Is(err, repo.ErrMerged): // by a merge that was killed before it was recorded
		done.Result = head
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case conflict && r.Conflicts == ByPerson:
		r.fail(t, err.Error())
		return nil
	case conflict:
		r.again(ctx, t, "its work conflicts with what was merged meanwhile", fmt.Sprintf("Your branch conflicts with %s, to which others have merged their work. Run 'git merge %s' here, resolve the conflicts so that both sides' work is kept, and commit.", r.branch(ctx), r.branch(ctx)))
		return nil
	case err != nil:
		r.again(ctx, t, "its work does not pass once it is merged", fmt.Sprintf("Merged with what others have done, your work is refused: %v\nRun 'git merge %s' here, correct it, and commit.", err, r.branch(ctx)))
		return nil
	}
	t.Step, t.Commit = Merged, done.Result
	r.say("%s is merged (%d of %d)", t.ID, r.state.count(Merged), len(r.tasks.List))
	if r.Folder == "" {
		return r.markStory(ctx, *t)
	}
	return nil
}

func (r *run) branch(ctx context.Context) string { return repo.Branch(ctx, r.tree) }

// commitRest commits what the agent of a task left uncommitted.
func (r *run) commitRest(ctx context.Context, t Entry, w *workspace.Worktree) error {
	if w.Check() != nil {
		return nil // its branch has what was committed
	}
	_, err := repo.Run(ctx, repo.Config{Dir: w.Path, Tasks: []string{"commit"}, AddUntracked: true, Message: fmt.Sprintf("%s: %s", t.ID, r.task(t.ID).Title), Env: r.e.Environ})
	return err
}

// keepPlan keeps the plan as it is before a merge, on the disk: a merge that is killed is made
// again.
func (r *run) keepPlan() error {
	if r.Folder != "" || r.state.Plan != "" {
		return nil
	}
	data, err := plan.ReadTasks(r.tree)
	if err != nil {
		return err
	}
	r.state.Plan = string(data)
	return r.state.write(r.dir)
}

// markStory records in ralph/tasks.json that a story is done, without a review, and commits that.
func (r *run) markStory(ctx context.Context, t Entry) error {
	data := []byte(r.state.Plan)
	changed, err := repo.Uncommitted(ctx, r.tree, plan.Path(r.tree, plan.Tasks), r.e.Environ...)
	if err == nil && changed { // by a person: what agents do is committed and merged
		data, err = plan.ReadTasks(r.tree)
	}
	if err != nil {
		return err
	}
	if data, err = story.Pass(data, t.ID, "done by loop "+t.Loop); err != nil {
		return fmt.Errorf("ralph/tasks.json of the fleet: %w", err)
	}
	if err := plan.WriteTasks(r.tree, data); err != nil {
		return err
	}
	_, err = repo.Run(ctx, repo.Config{Dir: r.tree, Tasks: []string{"commit"}, Message: t.ID + " is done", Env: r.e.Environ})
	return err
}

// end says what the fleet came to.
func (r *run) end() error {
	stuck := kept(r.tasks.List, &r.state)
	if r.closed != "" {
		return r.endClosed()
	}
	if r.state.count(Failed) == 0 && len(stuck) == 0 {
		r.say("all %s merged into %s", units.Quantity(len(r.tasks.List), "task"), r.branch(context.Background()))
		if r.Folder == "" {
			r.say("guardrails passed on each, and none was reviewed: 'ralph start NAME --tasks' reviews them")
		}
		r.say("<promise>COMPLETE</promise>")
		return nil
	}
	var lines []string
	for _, t := range r.state.Tasks {
		switch {
		case t.Step == Failed:
			lines = append(lines, fmt.Sprintf("%s (loop %s): %s", t.ID, t.Loop, t.Why))
		case stuck[t.ID] != "":
			lines = append(lines, fmt.Sprintf("%s: it depends on %s", t.ID, stuck[t.ID]))
		}
	}
	text := fmt.Sprintf("%d of %d tasks are merged. Left to you:\n%s", r.state.count(Merged), len(r.tasks.List), strings.Join(lines, "\n"))
	r.say("%s", text)
	_, err := client.Drop(r.name, r.dir, inbox.Command{Kind: inbox.Blocked, Text: text})
	return err
}

// endClosed says why tasks were not begun. A person's stop ends the fleet's loop by itself.
func (r *run) endClosed() error {
	text := fmt.Sprintf("%d of %d tasks are merged, and no other begins: %s", r.state.count(Merged), len(r.tasks.List), r.closed)
	r.say("%s", text)
	if s, err := loopstate.Open(r.dir); err != nil || s.Commands.Stopping != "" {
		return err
	}
	_, err := client.Drop(r.name, r.dir, inbox.Command{Kind: inbox.Blocked, Text: text})
	return err
}

// makeFacts makes the file of facts, unless it is there.
func makeFacts(dir string) error {
	path := filepath.Join(dir, FactsFile)
	if cli.Exists(path) {
		return nil
	}
	return safefile.WriteFile(path, []byte("# What the loops of this fleet have found\n\n"), 0o644)
}
