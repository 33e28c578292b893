package hook

import (
	"errors"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// An Input is what an agent writes to a hook. Fields that it does not send are empty.
type Input struct {
	Event          string // hook_event_name: Stop, PostToolUse …
	Session        string // session_id
	Transcript     string // transcript_path; foreign, may name anything
	Cwd            string
	Turn           string // turn_id; only Codex sends it
	Model          string // only Codex sends it
	PermissionMode string
	Subagent       string // agent_id: set only in a subagent
	Prompt         string // of UserPromptSubmit: what the person wrote
	Source         string // of SessionStart: startup, resume, clear, compact
	LastMessage    string // last_assistant_message of Stop
	StopHookActive bool   // an earlier stop of this turn was blocked

	Tool      string // tool_name
	ToolInput []byte // the JSON of tool_input; nil if there is none
}

// FromCodex reports whether the agent is Codex and not Claude Code.
func (in Input) FromCodex() bool { return in.Turn != "" }

// Command returns the shell command of a tool call, as both agents' Bash tools name it; "" if there
// is none.
func (in Input) Command() string { return jsonscan.Unquote(jsonscan.Get(in.ToolInput, "command")) }

const (
	mostInput = 64 << 20        // bytes on the standard input; a tool's answer is part of it
	inputTime = 5 * time.Second // for an agent that leaves the pipe open
)

var (
	errNoInput   = errors.New("no hook input on the standard input: an agent calls this, with JSON")
	errLongInput = errors.New("the hook input is too large")
	errLateInput = errors.New("the hook input does not end")
)

// ReadInput reads the JSON of one hook call. It ends after five seconds, also if r does not.
func ReadInput(r io.Reader) (Input, error) { return readInput(r, mostInput) }

// readInput is ReadInput of at most this number of bytes.
func readInput(r io.Reader, most int) (Input, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
		done <- result{data, err}
	}()
	timer := time.NewTimer(inputTime)
	defer timer.Stop()
	select {
	case got := <-done:
		switch {
		case got.err != nil:
			return Input{}, got.err
		case len(got.data) > most:
			return Input{}, errLongInput
		}
		return ParseInput(got.data)
	case <-timer.C:
		return Input{}, errLateInput
	}
}

// ParseInput reads a hook's JSON object. Fields of another type than expected are left empty.
func ParseInput(data []byte) (Input, error) {
	if len(data) == 0 {
		return Input{}, errNoInput
	}
	var doc jsonscan.Document
	v, err := doc.Read(data)
	if err != nil {
		return Input{}, err
	}
	if !v.IsObject() {
		return Input{}, errNoInput
	}
	text := func(key string) string { return v.Get(key).Text() }
	in := Input{
		Event: text("hook_event_name"), Session: text("session_id"), Transcript: text("transcript_path"),
		Cwd: text("cwd"), Turn: text("turn_id"), Model: text("model"), PermissionMode: text("permission_mode"),
		Subagent: text("agent_id"), Prompt: text("prompt"), Source: text("source"), LastMessage: text("last_assistant_message"),
		StopHookActive: v.Get("stop_hook_active").IsTrue(), Tool: text("tool_name"),
	}
	if given := v.Get("tool_input"); given.Exists() {
		in.ToolInput = given.Raw()
	}
	return in, nil
}
