package launch

import (
	"errors"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
)

// Start holds the options by which a loop is started or resumed.
type Start struct {
	Name string `arg:"" optional:"" complete:"loop" help:"The loop's name; without one the git branch's, or the folder's where that is main or master; with --resume the one that ran here last."`
	Options
	cli.Placed
	Task          string `type:"filled" placeholder:"FILE" help:"Begin with this file as the loop's task.md."`
	Detach        bool   `often:"" short:"d" help:"Return once the loop is running."`
	Resume        bool   `often:"" help:"Continue a loop that has ended or whose runner died."`
	AcceptChanges bool   `help:"With --resume: accept the settings and the guardrails' files as they are now, even if an agent changed them."`
	At            string `placeholder:"TIME" help:"Do not begin before this time: 01:00, 2h or 2026-11-28T01:00."`
	After         string `placeholder:"LOOP" complete:"loop" help:"Begin when this other loop has ended."`
	When          string `placeholder:"CONDITION" help:"Begin when more of the agent's quota is left than this, such as 'quota>30%'. For Codex, and Claude Code with a subscription."`
	Outlive       bool   `help:"For an agent: let the loop continue when the iteration that starts it ends, where agents.NAME.outlive allows it."`
	Fresh         bool   `help:"Archive the loop of that name and begin again."`
	JSON          bool   `help:"With --detach: print as JSON what was started."`
	ID            string `name:"id" hidden:"" placeholder:"ULID" help:"For a program: the id of the new loop; without it the runner makes one."`
	Numbered      bool   `hidden:"" help:"For a program: where another loop has the name, a number follows it."`

	Dir string `kong:"-"` // the loop's folder
	// Trial are the guardrails to try, if not the loop's own: those of a fleet's loops.
	Trial []config.Guardrail `kong:"-"`

	detached bool // the loop gets a runner of its own
}

// Begin starts the detached runner and returns once the loop runs, whose name and folder v then
// has.
func (v *Start) Begin(e *cli.Env) (readiness, error) {
	if v.Numbered {
		return v.beginNumbered(e)
	}
	return v.begin(e)
}

func (v *Start) begin(e *cli.Env) (readiness, error) {
	switch {
	case v.Resume && v.Fresh:
		return readiness{}, cli.Refuse("give one of them", "--resume and --fresh are both given")
	case v.AcceptChanges && !v.Resume:
		return readiness{}, cli.Refuse("leave it out: a new loop takes settings and guardrails as they are", "--accept-changes is for a loop that is resumed")
	case v.ID != "" && !isNewID(v.ID, v.Resume):
		return readiness{}, cli.Refuse("leave it out, or give a ULID to a new loop", "--id is %q", v.ID)
	}
	if v.ID != "" {
		if err := checkFree(e, v.ID); err != nil {
			return readiness{}, err
		}
	}
	v.detached = true
	r, err := v.ready(e)
	if err != nil {
		return readiness{}, err
	}
	started, err := startRunner(r.runnerEnv(e), r.cfg)
	if refused, ok := errors.AsType[*cli.Failure](err); ok && r.undo(e, started) && started.Ended != nil {
		refused.NextStep = clearedHint(started.Ended)
	}
	return started, err
}

// Preview plans a start and starts nothing, so that a person is asked now for what a timer cannot
// ask for. It returns the agent that was chosen, where neither flag nor settings name one.
func (v *Start) Preview(e *cli.Env) (agent string, err error) {
	p, err := v.plan(e)
	if errors.Is(err, errNoTask) {
		err = cli.Refuse("give the task with -p TEXT, -f FILE or --task FILE", "%w", err)
	}
	if err == nil && v.Agent == "" {
		agent = p.Agent
	}
	return agent, err
}

// plansMost is how often a start is planned, if the loop changes again and again.
const plansMost = 5

// ready plans a start, checks it, and prepares what its runner needs. It plans again if the loop
// has changed meanwhile: a runner that was killed may have written a moment before.
func (v *Start) ready(e *cli.Env) (r *ready, err error) {
	for range plansMost {
		if r, err = v.readyOnce(e); !errors.Is(err, errChanged) {
			break
		}
	}
	return r, err
}

func (v *Start) readyOnce(e *cli.Env) (*ready, error) {
	p, err := v.plan(e)
	if v.Prompt == "-" && p.text != "" {
		v.Prompt = p.text // stdin is read once
	}
	v.Name, v.Dir = p.Name, p.Dir
	if err == nil {
		err = preflight.Report(e, p.check(e))
	}
	switch {
	case errors.Is(err, errNoTask):
		return nil, offerTask(e, p.Dir)
	case err != nil:
		return nil, err
	}
	return p.prepare(e)
}
