package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// Event is one line of a journal, read where it lies: it shares the line's
// memory and is valid as long as that is. [Event.Clone] makes one that stands
// alone.
type Event struct {
	Seq   uint64
	Iter  int
	Cause uint64
	At    time.Time // UTC, microseconds
	Type  Type

	line   []byte
	id, by []byte
	data   []byte // from where the data value begins; the rest of the line may follow it
}

// DecodeError says why a line or a payload cannot be read.
type DecodeError struct {
	Type    Type // empty for the envelope
	Problem string
}

func (e *DecodeError) Error() string {
	if e.Type == "" {
		return "event line: " + e.Problem
	}
	return fmt.Sprintf("event %s: %s", e.Type, e.Problem)
}

// Parse reads the envelope of a line without its newline. It neither checks the
// CRC (see [Verify]) nor that data and raw are valid JSON.
func Parse(line []byte) (Event, error) {
	if e, ok := parseOrdered(line); ok {
		return e, nil
	}
	return parseAny(line)
}

// parseOrdered reads the envelope as this version writes it.
func parseOrdered(line []byte) (Event, bool) {
	e := Event{line: line}
	p := parser{b: line}
	ok := p.skip(`{"v":1,"seq":`) && p.uint(&e.Seq) &&
		p.skip(`,"id":"`) && p.plain(&e.id) &&
		p.skip(`,"at":"`) && p.time(&e.At) &&
		p.skip(`","iter":`) && p.int(&e.Iter) &&
		p.skip(`,"by":"`) && p.plain(&e.by)
	if !ok {
		return e, false
	}
	if p.skip(`,"cause":`) && !p.uint(&e.Cause) {
		return e, false
	}
	var typ []byte
	if !p.skip(`,"type":"`) || !p.plain(&typ) || !p.skip(`,"data":`) || p.at >= len(line) {
		return e, false
	}
	e.Type = intern(typ)
	e.data = line[p.at:]
	return e, true
}

// parseAny reads an envelope whose keys stand in another order or have company:
// lines of a later version, or edited by hand.
func parseAny(line []byte) (Event, error) {
	e := Event{line: line}
	if !jsonscan.Valid(line) || line[0] != '{' {
		return e, &DecodeError{Problem: "not a JSON object"}
	}
	seen := 0
	cur := jsonscan.Object(line)
	for {
		key, value, ok := cur.Next()
		if !ok {
			break
		}
		var good bool
		switch string(key) {
		case "v":
			var v uint64
			v, good = jsonscan.Uint(value)
			if good && v != 1 {
				return e, &DecodeError{Problem: fmt.Sprintf("version %d is not known to this ralph", v)}
			}
		case "seq":
			e.Seq, good = jsonscan.Uint(value)
			seen++
		case "iter":
			var n int64
			n, good = jsonscan.Int(value)
			e.Iter = int(n)
		case "cause":
			e.Cause, good = jsonscan.Uint(value)
		case "at":
			p := parser{b: value, at: 1}
			good = len(value) > 2 && p.time(&e.At)
		case "type":
			good = len(value) > 2 && jsonscan.IsString(value)
			if good {
				e.Type = intern(unquoted(value))
				seen++
			}
		case "id":
			good = jsonscan.IsString(value)
			e.id = unquoted(value)
		case "by":
			good = jsonscan.IsString(value)
			e.by = unquoted(value)
		case "data":
			good = true
			e.data = value
		default:
			good = true
		}
		if !good {
			return e, &DecodeError{Problem: fmt.Sprintf("the value of %q is not what it should be", key)}
		}
	}
	if seen < 2 {
		return e, &DecodeError{Problem: "it has no seq or no type"}
	}
	return e, nil
}

// unquoted returns what a string value holds, as []byte.
func unquoted(value []byte) []byte { return jsonscan.AppendUnquoted(nil, value) }

// parser walks one line; every step says whether it found what it looked for.
type parser struct {
	b  []byte
	at int
}

func (p *parser) skip(s string) bool {
	if len(p.b)-p.at < len(s) || string(p.b[p.at:p.at+len(s)]) != s {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) uint(out *uint64) bool {
	start := p.at
	var n uint64
	for p.at < len(p.b) && '0' <= p.b[p.at] && p.b[p.at] <= '9' {
		n = n*10 + uint64(p.b[p.at]-'0')
		p.at++
	}
	*out = n
	return p.at > start && p.at-start < 20
}

func (p *parser) int(out *int) bool {
	var n uint64
	ok := p.uint(&n)
	*out = int(n)
	return ok
}

// plain reads up to the closing quote of a string that has nothing escaped.
func (p *parser) plain(out *[]byte) bool {
	from := p.at
	for p.at < len(p.b) && p.b[p.at] != '"' {
		if p.b[p.at] == '\\' {
			return false
		}
		p.at++
	}
	*out = p.b[from:p.at]
	p.at++
	return p.at <= len(p.b)
}

// time reads the 27 bytes that AppendTime writes.
func (p *parser) time(out *time.Time) bool {
	const n = len("2026-11-21T01:52:28.123456Z")
	if len(p.b)-p.at < n {
		return false
	}
	b := p.b[p.at : p.at+n]
	if b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[26] != 'Z' {
		return false
	}
	var bad bool
	num := func(from, to int) (n int) {
		for _, c := range b[from:to] {
			if c < '0' || c > '9' {
				bad = true
			}
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := num(0, 4), num(5, 7), num(8, 10)
	seconds := num(11, 13)*3600 + num(14, 16)*60 + num(17, 19)
	micros := num(20, 26)
	if bad || month < 1 || month > 12 || day < 1 || day > 31 {
		return false
	}
	*out = time.UnixMicro((daysSince1970(year, month, day)*86400+int64(seconds))*1e6 + int64(micros)).UTC()
	p.at += n
	return true
}

// daysSince1970 counts days in the Gregorian calendar, with years that begin in
// March so that the leap day comes last. time.Date does the same with time zones
// and normalisation, at eight times the cost; this runs for every line.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return int64(365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468)
}

// ID returns the event's ULID.
func (e Event) ID() string { return string(e.id) }

// By says who: loop, agent:<name>, inbox:<id>, clock, hook:<event>.
func (e Event) By() string { return string(e.by) }

// Data returns the payload as it stands in the line.
func (e Event) Data() json.RawMessage {
	if e.data == nil {
		return nil
	}
	return json.RawMessage(e.data[:jsonscan.Len(e.data)])
}

// Field returns one top-level value of the data without reading what stands behind it, or
// nil. It is for readers that want a short field of a payload with a long one.
func (e Event) Field(key string) []byte {
	return jsonscan.Get(e.data, key)
}

// Raw returns the agent's own line where this event was the first made from it.
func (e Event) Raw() json.RawMessage { return jsonscan.Get(e.line, "raw") }

// Line returns the whole line without its newline.
func (e Event) Line() []byte { return e.line }

// Clone returns an event that does not share memory with the line it was read from.
func (e Event) Clone() Event {
	// Parse cannot fail on a line that it has read before.
	clone, _ := Parse(bytes.Clone(e.line))
	return clone
}

// As decodes the payload of an event that is of T's type.
func As[T Payload](e Event) (T, error) {
	var p T
	if p.EventType() != e.Type {
		return p, &DecodeError{Type: e.Type, Problem: "read as " + string(p.EventType())}
	}
	if d, ok := any(&p).(decoder); ok {
		if !d.decode(e) {
			return p, &DecodeError{Type: e.Type, Problem: "data is not what it should be"}
		}
		return p, nil
	}
	if err := json.Unmarshal(e.Data(), &p); err != nil {
		return p, &DecodeError{Type: e.Type, Problem: err.Error()}
	}
	return p, nil
}

// decoder is a payload that comes by the thousand and reads itself.
type decoder interface{ decode(e Event) bool }

func (p *AgentSaid) decode(e Event) bool {
	return decodeSaying(e, &p.Block, &p.Text, &p.Final, &p.Parent)
}

func (p *AgentThought) decode(e Event) bool {
	return decodeSaying(e, &p.Block, &p.Text, &p.Final, &p.Parent)
}

func decodeSaying(e Event, block *string, text *Text, final *bool, parent *string) bool {
	good := true
	cur := jsonscan.Object(e.data)
	for {
		key, value, ok := cur.Next()
		if !ok {
			return good
		}
		switch string(key) {
		case "block":
			*block = jsonscan.Unquote(value)
		case "text":
			*text = Text(value)
			good = good && len(value) >= 2 && value[0] == '"'
		case "final":
			*final, _ = jsonscan.Bool(value)
		case "parent":
			*parent = jsonscan.Unquote(value)
		}
	}
}
