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
func Parse(line []byte) (e Event, err error) {
	if e.parseOrdered(line) {
		return e, nil
	}
	return parseAny(line)
}

// parseOrdered reads the envelope as this version writes it.
func (e *Event) parseOrdered(line []byte) bool {
	e.line = line
	p := parser{b: line}
	ok := p.skip(`{"v":1,"seq":`) && p.uint(&e.Seq) &&
		p.skip(`,"id":"`) && p.plain(&e.id) &&
		p.skip(`,"at":"`) && p.time(&e.At) &&
		p.skip(`","iter":`) && p.int(&e.Iter) &&
		p.skip(`,"by":"`) && p.plain(&e.by)
	if !ok {
		return false
	}
	if p.skip(`,"cause":`) && !p.uint(&e.Cause) {
		return false
	}
	var typ []byte
	if !p.skip(`,"type":"`) || !p.plain(&typ) || !p.skip(`,"data":`) || p.at >= len(line) {
		return false
	}
	e.Type = intern(typ)
	e.data = line[p.at:]
	return true
}

// Written returns the event of a whole line that [AppendOpen] began with this
// stamp and draft and that may have been changed from said on, at half the cost of
// parsing it: at.At is taken as the line has it, in UTC and whole microseconds. It
// reports false where the line does not say what it was made from; [Parse] tells
// what it says.
func Written(line []byte, said int, at *Stamp, d *Draft) (e Event, ok bool) {
	p := parser{b: line, at: len(`{"v":1,"seq":`)}
	if !p.uint(&e.Seq) || !p.skip(`,"id":"`) || e.Seq != at.Seq {
		return e, false
	}
	e.id = line[p.at : p.at+len(at.ID) : p.at+len(at.ID)]
	p.at = said
	if !p.skip(`,"by":"`) || !p.plain(&e.by) {
		return e, false
	}
	if p.skip(`,"cause":`) && !p.uint(&e.Cause) {
		return e, false
	}
	if !p.skip(`,"type":"`) || !p.skip(string(d.Type)) || !p.skip(`","data":`) || p.at >= len(line) {
		return e, false
	}
	e.At, e.Iter, e.Type = at.At, d.Iter, d.Type
	e.line, e.data = line, line[p.at:]
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
	var n uint64
	digits := 0
	for _, c := range p.b[p.at:] {
		c -= '0'
		if c > 9 {
			break
		}
		n = n*10 + uint64(c)
		digits++
	}
	*out = n
	p.at += digits
	return digits > 0 && digits < 20
}

func (p *parser) int(out *int) bool {
	var n uint64
	ok := p.uint(&n)
	*out = int(n)
	return ok
}

// plain reads up to the closing quote of a string that has nothing escaped.
func (p *parser) plain(out *[]byte) bool {
	b := p.b[p.at:]
	for i, c := range b {
		if c == '"' {
			*out = b[:i:i]
			p.at += i + 1
			return true
		}
		if c == '\\' {
			return false
		}
	}
	return false
}

// time reads the 27 bytes that AppendTime writes.
func (p *parser) time(out *time.Time) bool {
	const n = len("2026-11-21T01:52:28.123456Z")
	if len(p.b)-p.at < n {
		return false
	}
	b := (*[n]byte)(p.b[p.at:])
	// A byte that is no digit makes 9 minus it negative, which is a very large
	// number; all of them are looked at together.
	var most uint
	pair := func(i int) uint {
		tens, ones := uint(b[i]-'0'), uint(b[i+1]-'0')
		most |= (9 - tens) | (9 - ones)
		return 10*tens + ones
	}
	year := 100*pair(0) + pair(2)
	month, day := pair(5), pair(8)
	hour, minute, second := pair(11), pair(14), pair(17)
	seconds := hour*3600 + minute*60 + second
	micros := pair(20)*10000 + pair(22)*100 + pair(24)
	if most > 15 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[26] != 'Z' {
		return false
	}
	if month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return false
	}
	*out = time.Unix(daysSince1970(int(year), int(month), int(day))*86400+int64(seconds), int64(micros)*1000).UTC()
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

func (p *AgentUsed) decode(e Event) bool {
	good := jsonscan.IsObject(e.data)
	count := func(n *int64, value []byte) {
		var ok bool
		*n, ok = jsonscan.Int(value)
		good = good && (ok || jsonscan.IsNull(value))
	}
	cur := jsonscan.Object(e.data)
	for {
		key, value, ok := cur.Next()
		if !ok {
			return good
		}
		switch string(key) {
		case "in":
			count(&p.In, value)
		case "out":
			count(&p.Out, value)
		case "cacheRead":
			count(&p.CacheRead, value)
		case "cacheWrite":
			count(&p.CacheWrite, value)
		case "usd":
			p.USD = nil
			if !jsonscan.IsNull(value) {
				usd, ok := jsonscan.Float(value)
				p.USD, good = &usd, good && ok
			}
		case "model":
			p.Model = jsonscan.Unquote(value)
			good = good && (jsonscan.IsString(value) || jsonscan.IsNull(value))
		}
	}
}
