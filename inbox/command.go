package inbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// version is the v of the wire format.
const version = 1

// MaxSize is the largest command file in bytes.
const MaxSize = 1 << 20

// Kind is what a command asks for.
type Kind string

const (
	Steer    Kind = "steer"     // give the agent Text now, in mid-turn if it can be told so, else with its next prompt
	FollowUp Kind = "follow-up" // give the agent Text when its present turn has ended
	Stop     Kind = "stop"      // finish the present iteration, then end the loop; Text may say why
	StopNow  Kind = "stop-now"  // end the loop now: the agent is asked to stop, then made to; Text may say why
	Pause    Kind = "pause"     // finish the present iteration and begin no other until a resume
	Resume   Kind = "resume"    // go on after a pause
	Set      Kind = "set"       // change the setting Key to Value, spelled as on the command line
	Kill     Kind = "kill"      // end the agent's processes at once, without asking, and the loop with them
	Wait     Kind = "wait"      // from the agent: finish the present iteration and begin no other until a person resumes; Text says what for
	Blocked  Kind = "blocked"   // from the agent: finish the present iteration and end the loop, which needs a person; Text says why
)

// kinds are all of them.
var kinds = []Kind{Steer, FollowUp, Stop, StopNow, Pause, Resume, Set, Kill, Wait, Blocked}

// Command is one wish.
type Command struct {
	ID    string    `json:"id"` // ULID, given by Drop
	Kind  Kind      `json:"kind"`
	From  string    `json:"from,omitempty"` // door and sender, such as cli:ada@mill, mcp:claude, hook:stop
	At    time.Time `json:"at,omitzero"`    // when it was wished; by Drop the time of dropping, unless set
	Text  string    `json:"text,omitempty"`
	Key   string    `json:"key,omitempty"`
	Value string    `json:"value,omitempty"`
}

// wire is what stands in the file.
type wire struct {
	V int `json:"v"`
	Command
}

// Check reports what Command c lacks for its kind: Steer and FollowUp need a Text, Set needs a Key. ID and At are not looked at.
func (c Command) Check() error {
	switch c.Kind {
	case Steer, FollowUp:
		if strings.TrimSpace(c.Text) == "" {
			return fmt.Errorf("%s without text", c.Kind)
		}
	case Set:
		if c.Key == "" {
			return errors.New("set without key")
		}
	case Stop, StopNow, Pause, Resume, Kill, Wait, Blocked:
	default:
		return fmt.Errorf("unknown kind %.40q", c.Kind)
	}
	return nil
}

// encode spells c for its file.
func encode(c Command) ([]byte, error) {
	for _, s := range []string{c.From, c.Text, c.Key, c.Value} {
		if !utf8.ValidString(s) {
			return nil, errNotUTF8 // encoding/json would change it without a word
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(wire{version, c}); err != nil {
		return nil, err
	}
	if b.Len() > MaxSize {
		return nil, errTooLarge
	}
	return b.Bytes(), nil
}

var (
	errNotUTF8  = errors.New("not valid UTF-8")
	errTooLarge = fmt.Errorf("larger than %d bytes", MaxSize)
)

// decode reads a command's file. Its errors are reasons for a person to read. Where the name says the kind, the content may leave it out,
// and the version, and has no id; nothing at all is as good as an object without keys.
func decode(f file, b []byte) (Command, error) {
	if !utf8.Valid(b) {
		return Command{}, errNotUTF8
	}
	var w wire
	id := f.id // that the content has
	if f.kind != "" {
		w = wire{version, Command{Kind: f.kind}}
		id = ""
		if b = bytes.TrimSpace(b); len(b) == 0 {
			b = []byte("{}")
		} else if b[0] != '{' {
			return Command{}, errors.New("not a command: not a JSON object")
		}
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return Command{}, fmt.Errorf("not a command: %w", err)
	}
	switch {
	case w.V != version:
		return Command{}, fmt.Errorf("version %d: this ralph reads version %d", w.V, version)
	case w.ID != id:
		return Command{}, fmt.Errorf("its id %.40q is not its file's name", w.ID)
	case f.kind != "" && w.Kind != f.kind:
		return Command{}, fmt.Errorf("its kind %.40q is not its file's name", w.Kind)
	}
	w.ID = f.id
	return w.Command, w.Check()
}

// canonicalID reports whether s is a ULID in upper case, as it must be for names to sort by time and to be one for each id.
func canonicalID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}
