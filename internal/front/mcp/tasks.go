package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Tasks are the extension io.modelcontextprotocol/tasks, version 2026-07-28. A task is a loop that
// the client started: its id is that of the loop, and its state is computed from the loop's files,
// so a task outlives this server and needs no store.

const (
	tasksExtension = "io.modelcontextprotocol/tasks"
	// taskPoll is how often a client should ask for a task, in milliseconds.
	taskPoll = 5000
)

// The states of a task.
const (
	taskWorking   = "working"
	taskInput     = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// task is the state of a loop as the extension has it.
type task struct {
	ID      string    `json:"taskId"`
	Status  string    `json:"status"`
	Message string    `json:"statusMessage,omitempty"`
	Created time.Time `json:"createdAt"`
	Updated time.Time `json:"lastUpdatedAt"`
	TTL     *int64    `json:"ttlMs"` // null: as long as the loop's folder
	Poll    int       `json:"pollIntervalMs"`
}

// taskHandle answers a call in place of its result.
type taskHandle struct {
	sdk.ResultBase
	Type string `json:"resultType"` // task
	task
}

// taskResult answers tasks/get.
type taskResult struct {
	sdk.ResultBase
	Type string `json:"resultType"` // complete
	task
	Inputs sdk.InputRequestMap `json:"inputRequests,omitempty"`
	Result *sdk.CallToolResult `json:"result,omitempty"`
	Error  *taskError          `json:"error,omitempty"`
}

// taskError is why a loop failed, in the form of the protocol's errors.
type taskError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// codeInternal is the code of JSON-RPC for an error of the server.
const codeInternal = -32603

type taskParams struct {
	sdk.ParamsBase
	ID string `json:"taskId"`
}

type updateParams struct {
	sdk.ParamsBase
	ID     string               `json:"taskId"`
	Inputs sdk.InputResponseMap `json:"inputResponses"`
}

// acknowledged answers tasks/update and tasks/cancel.
type acknowledged struct {
	sdk.ResultBase
	Type string `json:"resultType"` // complete
}

// invalid is the error of a request about a task, which has no result that could say it.
func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: problem(err).Error()}
}

// addTasks offers the methods of the extension.
func (s *Server) addTasks() error {
	if err := sdk.AddReceivingCustomMethod(s.sdk, "tasks/get", s.getTask); err != nil {
		return err
	}
	if err := sdk.AddReceivingCustomMethod(s.sdk, "tasks/update", s.updateTask); err != nil {
		return err
	}
	return sdk.AddReceivingCustomMethod(s.sdk, "tasks/cancel", s.cancelTask)
}

// asTasks answers the start of a loop with a task, where the client has the extension.
func (s *Server) asTasks(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		call, ok := req.(*sdk.CallToolRequest)
		if err != nil || !ok || call.Params.Name != startTool || !hasTasks(call) {
			return result, err
		}
		begun, ok := result.(*sdk.CallToolResult)
		if !ok || begun.IsError {
			return result, nil
		}
		var loop struct{ ID string }
		text, err := json.Marshal(begun.StructuredContent)
		if err != nil || json.Unmarshal(text, &loop) != nil || loop.ID == "" {
			return result, nil
		}
		shown, err := s.taskLoop(loop.ID)
		if err != nil {
			return result, nil // the loop runs: the client gets what others get
		}
		return &taskHandle{Type: "task", task: taskOf(shown)}, nil
	}
}

// hasTasks reports whether the client may get a task. A client that speaks several versions
// declares the extension in each, and knows its results only in those that have it.
func hasTasks(call *sdk.CallToolRequest) bool {
	can := call.ClientCapabilities()
	if can == nil || call.ProtocolVersion() < stateless {
		return false
	}
	_, ok := can.Extensions[tasksExtension]
	return ok
}

// taskLoop returns the loop of a task. Only loops of the registry have one.
func (s *Server) taskLoop(id string) (Loop, error) {
	if !isID(id) {
		return Loop{}, invalid(cli.Refuse("take taskId of the answer to ralph_start", "there is no task %q", short(id)))
	}
	l, err := byID(s.view(), id)
	if err != nil {
		return Loop{}, invalid(err)
	}
	shown, err := show(l)
	if err != nil {
		return shown, invalid(err)
	}
	return shown, nil
}

func taskOf(l Loop) task {
	t := task{ID: l.ID, Status: taskWorking, Created: l.Found.Started.UTC(), Updated: l.At.UTC(), Poll: taskPoll, Message: l.NextStep}
	if t.Updated.Before(t.Created) {
		t.Updated = t.Created
	}
	if l.Ended == nil {
		if len(l.Questions) > 0 && l.Alive {
			t.Status = taskInput
		}
		return t
	}
	t.Message = l.Ended.Explained()
	switch {
	case l.Status == event.StatusCompleted:
		t.Status = taskCompleted
	case l.Status == event.StatusStopped && byPerson(l.Ended.Reason):
		t.Status = taskCancelled
	default:
		t.Status = taskFailed
	}
	return t
}

// byPerson reports whether a person or a client ended the loop.
func byPerson(r event.Reason) bool {
	return r == event.ReasonStop || r == event.ReasonKill || r == event.ReasonInterrupt
}

func (s *Server) getTask(ctx context.Context, _ *sdk.ServerSession, p *taskParams) (*taskResult, error) {
	release, err := s.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	shown, err := s.taskLoop(p.ID)
	if err != nil {
		return nil, err
	}
	result := &taskResult{Type: "complete", task: taskOf(shown)}
	switch result.Status {
	case taskInput:
		result.Inputs = sdk.InputRequestMap{}
		for _, q := range shown.Questions {
			result.Inputs[formKey(shown.ID, q.Number)] = formOf(shown.Name, q)
		}
	case taskCompleted:
		text, err := json.Marshal(shown)
		if err != nil {
			return nil, fmt.Errorf("encode the status: %w", err)
		}
		result.Result = &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: shown}
	case taskFailed:
		result.Error = &taskError{codeInternal, "the loop is " + shown.Status.String() + " (" + shown.Reason + "): " + shown.Ended.Why}
	}
	return result, nil
}

// changeTask carries out a request that changes the loop of a task.
func (s *Server) changeTask(ctx context.Context, id string, change func(registry.Status) error) (*acknowledged, error) {
	release, err := s.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if s.readOnly {
		return nil, invalid(onlyReads())
	}
	l, err := s.taskLoop(id)
	if err != nil {
		return nil, err
	}
	if err := change(l.Found); err != nil {
		return nil, invalid(err)
	}
	return &acknowledged{Type: "complete"}, nil
}

func (s *Server) updateTask(ctx context.Context, session *sdk.ServerSession, p *updateParams) (*acknowledged, error) {
	return s.changeTask(ctx, p.ID, func(l registry.Status) error {
		answers, err := answersIn(p.Inputs, l.ID)
		for _, c := range answers {
			if err == nil {
				_, err = s.giveTask(session, l, c)
			}
		}
		return err
	})
}

// answersIn returns the answers of a client to the questions of a task. One wrong key refuses all.
func answersIn(inputs sdk.InputResponseMap, task string) (answers []inbox.Command, err error) {
	if err := checkForms(inputs); err != nil {
		return nil, err
	}
	for key, filled := range inputs {
		id, number, ok := parseFormKey(key)
		if !ok || id != task {
			return nil, cli.Refuse("take the keys of inputRequests of this task", "%q is no request of task %s", short(key), task)
		}
		if text := answerIn(filled); text != "" {
			answers = append(answers, inbox.Command{Kind: inbox.Answer, Question: number, Text: text})
		}
	}
	return answers, nil
}

func (s *Server) cancelTask(ctx context.Context, session *sdk.ServerSession, p *taskParams) (*acknowledged, error) {
	return s.changeTask(ctx, p.ID, func(l registry.Status) error {
		_, err := s.giveTask(session, l, inbox.Command{Kind: inbox.StopNow})
		return err
	})
}

// giveTask sends a command of a client to the loop of a task.
func (s *Server) giveTask(session *sdk.ServerSession, l registry.Status, c inbox.Command) (commandOutput, error) {
	return giveTo(s.view(), &sdk.CallToolRequest{Session: session, Params: &sdk.CallToolParamsRaw{}}, l, c)
}
