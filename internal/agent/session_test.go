//go:build unix

package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/journal/event"
)

// The test binary plays rehearsals, as ralph does, and agents that take signals in one way or
// another.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "act" {
		act(os.Args[2])
	}
	agenttest.MainPlaying(m)
}

// act says that it is ready and waits for TERM: to take it politely, or not at all. A shell will
// not do: a signal between its fork and exec is lost.
func act(how string) {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	fmt.Println("ready")
	for range term {
		if how == "polite" {
			fmt.Println("bye")
			os.Exit(5)
		}
	}
}

// acts returns a session with such an agent.
func acts(t *testing.T, how string, change func(*agent.Config)) *talk {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return converse(t, text.New(), change, self, "act", how)
}

// talk is a session and what it delivers.
type talk struct {
	t      *testing.T
	s      *agent.Session
	events chan event.Draft
}

// converse starts a session; change, unless nil, has the last word on its configuration.
func converse(t *testing.T, dialect agent.Dialect, change func(*agent.Config), command ...string) *talk {
	t.Helper()
	c := &talk{t: t, events: make(chan event.Draft, 100_000)}
	dir := t.TempDir()
	cfg := agent.Config{
		Name: "test", Dialect: dialect, Env: os.Environ(), KeepRaw: true,
		Spec:     agent.Spec{Command: command, Dir: dir, LoopDir: dir, Iteration: 1, Prompt: "go on"},
		Patience: agent.Patience{Abort: 2 * time.Minute, Stop: 2 * time.Minute, Term: 2 * time.Minute, Reset: 20 * time.Second},
		Deliver: func(drafts []event.Draft, release func()) {
			for _, d := range drafts {
				d.Data, d.Raw = bytes.Clone(d.Data), bytes.Clone(d.Raw)
				c.events <- d
			}
			// Readers after the release read other words.
			for _, d := range drafts {
				for i := range d.Data {
					d.Data[i] = '#'
				}
			}
			release()
		},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := agent.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.s = s
	t.Cleanup(func() {
		s.Kill()
		select {
		case <-s.Done():
		case <-time.After(2 * time.Minute):
			t.Error("the process does not go")
		}
	})
	return c
}

func (c *talk) begin() { c.s.Begin(agent.Prompt{Text: "go on", Iteration: 1}, false, 7) }

// next is the next event.
func (c *talk) next() event.Draft {
	c.t.Helper()
	select {
	case d := <-c.events:
		return d
	case <-time.After(2 * time.Minute):
		c.t.Fatal("nothing was delivered for two minutes")
	}
	return event.Draft{}
}

// until is the next event of that type.
func (c *talk) until(typ event.Type) event.Draft {
	c.t.Helper()
	for {
		d := c.next()
		if d.Type == typ {
			return d
		}
		if d.Type == event.TypeAgentExited {
			c.t.Fatalf("waiting for %s: %s", typ, d.Data)
		}
	}
}

// all is everything up to the exit, which is the last.
func (c *talk) all() (drafts []event.Draft) {
	c.t.Helper()
	for {
		d := c.next()
		drafts = append(drafts, d)
		if d.Type == event.TypeAgentExited {
			<-c.s.Done()
			if len(c.events) > 0 {
				c.t.Errorf("after the exit came %s", (<-c.events).Type)
			}
			return drafts
		}
	}
}

func types(drafts []event.Draft) (list []event.Type) {
	for _, d := range drafts {
		list = append(list, d.Type)
	}
	return list
}

func shell(t *testing.T, script string) *talk {
	t.Helper()
	return converse(t, text.New(), nil, "sh", "-c", script)
}

// plays returns a session with a player.
func plays(t *testing.T, scenario string, change func(*agent.Config)) *talk {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.rehearsal")
	if err := os.WriteFile(path, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return converse(t, rehearsal.New(self, player.Check), change, path)
}

// What the settings say wins over what the dialect sets, and that over the user's environment. A
// notice follows the start, and one session of a loop reports it.
func TestSettingsWinOverDialectEnvironment(t *testing.T) {
	for quiet, want := range map[bool]string{
		false: "agent.started, agent.noticed, agent.said mine dialect users, agent.exited", true: "agent.started, agent.said mine dialect users, agent.exited",
	} {
		dialect := text.NewKnown(func(spec agent.Spec) (agent.Command, error) {
			return agent.Command{Argv: spec.Command, Env: []string{"A=dialect", "B=dialect"}, Notice: "it is an old one"}, nil
		})
		c := converse(t, dialect, func(cfg *agent.Config) {
			cfg.Env, cfg.Own, cfg.Quiet = append(os.Environ(), "A=users", "B=users", "C=users"), []string{"A=mine"}, quiet
		}, "sh", "-c", `printf '%s %s %s' "$A" "$B" "$C"`)
		c.begin()
		var got []string
		for len(got) == 0 || got[len(got)-1] != "agent.exited" {
			d := <-c.events
			line := string(d.Type)
			switch d.Type {
			case event.TypeAgentSaid:
				line += " " + agenttest.Payload[event.AgentSaid](t, d).Text.String()
			case event.TypeAgentNoticed:
				if p := agenttest.Payload[event.AgentNoticed](t, d); p.What != event.NoticeFallback || p.Text != "it is an old one" || d.Cause != 7 {
					t.Errorf("noticed %+v, caused by %d", p, d.Cause)
				}
			}
			got = append(got, line)
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("got %s, want %s", all, want)
		}
	}
}

func TestEarlyOutputFollowsStart(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "printed")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c := shell(t, "echo early; echo done >'"+fifo+"'")
	if _, err := os.ReadFile(fifo); err != nil { // returns when it was printed
		t.Fatal(err)
	}
	if len(c.events) > 0 {
		t.Fatalf("%s was delivered before the prompt was given", (<-c.events).Type)
	}
	c.begin()
	drafts := c.all()
	if !slices.Equal(types(drafts), []event.Type{event.TypeAgentStarted, event.TypeAgentSaid, event.TypeAgentExited}) {
		t.Fatalf("%v", types(drafts))
	}
	started := agenttest.Payload[event.AgentStarted](t, drafts[0])
	if drafts[0].Cause != 7 || drafts[0].By != "agent:test" || started.PID != c.s.PID() || !started.ExitEnds || started.Argv[0] != "sh" {
		t.Errorf("%+v of %d", started, drafts[0].Cause)
	}
}

func TestEarlyExitFollowsStart(t *testing.T) {
	c := shell(t, "exit 3")
	for deadline := time.Now().Add(2 * time.Minute); !errors.Is(syscall.Kill(c.s.PID(), 0), syscall.ESRCH); {
		if time.Now().After(deadline) {
			t.Fatal("the process does not end")
		}
		runtime.Gosched()
	}
	c.begin()
	if drafts := c.all(); !slices.Equal(types(drafts), []event.Type{event.TypeAgentStarted, event.TypeAgentExited}) {
		t.Errorf("%v", types(drafts))
	}
}

// The loop takes drafts when it has time: until it says that it is done with them, they stay what
// they are.
func TestDraftsStayUntilReleased(t *testing.T) {
	var want, got []string
	for i := range 3000 {
		want = append(want, fmt.Sprintf(`{"type":"n%d","text":%q}`, i, strings.Repeat("x", i%700)))
	}
	var kept []event.Draft
	var releases []func()
	facts := func(line string, _ agent.Stream, out *agent.Decoded) { out.Add(event.AgentNoticed{What: line[9:12]}) }
	c := converse(t, echo{facts: facts}, func(cfg *agent.Config) {
		deliver := cfg.Deliver
		cfg.Deliver = func(drafts []event.Draft, release func()) {
			if drafts[0].Type == event.TypeAgentNoticed {
				kept, releases = append(kept, drafts...), append(releases, release)
				return
			}
			deliver(drafts, release)
		}
	}, prints(t, strings.Join(want, "\n")+"\n")...)
	c.begin()
	c.all()
	for _, d := range kept {
		got = append(got, string(d.Raw))
	}
	for _, release := range releases {
		release()
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines of %d, and not the same", len(got), len(want))
	}
}

// stop stops a process and waits until it is stopped: the signal takes effect some time after kill
// returns.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	for !status.Stopped() {
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			t.Fatal(err)
		}
	}
}

func TestRefresh(t *testing.T) {
	over := func(c *talk) { c.until(event.TypeAgentFinished) }
	for name, row := range map[string]struct {
		scenario string
		before   func(*talk)
		patience time.Duration
		want     bool
	}{
		"it says so":        {"iteration *\n  say hello\n", over, 2 * time.Minute, true},
		"it refuses":        {"iteration *\n  stale\n  say hello\n", over, 2 * time.Minute, false},
		"it is gone":        {"iteration *\n  say hello\n  crash 3\n", func(c *talk) { c.all() }, 2 * time.Minute, false},
		"it is in mid-turn": {"iteration *\n  say hello\n  silence\n", func(*talk) {}, 2 * time.Minute, false},
		"it does not answer": {"iteration *\n  say hello\n", func(c *talk) {
			over(c)
			stop(t, c.s.PID())
		}, 50 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := plays(t, row.scenario, func(cfg *agent.Config) { cfg.Patience.Reset = row.patience })
			c.begin()
			c.until(event.TypeAgentSaid)
			row.before(c)
			if got := c.s.Refresh(); got != row.want {
				t.Errorf("fresh: %v", got)
			}
		})
	}
}

func TestProcessServesSeveralTurns(t *testing.T) {
	c := plays(t, "iteration\n  say one\niteration\n  say two\n", nil)
	for i, word := range []string{"one", "two"} {
		if i > 0 && !c.s.Refresh() {
			t.Fatal("no fresh context")
		}
		c.s.Begin(agent.Prompt{Text: "go on", Iteration: i + 1}, i > 0, event.Seq(i))
		if started := agenttest.Payload[event.AgentStarted](t, c.until(event.TypeAgentStarted)); started.Reused != (i > 0) {
			t.Errorf("turn %d: %+v", i+1, started)
		}
		if said := agenttest.Payload[event.AgentSaid](t, c.until(event.TypeAgentSaid)); said.Text.String() != word {
			t.Errorf("turn %d says %q", i+1, said.Text)
		}
		c.until(event.TypeAgentFinished)
		c.s.Release(false, event.Seq(10+i))
		if d := c.until(event.TypeAgentParked); d.Cause != event.Seq(10+i) {
			t.Errorf("the rest of turn %d is caused by %d", i+1, d.Cause)
		}
	}
}

// answering is echo with a stdin that stays open.
type answering struct{ echo }

func (answering) Command(s agent.Spec) (agent.Command, error) {
	return agent.Command{Argv: s.Command}, nil
}

// naming learns the id of its conversation from a line.
type naming struct {
	answering
	id *string
}

func (n naming) Session() string { return *n.id }

func named(t *testing.T, script string) *talk {
	t.Helper()
	id := ""
	return converse(t, naming{answering{echo{facts: func(line string, _ agent.Stream, out *agent.Decoded) {
		if word, ok := strings.CutPrefix(line, "id "); ok {
			id = word
		}
		if line == "first" {
			out.Reply = [][]byte{[]byte("go")}
		}
		if line == "said" {
			out.Add(event.AgentSaid{Block: "1.0", Text: event.Plain(line)})
			return
		}
		out.Add(event.AgentNoticed{What: line})
	}}}, &id}, nil, "sh", "-c", script)
}

func TestStartReportsConversationID(t *testing.T) {
	c := named(t, `echo first; read go; echo id 42; echo last; exec sleep 1000`)
	c.begin()
	started := agenttest.Payload[event.AgentStarted](t, c.next())
	if started.Session != "42" || started.PID != c.s.PID() {
		t.Errorf("%+v", started)
	}
	for _, what := range []string{"first", "id 42", "last"} {
		if got := agenttest.Payload[event.AgentNoticed](t, c.next()); got.What != what {
			t.Errorf("got %q, want %q", got.What, what)
		}
	}
}

// An agent that never reports its id still gets an agent.started, when it exits or is aborted.
func TestStartWithoutID(t *testing.T) {
	c := named(t, `echo first`)
	c.begin()
	if drafts := c.all(); !slices.Equal(types(drafts), []event.Type{event.TypeAgentStarted, event.TypeAgentNoticed, event.TypeAgentExited}) {
		t.Errorf("of an agent that exits: %v", types(drafts))
	}
	c = named(t, `echo first; read go; echo said; exec sleep 1000`)
	c.begin()
	var got []event.Type
	for range 3 {
		got = append(got, c.next().Type)
	}
	if !slices.Equal(got, []event.Type{event.TypeAgentStarted, event.TypeAgentNoticed, event.TypeAgentSaid}) {
		t.Errorf("of an agent at work: %v", got)
	}
	c = named(t, `echo first; read go; read more`)
	c.begin()
	c.s.Abort(8)
	if drafts := c.all(); drafts[0].Type != event.TypeAgentStarted || drafts[0].Cause != 7 {
		t.Errorf("of an aborted agent: %v", types(drafts))
	}
}

// counting reports what was used when the process is gone.
type counting struct{ answering }

func (counting) End(_ int, out *agent.Decoded) { out.Add(event.AgentUsed{In: 100}) }

func TestKilledAgentReportsUsage(t *testing.T) {
	c := converse(t, counting{answering{echo{facts: func(string, agent.Stream, *agent.Decoded) {}}}}, nil, "sh", "-c", `echo ready; exec sleep 1000`)
	c.begin()
	c.until(event.TypeAgentNoticed)
	c.s.Kill()
	drafts := c.all()
	if !slices.Equal(types(drafts), []event.Type{event.TypeAgentUsed, event.TypeAgentExited}) {
		t.Fatalf("%v", types(drafts))
	}
	if used := agenttest.Payload[event.AgentUsed](t, drafts[0]); used.In != 100 || used.USD != nil {
		t.Errorf("%+v", used)
	}
}

func TestEarlyProcessesAreSpared(t *testing.T) {
	pids := map[string]int{}
	dialect := answering{echo{able: agent.Abilities{Reset: true}, facts: func(line string, _ agent.Stream, out *agent.Decoded) {
		who, pid, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Error(err)
		}
		pids[who] = n
		if who == "server" {
			out.Own, out.Reply = true, [][]byte{[]byte("begin")}
			return
		}
		out.Add(event.AgentFinished{Outcome: "ok"})
	}}}
	c := converse(t, dialect, nil, "sh", "-c", `sleep 1000 & echo server $!; read begin; sleep 1000 & echo tool $!; wait`)
	c.begin()
	c.until(event.TypeAgentFinished)
	c.s.Release(false, 8)
	if parked := agenttest.Payload[event.AgentParked](t, c.until(event.TypeAgentParked)); parked.Strays != 1 {
		t.Errorf("%d processes were ended", parked.Strays)
	}
	if err := syscall.Kill(pids["server"], 0); err != nil {
		t.Errorf("the server: %v", err)
	}
}

func TestSteering(t *testing.T) {
	c := plays(t, "iteration *\n  say ready\n  silence\n  steered -> say I heard {steer}\n  steered -> finish\n", nil)
	c.begin()
	c.until(event.TypeAgentSaid)
	if err := c.s.Steer("c1", "the \"call\"", 7); err != nil {
		t.Fatal(err)
	}
	delivered := c.until(event.TypeCommandDelivered)
	if p := agenttest.Payload[event.CommandDelivered](t, delivered); p.ID != "c1" || p.How != "live" || delivered.Cause != 7 {
		t.Errorf("%+v, caused by %d", p, delivered.Cause)
	}
	if said := agenttest.Payload[event.AgentSaid](t, c.until(event.TypeAgentSaid)); said.Text.String() != `I heard the "call"` {
		t.Errorf("%q", said.Text)
	}
	c.until(event.TypeAgentFinished)
	if err := c.s.Steer("c2", "too late", 8); err == nil {
		t.Error("a turn that is over was steered")
	}
}

// known is a rehearsal whose conversation has an id from when it is ready.
type known struct {
	*rehearsal.Dialect
	ready bool
}

func (k *known) Decode(line []byte, from agent.Stream, d *agent.Decoded) {
	k.Dialect.Decode(line, from, d)
	k.ready = k.ready || bytes.Contains(line, []byte(`"ready"`))
}

func (k *known) Session() string {
	if k.ready {
		return "one"
	}
	return ""
}

// A steer that is decided as soon as agent.started is delivered does not overtake the prompt, which
// is only answered then.
func TestSteerFollowsPrompt(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.rehearsal")
	if err := os.WriteFile(path, []byte("iteration *\n  silence\n  steered -> finish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var c *talk
	c = converse(t, &known{Dialect: rehearsal.New(self, player.Check)}, func(cfg *agent.Config) {
		deliver := cfg.Deliver
		cfg.Deliver = func(drafts []event.Draft, release func()) {
			if drafts[0].Type == event.TypeAgentStarted {
				if err := c.s.Steer("c1", "now", 7); err != nil {
					t.Error(err)
				}
			}
			deliver(drafts, release)
		}
	}, path)
	c.begin()
	c.until(event.TypeCommandDelivered)
	c.until(event.TypeAgentFinished)
}

func TestSteerWithoutAbilityFails(t *testing.T) {
	c := shell(t, "echo ready; exec sleep 1000")
	c.begin()
	c.until(event.TypeAgentSaid)
	if err := c.s.Steer("c1", "x", 9); err == nil || !strings.Contains(err.Error(), "running turn") {
		t.Errorf("%v", err)
	}
}

func TestAbortEscalates(t *testing.T) {
	for name, row := range map[string]struct {
		talk *talk
		want func(agent []event.Draft, exit event.AgentExited) bool
	}{
		"a protocol ends its turn": {plays(t, "iteration *\n  say ready\n  silence\n", nil), func(all []event.Draft, exit event.AgentExited) bool {
			return slices.ContainsFunc(all, func(d event.Draft) bool {
				return d.Type == event.TypeAgentFinished && bytes.Contains(d.Data, []byte("aborted"))
			}) && exit.Code == 0 && exit.Signal == ""
		}},
		"a command is asked by a signal": {acts(t, "polite", nil), func(all []event.Draft, exit event.AgentExited) bool {
			return exit.Code == 5 && slices.ContainsFunc(all, func(d event.Draft) bool { return bytes.Contains(d.Data, []byte("bye")) })
		}},
		"one that does not listen is killed": {acts(t, "stubborn", func(cfg *agent.Config) { cfg.Patience.Term = 50 * time.Millisecond }), func(_ []event.Draft, exit event.AgentExited) bool {
			return exit.Signal == "SIGKILL" && exit.Code == -1
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := row.talk
			c.begin()
			c.until(event.TypeAgentSaid)
			c.s.Abort(9)
			all := c.all()
			last := all[len(all)-1]
			if exit := agenttest.Payload[event.AgentExited](t, last); !row.want(all, exit) || last.Cause != 9 {
				t.Errorf("%+v of %d, after %v", exit, last.Cause, types(all))
			}
		})
	}
}

func TestLongLinesAreDecoded(t *testing.T) {
	facts := func(line string, _ agent.Stream, out *agent.Decoded) {
		out.Add(event.AgentNoticed{What: fmt.Sprint(len(line))})
	}
	long := `{"type":"` + strings.Repeat("x", 5<<20) + `"}`
	c := converse(t, echo{facts: facts}, nil, prints(t, long+"\n{}\n")...)
	c.begin()
	drafts := c.all()
	if len(drafts) != 4 || agenttest.Payload[event.AgentNoticed](t, drafts[1]).What != fmt.Sprint(len(long)) ||
		string(drafts[1].Raw) != long || string(drafts[2].Raw) != "{}" {
		t.Errorf("%v", types(drafts))
	}
	if !json.Valid(drafts[1].Raw) {
		t.Error("the line was changed")
	}
}

func TestStartErrorNamesCause(t *testing.T) {
	_, err := agent.Start(agent.Config{Dialect: text.New(), Spec: agent.Spec{Command: []string{"no-such-agent-anywhere"}, Dir: t.TempDir()}})
	if err == nil || !strings.Contains(err.Error(), "no-such-agent-anywhere") {
		t.Errorf("%v", err)
	}
	if _, err = agent.Start(agent.Config{Dialect: text.New()}); err == nil {
		t.Error("a session without a command started")
	}
}
