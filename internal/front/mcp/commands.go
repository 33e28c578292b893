package mcp

import (
	"context"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// maxMessage is the longest message to an agent, in bytes.
const maxMessage = 64 << 10

// patience is how long a call waits for the delivery of a command that the loop has received.
const patience = 3 * time.Second

// commandOutput is what became of a command.
type commandOutput struct {
	Loop      string `json:"loop" jsonschema:"the loop's id"`
	Command   string `json:"command" jsonschema:"the command's id"`
	Outcome   string `json:"outcome" jsonschema:"received or delivered"`
	How       string `json:"how,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
	Question  int    `json:"question,omitempty" jsonschema:"the number of the question that was asked or answered"`
	Message   string `json:"message"`
}

type steerInput struct {
	loopInput
	Text string `json:"text" jsonschema:"what the agent is to know"`
	When string `json:"when,omitempty" jsonschema:"now (without it): in the middle of its turn where that is possible; next: with its next prompt"`
}

func (s *Server) steer(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, in steerInput) (commandOutput, error) {
	kind := inbox.Steer
	switch in.When {
	case "", "now":
	case "next":
		kind = inbox.FollowUp
	default:
		return commandOutput{}, cli.Refuse("say now or next", "when is %q", short(in.When))
	}
	return s.give(ctx, e, req, in.Loop, inbox.Command{Kind: kind, Text: strings.TrimSpace(in.Text)})
}

type stopInput struct {
	loopInput
	Now bool `json:"now,omitempty" jsonschema:"do not wait for the end of the iteration"`
}

func (s *Server) stop(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, in stopInput) (commandOutput, error) {
	kind := inbox.Stop
	if in.Now {
		kind = inbox.StopNow
	}
	return s.give(ctx, e, req, in.Loop, inbox.Command{Kind: kind})
}

// give sends a command to the loop that a client names, and reports the outcome.
func (s *Server) give(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, name string, c inbox.Command) (commandOutput, error) {
	if len(c.Text) > maxMessage {
		return commandOutput{}, cli.Refuse("write it into a file of the project and name the file", "the text has more than %s", units.Bytes(maxMessage))
	}
	if there, distant, err := s.elsewhere(ctx, name); err != nil || there != nil {
		return giveElsewhere(e, there, distant, c, err)
	}
	l, err := find(e, name)
	if err != nil {
		return commandOutput{}, err
	}
	return giveTo(e, req, l, c)
}

// giveTo sends a command to a loop, and reports the outcome.
func giveTo(e *cli.Env, req *sdk.CallToolRequest, l registry.Status, c inbox.Command) (commandOutput, error) {
	c.From = sender(e, l, req.ClientInfo())
	if err := c.Check(); err != nil {
		return commandOutput{}, cli.Refuse("the description of the tool says what it takes", "%w", err)
	}
	sent, err := send.Deliver(e, l, c, patience)
	if err != nil {
		return commandOutput{}, err
	}
	return commandOutput{
		Loop: l.ID, Command: sent.ID, Outcome: string(sent.Outcome), How: string(sent.How), Iteration: sent.Iteration,
		Question: sent.Question, Message: asTools(short(send.Message(sent))),
	}, nil
}

// sender names the program that gave a command. The agent of a loop is named as such, so that it
// cannot speak for a person.
func sender(e *cli.Env, l registry.Status, client *sdk.Implementation) string {
	if send.IsOwnAgent(e, l) {
		return event.FromAgent
	}
	name := "client"
	if client != nil && client.Name != "" {
		name = client.Name
	}
	return "mcp:" + units.Prefix(cli.Clean(strings.Join(strings.Fields(name), "-")), mostSender)
}

// mostSender is how much of a client's name is recorded, in bytes.
const mostSender = 64
