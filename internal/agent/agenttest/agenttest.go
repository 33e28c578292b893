package agenttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/process"
)

// Agent is a dialect under test. New, Spec and Fake are required.
type Agent struct {
	New func() agent.Dialect
	// Spec is what Command is given to start program; Dir, LoopDir, Iteration and Prompt are
	// filled in.
	Spec func(program string) agent.Spec
	// Fake returns the agent's side of one new process.
	Fake func() Fake
	// Stranger is the side of an agent with another version of the protocol; nil if the protocol
	// has no versions.
	Stranger func() Fake
	// Streams are what real agents printed, by name.
	Streams map[string][]byte
	// Droppable are keys whose strings need not be found anywhere when a line is
	// dropped: signatures, pieces of what comes complete later.
	Droppable []string
	// Piecemeal reports whether a line that may be dropped holds pieces of a text that comes
	// complete later, in another spelling: arguments of a tool, as the model writes them.
	Piecemeal func(line []byte) bool
}

// Fake is a scripted agent. It gets each line of stdin without its newline, and nil
// once, first, when the agent starts; it returns the lines that the agent prints then.
//
// A prompt with the words of Finish begins a turn that says something and finishes by
// itself. One with those of Wait says something and then waits: until it is steered, which it
// takes in and then finishes, or aborted. An agent whose exit ends its turn finishes and waits by
// saying something.
type Fake func(stdin []byte) [][]byte

// The prompts. They need no escaping in any protocol.
const (
	Finish = "agenttest: do it and finish"
	Wait   = "agenttest: begin and wait for a word"
)

// ReadStreams returns the files that match the pattern, by their paths. It panics if there is none,
// so that a moved folder does not empty a check.
func ReadStreams(pattern string) map[string][]byte {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		panic("agenttest: no streams match " + pattern)
	}
	streams := make(map[string][]byte)
	for _, file := range files {
		stream, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		streams[filepath.ToSlash(file)] = stream
	}
	return streams
}

// Main runs the tests, or plays the agent if a check has started this binary as one. Call it from
// TestMain.
func Main(m *testing.M, a Agent) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(playRole(role, a.Fake()))
	}
	// As a runner does; where this is not possible, processes are found by their mark.
	_ = process.EnableSubreaper()
	os.Exit(m.Run())
}

// Suite runs every check.
func Suite(t *testing.T, a Agent) {
	for _, check := range []struct {
		name string
		run  func(*testing.T, Agent)
	}{
		{"the command shares nothing with the settings", checkCommand},
		{"a turn is reported from its first word to its end", checkTurn},
		{"a prompt of any text becomes lines", checkPrompts},
		{"a steer is taken while a turn runs, and only then", checkSteer},
		{"a turn is aborted", checkAbort},
		{"a fresh context is confirmed", checkReset},
		{"another version of the protocol is refused", checkVersion},
		{"garbage is kept and changes nothing", checkGarbage},
		{"lines of any length are kept", checkLongLines},
		{"half a line is kept", checkHalfLines},
		{"facts do not hold on to the line", checkMemory},
		{"streams keep the contract", checkStreams},
		{"damaged streams keep the contract", checkDamaged},
		{"in a process", Processes},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, a) })
	}
}

// Fuzz feeds a dialect lines of any bytes.
func Fuzz(f *testing.F, a Agent) {
	for _, line := range garbage() {
		f.Add(line)
	}
	f.Add(bytes.Join(transcript(f, a), []byte("\n")))
	for _, stream := range a.Streams {
		if len(stream) < 64<<10 {
			f.Add(stream)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := open(t, a)
		for line := range lines(stream) {
			c.decode(line, agent.Stdout)
		}
		c.end()
	})
}
