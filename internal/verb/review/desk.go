package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/rollback"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/reading"
)

// Desk is where a person reviews the work of loops.
type Desk struct{ env *cli.Env }

// New returns the desk of a person. What loops say while they are resumed goes to the environment's
// Stderr.
func New(e *cli.Env) Desk { return Desk{e} }

// List returns what there is to read of a loop, with what was decided about it.
func (d Desk) List(ctx context.Context, s registry.Status) (reading.List, error) {
	v, err := cli.View(s)
	if err != nil {
		return reading.List{}, err
	}
	list, err := d.unmarked(ctx, s, v)
	if err != nil {
		return reading.List{}, err
	}
	state, err := reading.ReadState(d.env.Home, v.ID)
	list.Mark(state)
	return list, err
}

// unmarked is the list without what was decided. Of a loop that has ended it has the files that the
// loop had changed at its end, where that is known: later changes of other files are not its work.
func (d Desk) unmarked(ctx context.Context, s registry.Status, v *projector.View) (reading.List, error) {
	work, problem := rollback.WorkOf(ctx, d.env, s, reading.Options)
	changes := reading.Parse(work.Patch)
	if work.Own != nil {
		changes = slices.DeleteFunc(changes, func(c reading.Change) bool { return !work.Own[c.Path] })
	}
	list := reading.New(d.env.NameToType(s), v.Support(), changes, whyUnknown(problem))
	if problem == nil {
		list.Compared = compared(s, work, d.later(s))
	}
	return list, ctx.Err()
}

// compared says with what the files before the loop are compared. later are the loops that worked
// in the same place after it.
func compared(s registry.Status, work rollback.Work, later []string) string {
	var text string
	var own, others []string
	for _, file := range work.Since {
		if work.Own[file] {
			own = append(own, cli.Clean(file))
		} else {
			others = append(others, cli.Clean(file))
		}
	}
	switch {
	case s.Live.Alive:
		return "Compared with the files as they are now: the loop runs."
	case work.Own == nil:
		text = "Compared with the files as they are now, with what changed since the loop ended: how they were then is not known."
	case len(work.Since) == 0:
		return "Compared with the files as they are now, which are as the loop left them."
	default:
		text = "Only the files that the loop changed are compared, as they are now."
	}
	if len(own) > 0 {
		text += " Since the loop ended, " + some(own) + " changed again."
	}
	if len(others) > 0 {
		text += " Left out is what changed only since then: " + some(others) + "."
	}
	if len(later) > 0 {
		text += " Since then " + some(later) + " worked here."
	}
	return text
}

// some names the first of many.
func some(names []string) string {
	const most = 4
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return phrase.And(names)
}

// later returns the registered loops that worked in the same place after a loop without a worktree.
func (d Desk) later(s registry.Status) (names []string) {
	inPlace := func(dir string) bool { w, err := workspace.Read(dir); return err == nil && w == nil }
	if s.Live.Alive || !inPlace(s.Dir) {
		return nil
	}
	all, _ := registry.Survey(d.env.Home, func(e registry.Entry) bool { return e.Project == s.Project && e.ID != s.ID })
	for _, other := range all { // without the registry they are not known
		if other.Err == nil && other.Head.At.After(s.Head.At) && inPlace(other.Dir) {
			names = append(names, "loop "+cli.Clean(other.Name))
		}
	}
	return names
}

// whyUnknown says why it is not known which files changed.
func whyUnknown(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, repo.ErrNoRepository):
		return "the loop does not work in a git repository"
	case errors.Is(err, repo.ErrTooMuch):
		return "the changes are too large to be read; 'ralph diff' with --stat counts them"
	}
	return explain(err)
}

// explain spells an error and its next step.
func explain(err error) string {
	said := err.Error()
	if refused, ok := errors.AsType[*cli.Failure](err); ok && refused.NextStep != "" {
		said += "; " + refused.NextStep
	}
	return cli.Clean(said)
}

// patience is how long an agent may take to get the words that a person sends back.
const patience = 3 * time.Second

// Act does what a person decided, records it, and says what became of it.
func (d Desk) Act(ctx context.Context, s registry.Status, act reading.Act) (said string, err error) {
	list, err := d.List(ctx, s)
	if err != nil {
		return "", err
	}
	item, path := list.Item(act.Item), ""
	if act.Do == reading.RollBack && (item != nil || act.Item == "") { // else it has changed since a person saw it
		file := act.File
		if item != nil {
			file = cmp.Or(item.Path(), file)
		}
		item, path = list.OfFile(file)
		if err := refuseFile(s, list, file, item); err != nil {
			return "", err
		}
	}
	if item == nil {
		return "", cli.Refuse("'ralph review "+s.Name+" --json' lists them", "there is no item %q: its content may have changed", act.Item)
	}
	decision := reading.Decision{At: d.env.Now().UTC()}
	switch act.Do {
	case reading.Approve:
		decision.State, said = reading.Approved, "approved "+item.Place()
	case reading.SendBack:
		decision.State, decision.Words = reading.SentBack, strings.TrimSpace(act.Words)
		said, err = d.sendBack(s, item, decision.Words)
	case reading.RollBack:
		decision.State = reading.RolledBack
		said, err = d.rollBack(ctx, s, path, &decision)
	default:
		err = cli.Refuse("approve, send back or roll back", "%q is nothing that a review does", act.Do)
	}
	if err != nil {
		return said, err
	}
	return said, d.record(ctx, s, item, decision)
}

// refuseFile says why a file without an item is not put back.
func refuseFile(s registry.Status, list reading.List, file string, item *reading.Item) error {
	switch {
	case item != nil:
		return nil
	case list.Unknown != "":
		return cli.Refuse("'ralph status "+s.Name+"' shows the loop", "%q is not put back: which files changed is not known (%s)", file, list.Unknown)
	}
	return cli.Refuse("'ralph review "+s.Name+" --json' lists them", "%q is no file that loop %s changed", file, s.Name)
}

// record writes a decision. The state is read again: another window may have decided meanwhile.
func (d Desk) record(ctx context.Context, s registry.Status, item *reading.Item, decision reading.Decision) error {
	v, err := cli.View(s)
	if err != nil {
		return err
	}
	list, err := d.unmarked(ctx, s, v)
	if err != nil {
		return err
	}
	return reading.Alone(ctx, d.env.Home, func() error {
		state, err := reading.ReadState(d.env.Home, v.ID)
		if err != nil {
			return err
		}
		state.Decide(item, decision)
		list.Mark(state)
		state.Reviewed = list.Reviewed
		return state.Write(d.env.Home)
	})
}

// sendBack gives a person's words to the agent: a live loop has them with its next prompt, and one
// without a runner is resumed with them.
func (d Desk) sendBack(s registry.Status, item *reading.Item, words string) (string, error) {
	if words == "" {
		hint := fmt.Sprintf("write it as in 'ralph review %s --send-back %s \"use a table\"'", s.Name, units.Prefix(item.ID, shortID))
		return "", cli.Refuse(hint, "there are no words for the agent")
	}
	about := "A person read your work. About " + item.Place()
	if item.Kind != reading.Rest {
		about += " (" + strings.Join(item.Reasons, "; ") + ")"
	}
	if item.Kind == reading.Survivor || item.Kind == reading.Untried {
		about += ":\n" + item.Diff + "\n"
	}
	message := inbox.Command{Kind: inbox.FollowUp, Text: about + ": " + words}
	if s.Live.Alive {
		receipt, err := send.Deliver(d.env, s, message, patience)
		if err != nil {
			return "", err
		}
		return send.Message(receipt), nil
	}
	v, err := cli.View(s)
	if err != nil {
		return "", err
	}
	if err := send.Resume(d.env, s, v.Raise, message); err != nil {
		return "", err
	}
	return fmt.Sprintf("loop %s is running again; the words are in its next prompt", s.Name), nil
}

// rollBack puts a file back, and says how what was there comes back.
func (d Desk) rollBack(ctx context.Context, s registry.Status, path string, decision *reading.Decision) (string, error) {
	done, err := rollback.File(ctx, d.env, s, path)
	if err != nil {
		return "", err
	}
	if len(done.Files) == 0 {
		return "", cli.Refuse("'ralph diff "+s.Name+"' shows what differs", "%s was not put back: it is not kept, or it changed meanwhile", path)
	}
	decision.Kept = done.Ref
	decision.Back = fmt.Sprintf("ralph rollback %s %s", d.env.NameToType(s), done.Ref)
	return fmt.Sprintf("put back %s; '%s' brings back all files as they were", path, decision.Back), nil
}
