package runner

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
)

// probeTimeout limits a probe: Codex 0.169.0 takes 10 ms, Claude Code 2.1.329 200 ms, a program in
// a container that has to be started a second.
const probeTimeout = 5 * time.Second

// maxProbeOutput limits the kept output of a probe.
const maxProbeOutput = 64 << 10

type probeResult struct {
	said string
	code int
	ok   bool
}

// prober returns the Ask of the agent at that place. It asks each question once. A resumed loop
// asks again: the program may have changed.
func (r *runner) prober(place int) Ask {
	return func(argv []string) (string, int, bool) {
		key := strconv.Itoa(place) + "\x00" + strings.Join(argv, "\x00")
		once, _ := r.probes.LoadOrStore(key, sync.OnceValue(func() probeResult { return r.probe(place, argv) }))
		a := once.(func() probeResult)()
		return a.said, a.code, a.ok
	}
}

// probeFirstAgent probes the first agent while the first iteration is being prepared. That makes a
// start with Claude Code 200 ms shorter, which is the time of its answer.
func (r *runner) probeFirstAgent() {
	switch a := r.Settings.AllAgents()[0]; a.ResolvedProtocol() {
	case config.ProtocolCodex, config.ProtocolClaude:
		_, _, _ = Prepared(a, r.WorkDir, r.prober(0)) // the start of the agent reports its error
	}
}

// probe runs a command line of the agent at that place like the agent itself.
func (r *runner) probe(place int, argv []string) probeResult {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	go func() { // ends with this function
		select {
		case <-r.driverDone:
			cancel()
		case <-ctx.Done():
		}
	}()
	said := process.Head{Max: maxProbeOutput}
	argv, env, err := r.wrapProbe(argv, r.environment(place, 0))
	if err != nil {
		return probeResult{}
	}
	exit, err := process.Run(ctx, process.Command{
		Argv: argv, Dir: r.WorkDir, Env: env, Mark: process.AgentMark(r.Home, r.id) + ".asked", Stdout: &said, Stderr: &said, Session: true,
		Grace: time.Millisecond,
	})
	if err != nil {
		return probeResult{} // the start of the agent reports the error
	}
	return probeResult{said: string(said.Bytes()), code: exit.Code, ok: exit.Signal == ""}
}
