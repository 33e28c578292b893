package hook

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"
)

// A Kind is one of the verbs 'ralph hook KIND'.
type Kind string

// The hooks that ralph answers.
const (
	Stop         Kind = "stop"
	PostToolUse  Kind = "post-tool-use"
	PreToolUse   Kind = "pre-tool-use"
	SessionStart Kind = "session-start"
	UserPrompt   Kind = "user-prompt-submit"
)

// event is the name that agents give to the event.
func (k Kind) event() string {
	return map[Kind]string{
		Stop: "Stop", PostToolUse: "PostToolUse", PreToolUse: "PreToolUse", SessionStart: "SessionStart", UserPrompt: "UserPromptSubmit",
	}[k]
}

// An Env is what a hook sees of its process.
type Env struct {
	Home     string // ralph's own home
	Cwd      string // of the hook's process; used where the agent sends none
	Variable func(name string) string
	Now      func() time.Time
}

// An answerer answers one kind of hook. With an error, its Reply is still the answer.
type answerer func(ctx context.Context, e Env, in Input) (Reply, error)

var answerers = map[Kind]answerer{
	Stop:         stop,
	PostToolUse:  postToolUse,
	PreToolUse:   preToolUse,
	SessionStart: sessionStart,
	UserPrompt:   userPrompt,
}

// Answer reads one hook call and writes the answer to it. An error is for stderr only: what was
// written is the answer that the hook has documented for that failure.
func Answer(ctx context.Context, e Env, kind Kind, stdin io.Reader, stdout io.Writer) (err error) {
	in, err := ReadInput(stdin)
	in.Cwd = cmp.Or(in.Cwd, e.Cwd)
	var reply Reply
	switch {
	case err == nil:
		reply, err = answerers[kind](ctx, e, in)
	case kind == PreToolUse:
		reply = unreadableToolUse(e, err)
	}
	if err != nil {
		err = fmt.Errorf("hook %s: %w", kind, err)
	}
	if _, failed := stdout.Write(reply.JSON(cmp.Or(in.Event, kind.event()))); failed != nil {
		return fmt.Errorf("hook %s: write the answer: %w", kind, failed)
	}
	return err
}
