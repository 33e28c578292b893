package mcp

import (
	"cmp"
	"context"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Limits of what is shown, in characters and in numbers of things.
const (
	mostText  = 2000
	mostShort = 300
	mostItems = 20

	listUsual = 50
	listMost  = 200
)

// Loop is a loop in a list.
type Loop struct {
	ID      string `json:"id" jsonschema:"names the loop for good"`
	Name    string `json:"name"`
	Call    string `json:"call" jsonschema:"what to call it in the argument loop"`
	Project string `json:"project" jsonschema:"the folder that it works in"`
	Agent   string `json:"agent"`
	// Status is one of the statuses of docs/reference/format.md, died or gone.
	Status  string     `json:"status" jsonschema:"starting, running, waiting, paused, stopping, completed, stopped, failed, died where its runner is gone, or gone where its folder is"`
	Group   string     `json:"group" jsonschema:"needs you, working or ended"`
	Alive   bool       `json:"alive" jsonschema:"it has a runner now"`
	Reason  string     `json:"reason,omitempty" jsonschema:"why it ended"`
	Waiting string     `json:"waiting,omitempty" jsonschema:"for what, and until when"`
	Pending string     `json:"pending,omitempty" jsonschema:"a pause or stop that is still to come"`
	Exit    *int       `json:"exitCode,omitempty" jsonschema:"0 completed, 1 a limit, 3 failed, 4 needs a person, 130 stopped"`
	Used    int        `json:"iterations" jsonschema:"how many are used"`
	Maximum int        `json:"maximumIterations,omitempty"`
	Cost    *float64   `json:"cost" jsonschema:"USD; null where it is not known"`
	Started *time.Time `json:"started,omitempty"`
}

func loopOf(l listing.Loop, id string) Loop {
	shown := Loop{
		ID: id, Name: l.Name, Call: cli.Clean(l.Call), Project: cli.Clean(l.Project), Agent: short(l.Agent), Status: string(l.Status), Group: l.Group,
		Alive: l.Alive, Reason: short(l.Reason), Waiting: short(l.Waiting), Pending: short(l.Pending), Exit: l.ExitCode,
		Used: l.Counted, Maximum: l.MaximumIterations, Cost: l.Cost,
	}
	if isPath(l.Call) { // a client names no paths
		shown.Call = id
	}
	switch {
	case l.Gone:
		shown.Status = "gone"
	case l.Died:
		shown.Status = "died"
	}
	if !l.Started.IsZero() {
		shown.Started = &l.Started
	}
	return shown
}

func short(text string) string { return units.Cut(cli.Clean(text), mostShort) }

func long(text string) string { return units.Cut(cli.Clean(text), mostText) }

type listInput struct {
	All     bool   `json:"all,omitempty" jsonschema:"of this machine, not only of this project"`
	Running bool   `json:"running,omitempty" jsonschema:"only those that have a runner"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most so many, from 1 to 200; 50 without it"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"the next of an earlier answer"`
}

type listOutput struct {
	Loops []Loop `json:"loops"`
	Total int    `json:"total"`
	Next  string `json:"next,omitempty" jsonschema:"the cursor of the next page; none at the end"`
}

func (s *Server) list(_ context.Context, e *cli.Env, _ *sdk.CallToolRequest, in listInput) (listOutput, error) {
	limit, err := within("limit", in.Limit, listUsual, listMost)
	if err != nil {
		return listOutput{}, err
	}
	from, err := place(in.Cursor)
	if err != nil {
		return listOutput{}, err
	}
	found, err := listing.Find(e, listing.Options{All: in.All, Running: in.Running})
	if err != nil {
		return listOutput{}, err
	}
	out := listOutput{Loops: []Loop{}, Total: len(found)}
	from = min(from, len(found))
	to := min(from+limit, len(found))
	for i, l := range listing.JSON(e, found) {
		if from <= i && i < to {
			out.Loops = append(out.Loops, loopOf(l, found[i].ID))
		}
	}
	if to < len(found) {
		out.Next = strconv.Itoa(to)
	}
	return out, nil
}

// within returns a number that a client gave, or the usual one.
func within(name string, given, usual, most int) (int, error) {
	if given < 0 || given > most {
		return 0, cli.Refuse("give a number from 1 to "+strconv.Itoa(most)+", or leave it out", "%s is %d", name, given)
	}
	return cmp.Or(given, usual), nil
}

// place returns the number in a cursor.
func place(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	at, err := strconv.Atoi(cursor)
	if err != nil || at < 0 {
		return 0, cli.Refuse("take next of an earlier answer, or leave it out", "%q is no cursor", short(cursor))
	}
	return at, nil
}

// statusOutput is one loop.
type statusOutput struct {
	Loop
	Doing     string          `json:"doing,omitempty" jsonschema:"what the open iteration does"`
	Why       string          `json:"why,omitempty" jsonschema:"why it ended, in words"`
	Result    string          `json:"result,omitempty" jsonschema:"what the agent said at the end"`
	NextStep  string          `json:"nextStep,omitempty" jsonschema:"what a person or a client may do now"`
	TokensIn  *int64          `json:"tokensIn"`
	TokensOut *int64          `json:"tokensOut"`
	Checklist string          `json:"checklist,omitempty" jsonschema:"boxes of task.md that are ticked"`
	Stories   string          `json:"stories,omitempty" jsonschema:"stories of the plan that are done"`
	Commands  []pending       `json:"commands,omitempty" jsonschema:"received, and without effect so far"`
	Questions []question      `json:"questions,omitempty" jsonschema:"what the agent asks a person while it works on; ralph_answer answers"`
	Edited    []string        `json:"edited,omitempty" jsonschema:"files of guardrails and settings that the agent changed; a person has to accept that"`
	Last      *iterationShown `json:"lastIteration,omitempty"`
	Resources []string        `json:"resources" jsonschema:"URIs of its state and its report"`
}

type pending struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	From string `json:"from,omitempty"`
}

type iterationShown struct {
	Number  int      `json:"number"`
	Outcome string   `json:"outcome"`
	Error   string   `json:"error,omitempty"`
	Summary string   `json:"summary,omitempty" jsonschema:"the beginning of what the agent said last"`
	Failed  []string `json:"failedGuardrails,omitempty"`
	Commit  string   `json:"commit,omitempty"`
	Refused []string `json:"claimRefused,omitempty" jsonschema:"what is missing from the claim that the work is done"`
}

func (s *Server) status(_ context.Context, e *cli.Env, req *sdk.CallToolRequest, in loopInput) (statusOutput, error) {
	asked, err := s.takeForms(e, req)
	if err != nil {
		return statusOutput{}, err
	}
	l, err := find(e, cmp.Or(asked, in.Loop))
	if err != nil {
		return statusOutput{}, err
	}
	shown, err := show(e, l)
	if err == nil && len(req.Params.InputResponses) == 0 {
		err = s.form(e, req, l, shown.Questions)
	}
	return shown, err
}

// show describes one loop.
func show(e *cli.Env, l registry.Status) (statusOutput, error) {
	folded, err := projector.Load(l.Dir)
	if err != nil {
		return statusOutput{}, err
	}
	v := folded.View()
	if v.Seq > l.Head.Seq { // the view has events that state.json does not have yet
		l.Head = v.Summary
		l.Died = !l.Live.Alive && !l.Head.Status.Ended()
	}
	out := statusOutput{
		Loop: loopOf(listing.JSON(e, []registry.Status{l})[0], l.ID), Doing: short(v.Doing), TokensIn: v.TokensIn, TokensOut: v.TokensOut,
		Resources: []string{uriOf(l.ID, stateResource), uriOf(l.ID, reportResource)},
		Questions: openQuestions(v),
	}
	out.Call = l.ID
	if v.Boxes > 0 {
		out.Checklist = strconv.Itoa(v.Ticked) + " of " + strconv.Itoa(v.Boxes)
	}
	if v.Stories > 0 {
		out.Stories = strconv.Itoa(v.StoriesDone) + " of " + strconv.Itoa(v.Summary.Stories)
	}
	for _, c := range v.Commands[:min(len(v.Commands), mostItems)] {
		out.Commands = append(out.Commands, pending{Kind: string(c.Kind), Text: short(c.Text), From: short(c.From)})
	}
	for _, f := range v.Edited[:min(len(v.Edited), mostItems)] {
		out.Edited = append(out.Edited, short(f.Path))
	}
	if v.Ended != nil {
		out.Why, out.Result = long(v.Ended.Why), long(v.Ended.Result)
	}
	out.NextStep = nextStep(l, v)
	if last := v.Last; last != nil {
		out.Last = &iterationShown{
			Number: last.N, Outcome: string(last.Outcome), Error: short(last.Error), Summary: long(last.Summary),
			Failed: shorts(last.Failed), Refused: shorts(last.Refused),
		}
		if last.Commit != nil {
			out.Last.Commit = short(last.Commit.SHA + " " + last.Commit.Subject)
		}
	}
	return out, nil
}

func shorts(texts []string) (cut []string) {
	for _, text := range texts[:min(len(texts), mostItems)] {
		cut = append(cut, short(text))
	}
	return cut
}

// nextStep says what may be done about a loop that does not work.
func nextStep(l registry.Status, v projector.View) string {
	switch {
	case l.Died:
		return "its runner is gone: ralph_start with resume continues it"
	case v.Ended != nil:
		return asTools(short(client.NextStep(l.Name, v.Ended)))
	case len(openQuestions(v)) > 0:
		return "it asks a person: ralph_answer answers question " + strconv.Itoa(openQuestions(v)[0].Number)
	case listing.WaitsForPerson(l):
		return "it waits for a person: ralph_steer sends the answer"
	}
	return ""
}
