package registry

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// firstRead is how many bytes of a file are read at once: all of an entry and of a lock file, and the head of a state.json.
const firstRead = 1 << 10

// Head is how state.json begins: the keys a list of loops needs, in a fixed order and without spaces between them, so that they can be read
// without the rest. It is the projector's promise to this package.
type Head struct {
	Seq               uint64    // the last event folded in
	Status            string    // starting running waiting paused stopping completed stopped failed, or StatusUnknown
	Reason            string    // why it ended, else ""
	Iteration         int       // from 1; 0 before the first
	MaximumIterations int       // 0: no limit
	Since             time.Time // when Status began
	At                time.Time // of the event Seq
	Cost              float64   // USD, if CostKnown
	CostKnown         bool      // false where the file says null: unknown, not 0
	TokensIn          int64     // if TokensKnown
	TokensOut         int64
	TokensKnown       bool // false where the file says null
	Agent             string
	Waiting           string // for what and until when, else ""
	Pending           string // a pause or stop that is still to come, else ""
	Refunded          int    // of the iterations: the others are used
}

// StatusUnknown stands in Head.Status where state.json is missing, torn or not a state.
const StatusUnknown = "unknown"

// scanner reads JSON whose keys and spelling are known beforehand. The first thing that is otherwise ends it: ok turns false and stays so,
// and the caller takes the general decoder.
type scanner struct {
	b  []byte
	ok bool
}

// key skips what must stand next: punctuation and a key.
func (s *scanner) key(literal string) {
	if s.ok = s.ok && len(s.b) >= len(literal) && string(s.b[:len(literal)]) == literal; s.ok {
		s.b = s.b[len(literal):]
	}
}

func (s *scanner) str() string {
	if s.key(`"`); !s.ok {
		return ""
	}
	n := bytes.IndexByte(s.b, '"')
	if n < 0 {
		s.ok = false
		return ""
	}
	raw := s.b[:n]
	for _, c := range raw {
		if c == '\\' || c < ' ' || c >= 0x80 { // escapes and UTF-8 are the general decoder's
			s.ok = false
			return ""
		}
	}
	s.b = s.b[n+1:]
	return intern(raw)
}

// intern saves the allocation for words that stand in nearly every file.
func intern(b []byte) string {
	switch string(b) {
	case "":
		return ""
	case "running":
		return "running"
	case "waiting":
		return "waiting"
	case "paused":
		return "paused"
	case "completed":
		return "completed"
	case "stopped":
		return "stopped"
	case "failed":
		return "failed"
	case "claude":
		return "claude"
	case "codex":
		return "codex"
	case "pi":
		return "pi"
	}
	return string(b)
}

// number returns the bytes up to the next comma or brace: digits and points, no sign, no exponent. JSON has no leading zero and no
// bare point at either end, which strconv would take.
func (s *scanner) number() []byte {
	n := bytes.IndexAny(s.b, ",}")
	if !s.ok || n <= 0 || !isDigit(s.b[0]) || !isDigit(s.b[n-1]) || n > 1 && s.b[0] == '0' && s.b[1] != '.' {
		s.ok = false
		return nil
	}
	raw := s.b[:n]
	for _, c := range raw {
		if !isDigit(c) && c != '.' {
			s.ok = false
			return nil
		}
	}
	s.b = s.b[n:]
	return raw
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) int() int64 {
	n, err := strconv.ParseInt(string(s.number()), 10, 64)
	s.ok = s.ok && err == nil
	return n
}

func (s *scanner) null() bool {
	if !bytes.HasPrefix(s.b, []byte("null")) {
		return false
	}
	s.key("null")
	return true
}

func (s *scanner) tokens() (n int64, known bool) {
	if s.null() {
		return 0, false
	}
	return s.int(), true
}

func (s *scanner) cost() (usd float64, known bool) {
	if s.null() {
		return 0, false
	}
	usd, err := strconv.ParseFloat(string(s.number()), 64)
	s.ok = s.ok && err == nil
	return usd, true
}

func (s *scanner) time() time.Time {
	if s.key(`"`); !s.ok {
		return time.Time{}
	}
	n := bytes.IndexByte(s.b, '"')
	if n < 0 {
		s.ok = false
		return time.Time{}
	}
	var t time.Time
	s.ok = t.UnmarshalText(s.b[:n]) == nil
	s.b = s.b[n+1:]
	return t
}

// These are there only where there is something to say.
const (
	pendingKey  = `,"pending":`
	refundedKey = `,"refunded":`
)

// scanHead reads the head as the projector spells it and returns what follows, of which only the first byte was looked at.
func scanHead(b []byte) (h Head, rest []byte, ok bool) {
	s := scanner{b: b, ok: true}
	s.key(`{"seq":`)
	h.Seq = uint64(s.int())
	s.key(`,"status":`)
	h.Status = s.str()
	s.key(`,"reason":`)
	h.Reason = s.str()
	s.key(`,"iteration":`)
	h.Iteration = int(s.int())
	s.key(`,"maximumIterations":`)
	h.MaximumIterations = int(s.int())
	s.key(`,"since":`)
	h.Since = s.time()
	s.key(`,"at":`)
	h.At = s.time()
	s.key(`,"cost":`)
	h.Cost, h.CostKnown = s.cost()
	s.key(`,"tokensIn":`)
	var in, out bool
	h.TokensIn, in = s.tokens()
	s.key(`,"tokensOut":`)
	h.TokensOut, out = s.tokens()
	if h.TokensKnown = in && out; !h.TokensKnown {
		h.TokensIn, h.TokensOut = 0, 0
	}
	s.key(`,"agent":`)
	h.Agent = s.str()
	s.key(`,"waiting":`)
	h.Waiting = s.str()
	if s.ok && bytes.HasPrefix(s.b, []byte(pendingKey)) {
		s.key(pendingKey)
		h.Pending = s.str()
	}
	if s.ok && bytes.HasPrefix(s.b, []byte(refundedKey)) {
		s.key(refundedKey)
		h.Refunded = int(s.int())
	}
	return h, s.b, s.ok && len(s.b) > 0 && (s.b[0] == ',' || s.b[0] == '}')
}

// decodeHead reads a whole state.json in any spelling: one that a person has reformatted, or that holds more than ASCII.
func decodeHead(b []byte) (Head, bool) {
	var w struct {
		Seq                          uint64
		Status, Reason               string
		Iteration, MaximumIterations int
		Since, At                    time.Time
		Cost                         *float64
		TokensIn, TokensOut          *int64
		Agent, Waiting, Pending      string
		Refunded                     int
	}
	if json.Unmarshal(b, &w) != nil || w.Status == "" {
		return Head{}, false
	}
	h := Head{Seq: w.Seq, Status: w.Status, Reason: w.Reason, Iteration: w.Iteration, MaximumIterations: w.MaximumIterations,
		Since: w.Since, At: w.At, Agent: w.Agent, Waiting: w.Waiting, Pending: w.Pending, Refunded: w.Refunded}
	if w.TokensIn != nil && w.TokensOut != nil {
		h.TokensIn, h.TokensOut, h.TokensKnown = *w.TokensIn, *w.TokensOut, true
	}
	if w.Cost != nil {
		h.Cost, h.CostKnown = *w.Cost, true
	}
	return h, true
}

// scanEntry reads an entry as Put spells it.
func scanEntry(b []byte) (Entry, bool) {
	s := scanner{b: b, ok: true}
	var e Entry
	s.key(`{"name":`)
	e.Name = s.str()
	s.key(`,"dir":`)
	e.Dir = s.str()
	s.key(`,"project":`)
	e.Project = s.str()
	s.key(`,"id":`)
	e.ID = s.str()
	s.key(`,"agent":`)
	e.Agent = s.str()
	s.key(`,"host":`)
	e.Host = s.str()
	s.key(`,"pid":`)
	e.PID = int(s.int())
	s.key(`,"started":`)
	e.Started = s.time()
	s.key(`,"version":`)
	e.Version = s.str()
	if bytes.HasPrefix(s.b, []byte(`,"mount":`)) {
		s.key(`,"mount":`)
		e.Mount = s.str()
	}
	s.key("}\n")
	return e, s.ok && len(s.b) == 0
}

// scanHolder reads a lock file as Acquire spells it.
func scanHolder(b []byte) (holder, bool) {
	s := scanner{b: b, ok: true}
	var h holder
	s.key(`{"pid":`)
	h.PID = int(s.int())
	s.key(`,"host":`)
	h.Host = s.str()
	s.key(`,"since":`)
	h.Since = s.time()
	s.key(`,"startTicks":`)
	h.StartTicks = uint64(s.int())
	s.key(`,"boot":`)
	h.Boot = s.str()
	s.key("}\n")
	return h, s.ok && len(s.b) == 0
}
