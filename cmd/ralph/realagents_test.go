//go:build realagents && unix

// These stories run the real agents against a scripted model: run
// tools/agents/install.sh first, then go test -tags realagents ./cmd/ralph.
package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// real is one real agent under a detached loop.
type real struct {
	t       *testing.T
	ralph   string
	project string
	env     []string
	server  *modelserver.Server

	unpriced bool // the agent does not say what it costs
}

func newReal(t *testing.T, script modelserver.Script) *real {
	t.Helper()
	r := &real{t: t, ralph: filepath.Join(t.TempDir(), "ralph"), project: t.TempDir()}
	// The test binary acts as ralph if its name is ralph: see TestMain. A symbolic link would
	// resolve to its own name, and a copy may be busy: a test that forks meanwhile holds it open
	// for writing.
	self, err := os.Executable()
	if err == nil {
		err = os.Link(self, r.ralph)
	}
	if err != nil {
		t.Fatalf("make ralph of the test binary: %v", err)
	}
	r.server = modelserver.Start(t, script)
	return r
}

// begin uses the agent's environment with a ralph home of its own.
func (r *real) begin(env []string) {
	home := filepath.Join(r.project, "ralph-home")
	r.env = append(env, "RALPH_HOME="+home)
	r.t.Cleanup(func() { endRunners(home) })
}

// run runs ralph and returns what it printed to stdout.
func (r *real) run(args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.ralph, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(r.dir(), "runner.log"))
		r.t.Fatalf("ralph %s: %v\n%s%s%s", strings.Join(args, " "), err, out, stderr.String(), log)
	}
	return string(out)
}

func (r *real) dir() string { return filepath.Join(r.project, ".ralph", "night") }

// until follows the journal from its beginning to the first event that fits.
func (r *real) until(what string, fits func(event.Event) bool) event.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for e, err := range journal.Follow(ctx, r.dir(), journal.FollowOptions{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if fits(e) {
			return e.Clone()
		}
		if e.Type == event.TypeLoopEnded {
			r.t.Fatalf("the loop ended before %s: %s", what, e.Data())
		}
	}
	r.t.Fatalf("no %s within a minute", what)
	return event.Event{}
}

// waitTool is a command that runs until the test makes the file "go" in the project. The test sees
// when a steer is decided; the second is time for it to reach the agent, which most agents do not
// report before the tool is over.
const waitTool = `echo tool-begins; until [ -e go ]; do sleep 0.05; done; sleep 1; echo tool-ends`

// twoIterations returns a script. In the first context it answers with a tool that waits, then
// words without a claim; in the second, a tool, then the promise.
func twoIterations(t *testing.T) modelserver.Script {
	return func(req modelserver.Request) modelserver.Step {
		spoken := 0
		for _, m := range req.Messages {
			if m.Role == modelserver.Assistant {
				spoken++
			}
		}
		usage := modelserver.Usage{In: 1000, Out: 100}
		second := req.Holds("SECOND-WORD")
		switch {
		case spoken == 0 && second:
			return modelserver.Step{Text: "Looking again.", Tools: []modelserver.ToolCall{modelserver.Bash("echo again")}, Usage: usage}
		case spoken == 0:
			return modelserver.Step{Text: "FIRST-ANSWER", Tools: []modelserver.ToolCall{modelserver.Bash(waitTool)}, Usage: usage}
		case second:
			return modelserver.Step{Text: "All done.\n\n<promise>COMPLETE</promise>", Usage: usage}
		}
		return modelserver.Step{Text: "I heard you; more to do.", Usage: usage}
	}
}

// steerTwoIterations is the story that each agent has to pass: a detached loop, a steer in the
// middle of a tool that reaches the model, a second iteration with a fresh context, completion.
func (r *real) steerTwoIterations(start ...string) {
	t := r.t
	r.run(append([]string{"start", "night", "--detach", "-p", "FIRST-PROMPT: do the task"}, start...)...)
	r.until("the tool's call", func(e event.Event) bool { return e.Type == event.TypeToolCalled })
	steer := r.run("steer", "--loop", "night", "--wait", "0s", "--json", "STEER-WORD use the other branch")
	var outcome client.Receipt
	if err := json.Unmarshal([]byte(steer), &outcome); err != nil {
		t.Fatalf("steer said %q: %v", steer, err)
	}
	r.run("follow-up", "--loop", "night", "--wait", "0s", "SECOND-WORD then the docs")
	r.until("the steer's decision", func(e event.Event) bool {
		return e.Type == event.TypeDecided && strings.Contains(string(e.Data()), outcome.ID)
	})
	testfile.Write(t, filepath.Join(r.project, "go"), "")
	delivered := r.until("the steer's delivery", func(e event.Event) bool {
		return e.Type == event.TypeCommandDelivered && strings.Contains(string(e.Data()), outcome.ID)
	})
	if p, err := event.As[event.CommandDelivered](delivered); err != nil || p.How != "live" || delivered.Iter != 1 {
		t.Errorf("the steer was delivered as %s in iteration %d", delivered.Data(), delivered.Iter)
	}
	r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
	r.checkRequests()
	r.checkState()
	r.run("journal", "verify", "night")
}

// checkRequests checks what the model was sent.
func (r *real) checkRequests() {
	t := r.t
	requests := r.server.Requests()
	var first, second int
	steered := false
	for _, req := range requests {
		if req.Holds("SECOND-WORD") {
			second++
			for _, stale := range []string{"STEER-WORD", "FIRST-ANSWER", "tool-begins"} {
				if strings.Contains(string(req.Body), stale) {
					t.Errorf("a request of the second iteration holds %q of the first", stale)
				}
			}
			continue
		}
		first++
		if req.Holds("STEER-WORD") {
			steered = true
			if !req.Holds("tool-ends") {
				t.Error("the steer reached the model before the tool's end")
			}
		}
	}
	if first < 2 || second != 2 || !steered {
		t.Errorf("%d requests in the first iteration, %d in the second, steer reached the model: %v", first, second, steered)
	}
}

// checkState compares the usage that the loop reports with the model's.
func (r *real) checkState() {
	t := r.t
	s, err := loopstate.Rebuild(r.dir())
	if err != nil {
		t.Fatal(err)
	}
	if s.Lifecycle.Ended == nil || s.Lifecycle.Ended.Reason != event.ReasonPromise || s.Lifecycle.Iteration != 2 {
		t.Fatalf("the loop ended as %+v in iteration %d", s.Lifecycle.Ended, s.Lifecycle.Iteration)
	}
	n := int64(len(r.server.Requests()))
	if used := s.Budget.Used(); used.In != 1000*n || used.Out != 100*n || (used.USD != nil && *used.USD > 0) == r.unpriced {
		t.Errorf("%d requests of 1000 and 100 tokens are accounted for as %+v", n, used)
	}
}

func TestRealPi(t *testing.T) {
	r := newReal(t, twoIterations(t))
	env, flags := modelserver.PiHome(t, r.server)
	r.begin(env)
	// The dialect adds --no-session itself; the loop has to choose the model.
	r.steerTwoIterations("--agent", filepath.Join(modelserver.AgentBin(t), "pi"), "--model", flags[len(flags)-1])
}

func TestRealClaude(t *testing.T) {
	r := newReal(t, twoIterations(t))
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.steerTwoIterations("--agent", filepath.Join(modelserver.AgentBin(t), "claude"), "--set", "agents.claude.passKeys=true")
}

// An answer that takes longer than limits.idle is seen while it is written, and is not cut short.
func TestRealClaudeStreams(t *testing.T) {
	const text = "one two three four five six seven eight nine ten eleven\n\n<promise>COMPLETE</promise>"
	written := make(chan struct{})
	r := newReal(t, besides(func(modelserver.Request) modelserver.Step {
		return modelserver.Step{Text: text, Chunks: 12, Delay: time.Second, UntilEnd: written}
	}))
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.run("start", "night", "--detach", "-p", "FIRST-PROMPT", "--set", "limits.idle=8s", "--set", "completion.minToolCalls=0",
		"--agent", filepath.Join(modelserver.AgentBin(t), "claude"), "--set", "agents.claude.passKeys=true")
	said := ""
	r.until("all of the text, before the message is whole", func(e event.Event) bool {
		if p, err := event.As[event.AgentSaid](e); err == nil && e.Type == event.TypeAgentSaid {
			said += p.Text.String()
		}
		return strings.Contains(said, "eleven")
	})
	close(written)
	r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
	said = ""
	for _, e := range r.events() {
		if e.Type != event.TypeAgentSaid {
			continue
		}
		p, err := event.As[event.AgentSaid](e)
		if err != nil {
			t.Fatal(err)
		}
		if said += p.Text.String(); len(e.Raw()) > 0 && !p.Final {
			t.Errorf("the line of a piece is kept: %s", e.Raw())
		}
	}
	s, err := loopstate.Rebuild(r.dir())
	if err != nil {
		t.Fatal(err)
	}
	if said != text || s.Lifecycle.Ended.Reason != event.ReasonPromise || s.Lifecycle.Iteration != 1 {
		t.Errorf("it said %q; %+v in iteration %d", said, s.Lifecycle.Ended, s.Lifecycle.Iteration)
	}
}

// The first iteration continues an earlier session. If it is given back, so does the one that
// replaces it. Later ones begin new sessions, and the earlier session itself does not change.
func TestRealEarlierSession(t *testing.T) {
	const id = "6f1e2c1a-3f0b-4c1e-9a53-0d6a1b9f2e77"
	for name, row := range map[string]struct {
		agent func(*testing.T, modelserver.Script) (*real, []string)
		set   []string // for the loop
		flags []string // of the session before it
	}{
		"claude": {func(t *testing.T, s modelserver.Script) (*real, []string) { return realClaude(t, s) }, nil, nil},
		"pi":     {realPi, []string{"--set", "agents.pi.sessionDir=sessions"}, []string{"--session-dir", "sessions"}},
	} {
		t.Run(name, func(t *testing.T) {
			var begun, failed atomic.Bool
			r, start := row.agent(t, besides(func(modelserver.Request) modelserver.Step {
				switch {
				case !begun.Load():
					return modelserver.Step{Text: "EARLIER-ANSWER"}
				case !failed.Swap(true):
					return modelserver.Failed(529)
				}
				return modelserver.Step{Text: "more to do"}
			}))
			before := exec.CommandContext(t.Context(), start[1], append(row.flags, "-p", "--session-id", id, "EARLIER-WORD")...)
			before.Dir, before.Env = r.project, r.env
			if at := slices.Index(start, "--model"); at >= 0 {
				before.Args = append(before.Args, start[at:at+2]...)
			}
			if out, err := before.CombinedOutput(); err != nil || !strings.Contains(string(out), "EARLIER-ANSWER") {
				t.Fatalf("%v\n%s", err, out)
			}
			asked := len(r.server.Requests())
			begun.Store(true)
			r.run(slices.Concat([]string{"start", "night", "--detach", "-m", "2", "-p", "FIRST-PROMPT", "--set", "agents." + name + ".session=" + id}, row.set, start)...)
			r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
			var held []bool
			for _, req := range r.server.Requests()[asked:] {
				if req.Holds("FIRST-PROMPT") {
					held = append(held, req.Holds("EARLIER-ANSWER"))
				}
			}
			if !slices.Equal(held, []bool{true, true, false}) {
				t.Errorf("requests that hold the earlier session: %v", held)
			}
		})
	}
}

func TestRealCodex(t *testing.T) {
	r := newReal(t, twoIterations(t))
	program, env := modelserver.CodexHome(t, r.server)
	r.begin(env)
	r.unpriced = true
	r.steerTwoIterations("--agent", program)
	var pids []int
	for _, e := range r.events() {
		if e.Type != event.TypeAgentStarted {
			continue
		}
		p, err := event.As[event.AgentStarted](e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(p.Argv[0], ".js") || p.Argv[0] == program {
			t.Errorf("the native program is not the one that runs: %s", p.Argv[0])
		}
		pids = append(pids, p.PID)
	}
	if len(pids) != 2 || pids[0] != pids[1] {
		t.Errorf("two iterations in processes %v, want one process", pids)
	}
}

// With a Codex whose app-server is too old, ralph uses `codex exec`: two iterations in two
// processes, and a steer in mid-turn is in the next prompt.
func TestRealCodexWithoutServer(t *testing.T) {
	r := newReal(t, twoIterations(t))
	_, env := modelserver.CodexHome(t, r.server)
	r.begin(env)
	r.unpriced = true
	r.run("start", "night", "--detach", "-p", "FIRST-PROMPT: do the task", "--agent", modelserver.OldCodex(t))
	r.until("the tool's call", func(e event.Event) bool { return e.Type == event.TypeToolCalled })
	r.run("steer", "--loop", "night", "--wait", "0s", "SECOND-WORD use the other branch")
	testfile.Write(t, filepath.Join(r.project, "go"), "")
	r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
	r.checkState()
	var pids, fallbacks []string
	for _, e := range r.events() {
		switch e.Type {
		case event.TypeAgentStarted:
			p, err := event.As[event.AgentStarted](e)
			if err != nil || p.Live || p.Reused || p.Argv[1] != "exec" || strings.HasSuffix(p.Argv[0], ".js") {
				t.Errorf("started as %+v, %v", p, err)
			}
			pids = append(pids, strconv.Itoa(p.PID))
		case event.TypeAgentNoticed:
			if p, err := event.As[event.AgentNoticed](e); err == nil && p.What == event.NoticeFallback {
				fallbacks = append(fallbacks, p.Text)
			}
		}
	}
	if len(pids) != 2 || len(fallbacks) != 1 || !strings.Contains(fallbacks[0], "codex exec works instead") {
		t.Errorf("processes %v, fallbacks %q", pids, fallbacks)
	}
	for _, req := range r.server.Requests() {
		if req.Holds("SECOND-WORD") && req.Holds("FIRST-ANSWER") {
			t.Error("the second iteration goes on with the first one's context")
		}
	}
	r.run("journal", "verify", "night")
}

// events returns all events of the loop, up to its end.
func (r *real) events() []event.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	var all []event.Event
	for e, err := range journal.Follow(ctx, r.dir(), journal.FollowOptions{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if all = append(all, e.Clone()); e.Type == event.TypeLoopEnded {
			return all
		}
	}
	r.t.Fatal("the loop did not end within a minute")
	return nil
}

// exits runs one iteration in the foreground and returns what ralph said on stderr and its exit
// code.
func (r *real) exits(args ...string) (stderr string, code int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	args = append([]string{"run", "--name", "night", "-m", "1", "-p", "do the task"}, args...)
	cmd := exec.CommandContext(ctx, r.ralph, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		r.t.Fatal(err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}

// once fails the first request; later ones get a tool and then the promise.
func once(fault func() modelserver.Step) modelserver.Script { return failing(1, fault) }

// failing fails so many requests, the first ones.
func failing(times int64, fault func() modelserver.Step) modelserver.Script {
	work := modelserver.PerContext(
		modelserver.Step{Text: "On it.", Tools: []modelserver.ToolCall{modelserver.Bash("echo work")}},
		modelserver.Step{Text: "All done.\n\n<promise>COMPLETE</promise>"},
	)
	var asked atomic.Int64
	return func(req modelserver.Request) modelserver.Step {
		if asked.Add(1) <= times {
			return fault()
		}
		return work(req)
	}
}

func always(step modelserver.Step) modelserver.Script {
	return func(modelserver.Request) modelserver.Step { return step }
}

// realPi runs pi without retries of its own: by default it takes 14 s to give up.
func realPi(t *testing.T, script modelserver.Script) (r *real, flags []string) {
	t.Helper()
	r = newReal(t, script)
	env, flags := modelserver.PiHome(t, r.server)
	for _, entry := range env {
		if dir, ok := strings.CutPrefix(entry, "PI_CODING_AGENT_DIR="); ok {
			testfile.Write(t, filepath.Join(dir, "settings.json"), `{"retry":{"enabled":false}}`)
		}
	}
	r.begin(env)
	return r, []string{"--agent", filepath.Join(modelserver.AgentBin(t), "pi"), "--model", flags[len(flags)-1]}
}

// realClaude runs Claude Code without retries of its own: by default it makes ten.
func realClaude(t *testing.T, script modelserver.Script, extra ...string) (r *real, flags []string) {
	t.Helper()
	r = newReal(t, script)
	r.begin(append(append(modelserver.ClaudeHome(t, r.server), "CLAUDE_CODE_MAX_RETRIES=0"), extra...))
	return r, []string{"--agent", filepath.Join(modelserver.AgentBin(t), "claude"), "--set", "agents.claude.passKeys=true"}
}

// realCodex runs Codex without retries of its own: by default it makes five.
func realCodex(t *testing.T, script modelserver.Script) (r *real, flags []string) {
	t.Helper()
	return realCodexRetrying(t, script, 0)
}

func realCodexRetrying(t *testing.T, script modelserver.Script, retries int) (r *real, flags []string) {
	t.Helper()
	r = newReal(t, script)
	program, env := modelserver.CodexHome(t, r.server)
	r.begin(env)
	const provider = " -c model_providers." + modelserver.CodexProvider
	return r, []string{"--agent", program + provider + ".request_max_retries=0" + provider + ".stream_max_retries=" + strconv.Itoa(retries)}
}

// outlives is the story of a fault that passes: its iteration is given back, since only one is
// allowed, and the next one does the work.
func (r *real) outlives(kind event.FaultKind, flags []string) (limited event.AgentLimited) {
	t := r.t
	if stderr, code := r.exits(flags...); code != 0 {
		t.Errorf("ralph ended with %d: %s", code, stderr)
	}
	var outcomes []event.Outcome
	for _, e := range r.events() {
		switch e.Type {
		case event.TypeAgentLimited:
			p, err := event.As[event.AgentLimited](e)
			if err != nil {
				t.Fatal(err)
			}
			limited = p
		case event.TypeIterationEnded:
			p, err := event.As[event.IterationEnded](e)
			if err != nil {
				t.Fatal(err)
			}
			if outcomes = append(outcomes, p.Outcome); p.Outcome == event.OutcomeLimited && !p.Refunded {
				t.Error("the iteration was not given back")
			}
		}
	}
	if !slices.Equal(outcomes, []event.Outcome{event.OutcomeLimited, event.OutcomeDone}) || limited.Kind != kind {
		t.Errorf("the iterations ended %q, limited by %+v", outcomes, limited)
	}
	return limited
}

func TestRealFaultsThatPass(t *testing.T) {
	type agent func(*testing.T, modelserver.Script) (*real, []string)
	claude := func(t *testing.T, s modelserver.Script) (*real, []string) { return realClaude(t, s) }
	limited := func() modelserver.Step { return modelserver.Limited(time.Hour) }
	failed := func(status int) func() modelserver.Step {
		return func() modelserver.Step { return modelserver.Failed(status) }
	}
	// Codex names the kind of fault of a broken stream while it tries again.
	codexCutOff := func(t *testing.T, s modelserver.Script) (*real, []string) {
		return realCodexRetrying(t, func(req modelserver.Request) modelserver.Step {
			if req.N == 2 {
				return modelserver.Step{Drop: true}
			}
			return s(req)
		}, 1)
	}
	// Codex distinguishes a full server from a broken one by the code in the body.
	overloaded := func() modelserver.Step {
		return modelserver.Step{Status: 503, Body: `{"error":{"code":"server_is_overloaded","message":"at capacity"}}`}
	}
	for name, row := range map[string]struct {
		agent agent
		fault func() modelserver.Step
		kind  event.FaultKind
	}{
		"pi, a rate limit":     {realPi, limited, event.KindRate},
		"pi, overloaded":       {realPi, failed(529), event.KindOverload},
		"pi, out of order":     {realPi, failed(503), event.KindOverload},
		"pi, cut off":          {realPi, func() modelserver.Step { return modelserver.Step{Drop: true} }, event.KindNetwork},
		"claude, a rate limit": {claude, limited, event.KindRate},
		"claude, overloaded":   {claude, failed(529), event.KindOverload},
		"claude, out of order": {claude, failed(503), event.KindOverload},
		"claude, cut off":      {claude, func() modelserver.Step { return modelserver.Step{Drop: true} }, event.KindNetwork},
		"codex, a rate limit":  {realCodex, limited, event.KindRate},
		"codex, overloaded":    {realCodex, overloaded, event.KindOverload},
		"codex, out of order":  {realCodex, failed(503), event.KindOverload},
		"codex, cut off":       {codexCutOff, func() modelserver.Step { return modelserver.Step{Drop: true} }, event.KindNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			r, flags := row.agent(t, once(row.fault))
			r.outlives(row.kind, flags)
		})
	}
}

// A subscription's limit says when it ends, and the loop waits until then.
func TestRealClaudeWaitsForSubscription(t *testing.T) {
	var until time.Time
	r, flags := realClaude(t, once(func() modelserver.Step {
		until = time.Now().Add(3 * time.Second).Truncate(time.Second)
		reset := strconv.FormatInt(until.Unix(), 10)
		step := modelserver.Limited(time.Hour)
		for name, value := range map[string]string{
			"status": "rejected", "reset": reset, "representative-claim": "five_hour", "5h-status": "rejected", "5h-reset": reset,
		} {
			step.Header["anthropic-ratelimit-unified-"+name] = value
		}
		return step
	}), "CLAUDE_CODE_OAUTH_TOKEN=made-up-token")
	// Without the key Claude takes the token, which only subscriptions have.
	r.env = slices.DeleteFunc(r.env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	limited := r.outlives(event.KindRate, flags)
	if limited.Until != until.UTC().Format(time.RFC3339) {
		t.Errorf("limited until %s, want %s", limited.Until, until.UTC())
	}
	for _, e := range r.events() {
		if e.Type == event.TypeIterationStarted && e.Iter == 2 && e.At.Before(until) {
			t.Errorf("the next iteration began at %s, before %s", e.At, until)
		}
	}
}

// A ChatGPT account's window says when it is open again, and the loop waits until then.
func TestRealCodexWaitsForAccount(t *testing.T) {
	var until time.Time
	r, flags := realCodex(t, once(func() modelserver.Step {
		until = time.Now().Add(3 * time.Second).Truncate(time.Second)
		reset := strconv.FormatInt(until.Unix(), 10)
		return modelserver.Step{
			Status: 429, Body: `{"error":{"type":"usage_limit_reached","plan_type":"pro","resets_at":` + reset + `}}`,
			Header: map[string]string{
				"x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300", "x-codex-primary-reset-at": reset,
			},
		}
	}))
	limited := r.outlives(event.KindRate, flags)
	if limited.Until != until.UTC().Format(time.RFC3339) {
		t.Errorf("limited until %s, want %s", limited.Until, until.UTC())
	}
	for _, e := range r.events() {
		if e.Type == event.TypeIterationStarted && e.Iter == 2 && e.At.Before(until) {
			t.Errorf("the next iteration began at %s, before %s", e.At, until)
		}
	}
}

// A missing or invalid login needs a person.
func TestRealLoginThatIsMissing(t *testing.T) {
	refused := always(modelserver.Failed(401))
	for name, start := range map[string]func(*testing.T) (*real, []string){
		"pi, a key that is not valid":     func(t *testing.T) (*real, []string) { return realPi(t, refused) },
		"claude, a key that is not valid": func(t *testing.T) (*real, []string) { return realClaude(t, refused) },
		"codex, a key that is not valid":  func(t *testing.T) (*real, []string) { return realCodex(t, refused) },
		"codex, a spent account": func(t *testing.T) (*real, []string) {
			return realCodex(t, always(modelserver.Step{Status: 429, Body: `{"error":{"type":"insufficient_quota","message":"You exceeded your current quota."}}`}))
		},
		"claude, not logged in": func(t *testing.T) (*real, []string) {
			r, flags := realClaude(t, refused)
			return r, append(flags[:2:2], "--set", "agents.claude.passKeys=false")
		},
		"claude, a spent balance": func(t *testing.T) (*real, []string) {
			return realClaude(t, always(modelserver.Step{
				Status: 400,
				Body:   `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`,
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, flags := start(t)
			stderr, code := r.exits(flags...)
			if code != 4 || !strings.Contains(stderr, "then resume the loop") {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if n := len(r.server.Requests()); n > 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}
