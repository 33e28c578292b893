package mcp

import (
	"context"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

type answerInput struct {
	loopInput
	Number int    `json:"number" jsonschema:"the question's number, as ralph_status shows it"`
	Text   string `json:"text" jsonschema:"the answer"`
}

func (s *Server) answer(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, in answerInput) (commandOutput, error) {
	return s.give(ctx, e, req, in.Loop, inbox.Command{Kind: inbox.Answer, Question: in.Number, Text: strings.TrimSpace(in.Text)})
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
