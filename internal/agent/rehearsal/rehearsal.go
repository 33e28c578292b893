package rehearsal

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// verb is ralph's verb that runs the player.
const verb = "rehearse"

// Dialect is the conversation with one player.
type Dialect struct {
	executable string
	check      func(dir, scenario string) error
	ready      bool     // the player has said so
	version    int64    // of the protocol, as it says
	held       [][]byte // lines for the player until it is ready: the turn's begin, and steers
	aborted    bool     // the turn was aborted before the player was ready
	iteration  int
	session    string          // what the conversation is called
	running    bool            // a turn is running
	resetting  bool            // a fresh context was asked for
	steers     map[string]bool // sent in this turn and not delivered yet
	line       *jsonscan.Document
}

// New returns a dialect for one process. executable is ralph's own, which plays; check says why a
// scenario cannot be played, so that its mistakes are reported as errors of the configuration, not
// as an agent that fails at once.
func New(executable string, check func(dir, scenario string) error) *Dialect {
	return &Dialect{executable: executable, check: check, line: jsonscan.NewDocument()}
}

// Command returns what plays the scenario that the user's command names: by itself, or as the
// argument of 'ralph rehearse', whatever program starts that. A bare ralph is this one, which need
// not be in the PATH.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	argv := slices.Concat(spec.Command, spec.Flags)
	at := slices.Index(argv, verb)
	switch {
	case at < 0:
		argv = append([]string{d.executable, verb}, argv...)
	case at == 0:
		argv = append([]string{d.executable}, argv...)
	case isRalph(argv[at-1]):
		argv[at-1] = d.executable
	}
	if at = slices.Index(argv, verb); at == len(argv)-1 {
		return agent.Command{}, errors.New("rehearsal: no scenario: say 'ralph rehearse demo', or the path of a file")
	}
	if scenario := argv[at+1]; argv[at-1] == d.executable && !strings.HasPrefix(scenario, "-") {
		if err := d.check(spec.Dir, scenario); err != nil {
			return agent.Command{}, fmt.Errorf("rehearsal: %w", err)
		}
	}
	// A scenario may have the player hang, and then it does not see its stdin end.
	return agent.Command{Argv: argv, ParentDeath: true}, nil
}

func isRalph(program string) bool {
	return strings.EqualFold(strings.TrimSuffix(program, ".exe"), "ralph") && filepath.Base(program) == program
}

// Session returns what the conversation is called: it is named after the iteration in which it
// began.
func (d *Dialect) Session() string { return d.session }

// Open begins a turn. The first one waits until the player is ready: processes that run by then are
// its own (with a launcher, the player itself), and those that it starts later are not.
func (d *Dialect) Open(p agent.Prompt) [][]byte {
	d.iteration, d.running, d.resetting = p.Iteration, true, false
	d.steers = nil
	if d.session == "" {
		d.session = "rehearsal-" + strconv.Itoa(p.Iteration)
	}
	line := strconv.AppendInt([]byte(`{"do":"begin","iteration":`), int64(p.Iteration), 10)
	if p.Purpose != "" {
		line = jsonscan.AppendString(append(line, `,"purpose":`...), p.Purpose)
	}
	line = append(jsonscan.AppendString(append(line, `,"prompt":`...), p.Text), '}')
	if !d.ready {
		d.held = [][]byte{line}
		return nil
	}
	return [][]byte{line}
}

// Steer puts text into the running turn.
func (d *Dialect) Steer(id, text string) ([][]byte, bool) {
	if !d.running || d.aborted {
		return nil, false
	}
	if d.steers == nil {
		d.steers = make(map[string]bool)
	}
	d.steers[id] = true
	line := jsonscan.AppendString([]byte(`{"do":"steer","id":`), id)
	line = append(jsonscan.AppendString(append(line, `,"text":`...), text), '}')
	if !d.ready {
		d.held = append(d.held, line)
		return nil, true
	}
	return [][]byte{line}, true
}

// Reset asks for a fresh context.
func (d *Dialect) Reset() ([][]byte, bool) {
	if d.running {
		return nil, false
	}
	d.resetting = true
	return [][]byte{[]byte(`{"do":"reset"}`)}, true
}

// Abort ends the running turn; a turn that waits for the player is never begun.
func (d *Dialect) Abort() [][]byte {
	if !d.ready {
		d.held, d.aborted = nil, d.running
		return nil
	}
	return [][]byte{[]byte(`{"do":"abort"}`)}
}

// Stop has no lines: the player leaves when its stdin ends.
func (d *Dialect) Stop() [][]byte { return nil }

// Abilities of every scenario.
func (d *Dialect) Abilities() agent.Abilities {
	return agent.Abilities{Live: true, Costs: true, Reset: true, Tools: true, Tokens: true, Same: true}
}
