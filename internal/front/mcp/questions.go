package mcp

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// question is one that a loop's agent asked while it worked on.
type question struct {
	Number  int       `json:"number" jsonschema:"what ralph_answer calls it"`
	Text    string    `json:"text"`
	Choices []string  `json:"choices,omitempty" jsonschema:"answers that the agent expects; any other text is an answer too"`
	Blocks  bool      `json:"blocks,omitempty" jsonschema:"the work is not done without an answer"`
	AskedAt time.Time `json:"askedAt"`
}

// openQuestions are those without an answer, oldest first.
func openQuestions(v projector.View) (open []question) {
	for _, q := range v.Questions {
		if q.Open() && len(open) < event.MaxQuestions {
			open = append(open, question{Number: q.Number, Text: long(q.Text), Choices: shorts(q.Choices), Blocks: q.Blocks, AskedAt: q.AskedAt})
		}
	}
	return open
}

type answerInput struct {
	loopInput
	Number int    `json:"number" jsonschema:"the question's number, as ralph_status shows it"`
	Text   string `json:"text" jsonschema:"the answer"`
}

func (s *Server) answer(_ context.Context, e *cli.Env, req *sdk.CallToolRequest, in answerInput) (commandOutput, error) {
	return give(e, req, in.Loop, inbox.Command{Kind: inbox.Answer, Question: in.Number, Text: strings.TrimSpace(in.Text)})
}

type askInput struct {
	Text    string   `json:"text" jsonschema:"the question"`
	Choices []string `json:"choices,omitempty" jsonschema:"answers that you expect, at most 16; a person may answer otherwise"`
	Blocks  bool     `json:"blocks,omitempty" jsonschema:"the work is not done without an answer"`
}

// ask asks a question of the loop that this server is a process of.
func (s *Server) ask(_ context.Context, e *cli.Env, req *sdk.CallToolRequest, in askInput) (commandOutput, error) {
	l, _, err := cli.CallingLoop(e, "")
	if err != nil {
		return commandOutput{}, err
	}
	return giveTo(e, req, l, inbox.Command{Kind: inbox.Ask, Text: strings.TrimSpace(in.Text), Choices: in.Choices, Blocks: in.Blocks})
}

// inLoop reports whether this server is a process of a loop's agent.
func (s *Server) inLoop() bool { return filepath.IsAbs(s.env.Variable(cli.LoopDirVariable)) }
