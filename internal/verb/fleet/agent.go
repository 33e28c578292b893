package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent/fleetagent"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
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

// FactsFile is the file for what loops tell each other, in the folder of the fleet's loop.
const FactsFile = "facts.md"

// a run is one call of the agent.
type run struct {
	Agent
	e       *cli.Env
	out     io.Writer // becomes the journal of the fleet's loop
	name    string    // of the fleet's loop
	dir     string    // its folder
	project string    // where loops live
	tree    string    // the project's folder in which the fleet works
	tasks   Tasks
	state   loopstate.State // of the fleet's loop, from its journal
	own     chan recorded   // the events that follow
	news    chan news       // of the loops of the tasks
	watched map[string]bool // by loop
}

// recorded is an event in the journal of the fleet's loop.
type recorded struct {
	event.Event
	err error
}

// news of a loop: it may have spent more, or it does not run any more.
type news struct {
	loop string
	over bool
}

// Run works through the tasks and returns when nothing can be done any more. It ends with the
// promise that the runner looks for, or with a word to a person.
func (a Agent) Run(ctx context.Context, e *cli.Env) error {
	r := &run{
		Agent: a, e: e, out: e.Stdout, name: e.Variable("RALPH_LOOP"), dir: e.Variable(cli.LoopDirVariable),
		own: make(chan recorded), news: make(chan news), watched: map[string]bool{},
	}
	if r.name == "" || r.dir == "" {
		return cli.Refuse("'ralph fleet' starts it", "fleet-agent is the agent of a fleet's loop")
	}
	if _, err := io.Copy(io.Discard, e.Stdin); err != nil { // the prompt
		return err
	}
	e.Stdout = e.Stderr // what else is printed is no event
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.open(ctx); err != nil {
		return err
	}
	d, err := drive(ctx, r)
	if err != nil {
		return err
	}
	return r.end(d)
}

func (r *run) fleet() *policy.Fleet { return &r.state.Fleet }

func (r *run) next() (event.FleetDecided, bool) {
	return r.state.Fleet.Next(r.state.Commands.Stopping != "", r.state.Rules.Limits.Cost)
}

// open begins to follow the journal of the fleet's loop, and records what there is.
func (r *run) open(ctx context.Context) (err error) {
	r.project = filepath.Dir(filepath.Dir(r.dir))
	if r.tree, err = workspace.Tree(r.dir, r.project); err != nil {
		return err
	}
	folder := r.Folder
	if folder != "" && !filepath.IsAbs(folder) {
		folder = filepath.Join(r.project, folder)
	}
	if r.tasks, err = ReadTasks(r.tree, folder); err != nil {
		return err
	}
	if r.state, err = loopstate.Open(r.dir); err != nil {
		return err
	}
	known := r.state.Fleet.Tasks
	if len(known) == 0 {
		if known, err = r.earlier(ctx); err != nil {
			return err
		}
	}
	opened := event.FleetOpened{Parallel: r.Parallel, Branch: r.branch(ctx), ByPerson: r.Conflicts == ByPerson, Tasks: r.found(known)}
	if r.e.ReviewCommands(r.tasks.Verify).Fingerprint() != r.Verify {
		opened.Closed = "the verifyCommands of ralph/tasks.json have changed since the fleet was started, and an agent could change them; a person puts them back on the fleet's branch and resumes it, or starts another fleet"
	}
	go r.follow(ctx, r.state.Seq+1)
	if err := errors.Join(makeFacts(r.dir), r.record(ctx, opened)); err != nil {
		return err
	}
	if len(known) > 0 {
		r.say("going on")
	}
	f := &r.state.Fleet
	r.say("%s: %d merged, %d to do, %d at once", units.Quantity(len(f.Tasks), "task"), f.Count(event.FleetMerged),
		len(f.Tasks)-f.Count(event.FleetMerged), r.Parallel)
	return nil
}

// found are the tasks with what there is of their loops.
func (r *run) found(known []policy.FleetTask) []event.FleetTask {
	all := &policy.Fleet{Tasks: known}
	names := map[string]bool{}
	for _, t := range known {
		names[t.Loop] = true
	}
	var found []event.FleetTask
	for _, task := range r.tasks.List {
		t := event.FleetTask{ID: task.ID, DependsOn: task.DependsOn}
		seen := false
		if k := all.Task(task.ID); k != nil {
			t.Loop, t.Step, t.Tries, t.Commit, t.Why, seen = k.Loop, k.Step, k.Tries, k.Commit, k.Why, k.Step != event.FleetWaiting
		} else {
			if t.Loop = loopOf(r.name, task.ID); task.Done {
				t.Step = event.FleetMerged
			}
			for names[t.Loop] {
				t.Loop += "x"
			}
			names[t.Loop] = true
		}
		if l, err := r.look(t.Loop); err == nil && l.Begun && (seen || r.within(t.Loop)) {
			t.Begun, t.Share, t.USD = true, l.Share, l.USD
		}
		found = append(found, t)
	}
	return found
}

// say prints a text, which the journal of the fleet has then. Parts of it are words of agents: no
// line of theirs is an event of the fleet, and no tag its promise.
func (r *run) say(format string, args ...any) {
	fmt.Fprintln(r.out, strings.NewReplacer("\n", "\n| ", "<", "‹").Replace(fmt.Sprintf(format, args...)))
}

// record prints an event, and returns once the journal has it and it is folded.
func (r *run) record(ctx context.Context, p event.Payload) error {
	before := r.state.Fleet.Events
	if _, err := fmt.Fprintf(r.out, "%s\n", fleetagent.Line(p)); err != nil {
		return err
	}
	for r.state.Fleet.Events == before {
		select {
		case e := <-r.own:
			if err := r.fold(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r *run) fold(e recorded) error {
	if e.err != nil {
		return fmt.Errorf("follow the journal of the fleet: %w", e.err)
	}
	return r.state.Fold(e.Event)
}

// follow passes on the events of the fleet's loop as they are written.
func (r *run) follow(ctx context.Context, from event.Seq) {
	for e, err := range journal.Follow(ctx, r.dir, journal.FollowOptions{FromSeq: from}) {
		select {
		case r.own <- recorded{e.Clone(), err}:
		case <-ctx.Done():
			return
		}
	}
}

// wait returns when there is news: of the fleet's loop, which a person may stop, or of one of the
// tasks' loops.
func (r *run) wait(ctx context.Context) error {
	select {
	case e := <-r.own:
		return r.fold(e)
	case n := <-r.news:
		if n.over {
			delete(r.watched, n.loop)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch begins to follow a loop that runs, unless it is followed.
func (r *run) watch(ctx context.Context, loop string, l policy.FleetLoop) {
	if !r.watched[loop] {
		r.watched[loop] = true
		go r.sendNews(ctx, loop, l.Seq)
	}
}

// sendNews sends news of a loop: after each iteration, when it may have spent more than its share,
// and when its runner has exited.
func (r *run) sendNews(ctx context.Context, loop string, seq event.Seq) {
	send := func(n news) {
		select {
		case r.news <- n:
		case <-ctx.Done():
		}
	}
	for e, err := range client.Follow(ctx, r.loopDir(loop), seq) {
		if err == nil && e.Type == event.TypeIterationEnded {
			send(news{loop: loop})
		}
	}
	<-client.Alive(ctx, r.loopDir(loop), new(atomic.Bool)).Done()
	send(news{loop: loop, over: true})
}

// look returns what is to be seen of a loop.
func (r *run) look(loop string) (l policy.FleetLoop, err error) {
	dir := r.loopDir(loop)
	live, err := registry.Probe(dir)
	if err != nil {
		return l, err
	}
	s, err := loopstate.Open(dir) // after that: what a runner that has exited wrote is complete
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	l = policy.FleetLoop{Alive: live.Alive, Begun: err == nil && s.Begun(), Seq: s.Seq, Ended: s.Lifecycle.Ended, Share: s.Rules.Limits.Cost}
	if used := s.Budget.Used(); used.USD != nil {
		l.USD = *used.USD
	}
	return l, nil
}

func (r *run) loopDir(loop string) string { return filepath.Join(r.project, cli.RalphFolder, loop) }

// within reports whether a loop was started by this fleet.
func (r *run) within(loop string) bool {
	folder := registry.Folder(r.e.Home)
	own, err := registry.ReadEntry(filepath.Join(folder, registry.FileName(r.project, r.name)))
	if err != nil || own.ID == "" {
		return false
	}
	entry, err := registry.ReadEntry(filepath.Join(folder, registry.FileName(r.project, loop)))
	return err == nil && entry.Parent == own.ID
}

func (r *run) branch(ctx context.Context) string { return repo.Branch(ctx, r.tree) }

// end says what the fleet came to. A person's stop ends the fleet's loop by itself.
func (r *run) end(d event.FleetDecided) error {
	switch d.Do {
	case event.FleetComplete:
		r.say("all %s merged into %s; 'ralph merge %s' merges that into your branch", units.Quantity(len(r.tasks.List), "task"), r.state.Fleet.Branch, r.name)
		if r.Folder == "" {
			r.say("guardrails passed on each, and none was reviewed: 'ralph start NAME --tasks' reviews them")
		}
		fmt.Fprintln(r.out, "<promise>COMPLETE</promise>")
	case event.FleetBlock:
		r.say("%s", d.Why)
		_, err := client.Drop(r.name, r.dir, inbox.Command{Kind: inbox.Blocked, Text: d.Why})
		return err
	case event.FleetStop:
		r.say("%s", d.Why)
	}
	return nil
}

// makeFacts makes the file of facts, unless it is there.
func makeFacts(dir string) error {
	path := filepath.Join(dir, FactsFile)
	if cli.Exists(path) {
		return nil
	}
	return safefile.WriteFile(path, []byte("# What the loops of this fleet have found\n\n"), 0o644)
}
