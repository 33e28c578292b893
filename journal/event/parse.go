package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// Event is one line of a journal. It shares the memory of the line and is valid as long as that is.
// [Event.Clone] makes an independent one.
type Event struct {
	Seq   Seq
	Iter  int
	Cause Seq
	At    time.Time // UTC, microseconds
	Type  Type

	line   []byte
	id, by []byte
	data   []byte // from where the data value begins; the rest of the line may follow it
}

// DecodeError reports why a line or a payload cannot be read.
type DecodeError struct {
	Type    Type   // empty for the envelope
	Code    string // of an envelope, for programs: not-object, version or envelope
	Problem string
}

func (e *DecodeError) Error() string {
	if e.Type == "" {
		return "event line: " + e.Problem
	}
	return fmt.Sprintf("event %s: %s", e.Type, e.Problem)
}

// Parse reads the envelope of a line without its newline. It checks neither the CRC nor that data
// and raw are valid JSON.
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
	ok := p.skip(`{"v":1,"seq":`) && p.seq(&e.Seq) &&
		p.skip(`,"id":"`) && p.plain(&e.id) &&
		p.skip(`,"at":"`) && p.time(&e.At) &&
		p.skip(`","iter":`) && p.int(&e.Iter) &&
		p.skip(`,"by":"`) && p.plain(&e.by)
	if !ok {
		return false
	}
	if p.skip(`,"cause":`) && !p.seq(&e.Cause) {
		return false
	}
	var typ []byte
	if !p.skip(`,"type":"`) || !p.plain(&typ) || len(typ) == 0 || !p.skip(`,"data":`) || p.at >= len(line) {
		return false
	}
	e.Type = intern(typ)
	e.data = line[p.at:]
	return true
}

// parseAny reads an envelope whose keys have another order or that has more keys: lines of a later
// version, or edited by hand.
func parseAny(line []byte) (Event, error) {
	e := Event{line: line}
	if !jsonscan.Valid(line) || line[0] != '{' {
		return e, &DecodeError{Code: "not-object", Problem: "not a JSON object"}
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
				return e, &DecodeError{Code: "version", Problem: fmt.Sprintf("version %d is not known to this ralph", v)}
			}
		case "seq":
			e.Seq, good = seqOf(value)
			seen++
		case "iter":
			var n int64
			n, good = jsonscan.Int(value)
			e.Iter = int(n)
		case "cause":
			e.Cause, good = seqOf(value)
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
			return e, &DecodeError{Code: "envelope", Problem: fmt.Sprintf("the value of %q is not valid", key)}
		}
	}
	if seen < 2 {
		return e, &DecodeError{Code: "envelope", Problem: "it has no seq or no type"}
	}
	return e, nil
}

func seqOf(value []byte) (Seq, bool) {
	n, ok := jsonscan.Uint(value)
	return Seq(n), ok
}

// unquoted returns the text of a string value.
func unquoted(value []byte) []byte { return jsonscan.AppendUnquoted(nil, value) }

// parser reads one line. Every step reports whether it found what it expects.
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

func (p *parser) seq(out *Seq) bool { return p.uint((*uint64)(out)) }

func (p *parser) int(out *int) bool {
	var n uint64
	ok := p.uint(&n)
	*out = int(n)
	return ok
}

// plain reads up to the closing quote of a string that has nothing escaped.
func (p *parser) plain(out *[]byte) bool {
	b := p.b[p.at:]
	n := bytes.IndexByte(b, '"')
	if n < 0 || bytes.IndexByte(b[:n], '\\') >= 0 {
		return false
	}
	*out = b[:n:n]
	p.at += n + 1
	return true
}

// time reads the 27 bytes of a time in UTC with microseconds. time.Time.UnmarshalText takes four
// times as long, which makes batches of 32 lines a tenth slower to append.
func (p *parser) time(out *time.Time) bool {
	const n = len("2026-11-21T01:52:28.123456Z")
	if len(p.b)-p.at < n {
		return false
	}
	b := (*[n]byte)(p.b[p.at:])
	// For a byte that is no digit, 9 minus it is negative: as an unsigned number it is very large.
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

// daysSince1970 counts days in the Gregorian calendar, with years that begin in March so that the
// leap day comes last.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return int64(365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468)
}

// ID returns the event's ULID.
func (e Event) ID() string { return string(e.id) }

// By is the author: loop, agent:<name>, inbox:<id>, clock, hook:<event>.
func (e Event) By() string { return string(e.by) }

// Data returns the payload as the line has it.
func (e Event) Data() json.RawMessage {
	if e.data == nil {
		return nil
	}
	return json.RawMessage(e.data[:jsonscan.Len(e.data)])
}

// Field returns one top-level value of the data without reading what follows it, or nil. It is for
// readers that need a short field of a payload with a long one.
func (e Event) Field(key string) []byte {
	return jsonscan.Get(e.data, key)
}

// Raw returns the agent's own line where this event was the first made from it.
func (e Event) Raw() json.RawMessage { return jsonscan.Get(e.line, "raw") }

// Line returns the line without its newline.
func (e Event) Line() []byte { return e.line }

// Clone returns an event that does not share memory with the line it was read from.
func (e Event) Clone() Event {
	// Parse cannot fail on a line that it has read before.
	clone, _ := Parse(bytes.Clone(e.line))
	return clone
}

// As decodes the payload of an event that has the type of T. [Decode] decodes that of any event.
func As[T Payload](e Event) (T, error) {
	var p T
	if p.EventType() != e.Type {
		return p, &DecodeError{Type: e.Type, Problem: "read as " + string(p.EventType())}
	}
	if d, ok := any(&p).(decoder); ok {
		if !d.decode(e) {
			return p, &DecodeError{Type: e.Type, Problem: "data is not valid"}
		}
		return p, nil
	}
	if err := json.Unmarshal(e.Data(), &p); err != nil {
		return p, &DecodeError{Type: e.Type, Problem: err.Error()}
	}
	return p, nil
}

// decoder is a payload that occurs by the thousand and decodes itself.
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
		case "unpriced":
			if !jsonscan.IsNull(value) {
				unpriced, ok := jsonscan.Bool(value)
				p.Unpriced, good = unpriced, good && ok
			}
		}
	}
}

func (p *AgentNoticed) decode(e Event) bool {
	good := jsonscan.IsObject(e.data)
	cur := jsonscan.Object(e.data)
	for {
		key, value, ok := cur.Next()
		if !ok {
			return good
		}
		switch string(key) {
		case "what":
			p.What = jsonscan.Unquote(value)
		case "text":
			p.Text = jsonscan.Unquote(value)
		default:
			continue
		}
		good = good && (jsonscan.IsString(value) || jsonscan.IsNull(value))
	}
}
