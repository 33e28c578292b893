package runner

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/config"
)

// askPatience is how long a program may take to say what it can do: Codex 0.169.0 takes 10 ms, Claude Code 2.1.329 200 ms,
// one that a container has to be started for a second.
const askPatience = 5 * time.Second

// answerMost is how much of an answer is kept.
const answerMost = 64 << 10

// answers are what agents' programs said of themselves. Each question is asked once in a run of the loop, so that what
// follows from it is decided once. A loop that is resumed asks again: the program may be another one by then.
type answers struct {
	mu    sync.Mutex
	known map[string]func() answer
}

type answer struct {
	said string
	code int
	ok   bool
}

// asks returns what asks the program of the agent at that place.
func (r *runner) asks(place int) Ask {
	return func(argv []string) (string, int, bool) {
		key := strconv.Itoa(place) + "\x00" + strings.Join(argv, "\x00")
		r.answers.mu.Lock()
		once, asked := r.answers.known[key]
		if !asked {
			once = sync.OnceValue(func() answer { return r.ask(place, argv) })
			if r.answers.known == nil {
				r.answers.known = map[string]func() answer{}
			}
			r.answers.known[key] = once
		}
		r.answers.mu.Unlock()
		a := once()
		return a.said, a.code, a.ok
	}
}

// askAhead asks the first agent while the first iteration is being prepared, which takes as long.
func (r *runner) askAhead() {
	switch a := r.Settings.Candidates()[0]; a.ResolvedProtocol() {
	case config.ProtocolCodex, config.ProtocolClaude:
		_, _, _ = Prepared(a, r.asks(0)) // what is wrong with it is told when it is started
	}
}

// ask runs a command line of the agent at that place as the agent would be run.
func (r *runner) ask(place int, argv []string) answer {
	var said bytes.Buffer
	p, err := process.Start(process.Spec{
		Argv: argv, Dir: r.WorkDir, Env: r.environment(place, 0), Mark: r.id + ".asked",
		Output: func(c process.Chunk) {
			for _, line := range c.Lines {
				if said.Len()+len(line) < answerMost {
					said.Write(append(line[:len(line):len(line)], '\n'))
				}
			}
		},
	})
	if err != nil {
		return answer{} // it cannot be started either, which is told then
	}
	patience := time.NewTimer(askPatience)
	defer patience.Stop()
	select {
	case <-p.Done():
	case <-patience.C:
		p.Kill()
		p.Wait()
		return answer{}
	}
	exit := p.Wait()
	return answer{said: said.String(), code: exit.Code, ok: exit.Signal == ""}
}
