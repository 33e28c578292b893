package jsonscan

import (
	"bytes"
	"iter"
	"math"
	"slices"
)

// Document is a line that was checked once, with a note of where each of its values lies: what is looked for in it is found without the bytes being read
// again. The zero value is ready to [Document.Read]. It may be used again for the next line, and by one goroutine at a time.
type Document struct {
	b       []byte
	nodes   []node // the values in the order in which they begin
	spelled bool   // some key is spelled with an escape, so that it has to be compared by what it says
}

// node is one value. Offsets keep it at twenty bytes without a pointer, so that noting a value costs little beside checking it.
type node struct {
	key, keyEnd uint32 // of a member, without its quotes
	at, end     uint32
	next        uint32 // the node after this one and all within it; while a container is open, the one around it
}

// nowhere is around the outermost value.
const nowhere = math.MaxUint32

const (
	usualNodes = 1 << 10 // the values of a line that has many, 20 KiB
	keptNodes  = 4 << 10 // what memory is kept for from one line to the next, 80 KiB
	mostNodes  = 4 << 20 // of a line; it bounds what a hostile one of 64 MiB can have ralph take, to 80 MiB
)

// NewDocument returns a Document that has the memory for usual lines already.
func NewDocument() *Document { return &Document{nodes: make([]node, 0, usualNodes)} }

// Read checks line as [Valid] does, refuses one of 4 GiB or of some four million values as well, and returns its value, which holds as long as line is
// not changed, and no longer than until the next Read. The error is a *[SyntaxError]; there is no value then.
func (d *Document) Read(line []byte) (Value, error) {
	if cap(d.nodes) > keptNodes {
		d.nodes = make([]node, 0, usualNodes)
	}
	var i int
	f := tooLong
	if len(line) < math.MaxUint32 {
		d.spelled = false
		d.nodes, i, f = d.note(line, d.nodes[:0])
	}
	if f != sound {
		d.b, d.nodes = nil, d.nodes[:0]
		return Value{}, &SyntaxError{Offset: i, Reason: reasons[f]}
	}
	d.b = line
	return d.value(0), nil
}

// note checks a document and appends a node for each of its values. It returns the length of b, or the index of the offending byte. It is checkValue with a memory, and
// knows by the nodes what is open.
func (d *Document) note(b []byte, nodes []node) ([]node, int, fault) {
	var (
		key, keyEnd, at uint32            // of the value that is being read
		outer           = uint32(nowhere) // the container that is open
		object          bool              // whether that is an object
		depth           int
		f               fault
	)
	i := skipSpace(b, 0)
value:
	if i >= len(b) {
		return nodes, i, truncated
	}
	at = uint32(i)
	switch c := b[i]; c {
	case '"':
		if i, f = checkText(b, i+1); f != sound {
			return nodes, i, f
		}
	case '{', '[':
		if depth++; depth > MaxDepth {
			return nodes, i, tooDeep
		}
		if nodes = room(nodes); nodes == nil {
			return nil, i, tooLong
		}
		n := &nodes[len(nodes)-1]
		n.key, n.keyEnd, n.at, n.next = key, keyEnd, at, outer
		outer, object = uint32(len(nodes)-1), c == '{'
		i = skipSpace(b, i+1)
		if i < len(b) && b[i] == c+2 { // both closing brackets stand two after the opening ones
			goto closed
		}
		goto item
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if i, f = checkNumber(b, i); f != sound {
			return nodes, i, f
		}
	case 't':
		if i, f = checkWord(b, i, "true"); f != sound {
			return nodes, i, f
		}
	case 'f':
		if i, f = checkWord(b, i, "false"); f != sound {
			return nodes, i, f
		}
	case 'n':
		if i, f = checkWord(b, i, "null"); f != sound {
			return nodes, i, f
		}
	default:
		return nodes, i, unwanted
	}
	{
		if nodes = room(nodes); nodes == nil {
			return nil, i, tooLong
		}
		n := &nodes[len(nodes)-1]
		n.key, n.keyEnd, n.at, n.end, n.next = key, keyEnd, at, uint32(i), uint32(len(nodes))
	}
after:
	i = skipSpace(b, i)
	if outer == nowhere {
		if i < len(b) {
			return nodes, i, unwanted
		}
		return nodes, i, sound
	}
	if i >= len(b) {
		return nodes, i, truncated
	}
	switch c := b[i]; {
	case c == ',':
		i = skipSpace(b, i+1)
		goto item
	case c == '}' && object, c == ']' && !object:
		goto closed
	default:
		return nodes, i, unwanted
	}
closed:
	i++
	depth--
	nodes[outer].end = uint32(i)
	nodes[outer].next, outer = uint32(len(nodes)), nodes[outer].next
	object = outer != nowhere && b[nodes[outer].at] == '{'
	goto after
item:
	key, keyEnd = 0, 0
	if object {
		// What plainKey does, for keys of up to sixteen bytes: a call for each took a tenth of the time.
		if i+18 < len(b) && b[i] == '"' {
			end := i + 1
			m := unplain(load(b, end))
			if m == 0 {
				end += 8
				m = unplain(load(b, end))
			}
			if end += firstLane(m); b[end] == '"' && b[end+1] == ':' {
				key, keyEnd = uint32(i+1), uint32(end)
				i = skipSpace(b, end+2)
				goto value
			}
		}
		if end := plainKey(b, i); end > 0 { // a longer one
			key, keyEnd = uint32(i+1), uint32(end)
			i = skipSpace(b, end+2)
			goto value
		}
		end, colon, f := checkKey(b, i)
		if f != sound {
			return nodes, colon, f
		}
		key, keyEnd = uint32(i+1), uint32(end-1)
		d.spelled = d.spelled || bytes.IndexByte(b[key:keyEnd], '\\') >= 0
		i = skipSpace(b, colon+1)
	}
	goto value
}

// room returns nodes with one more, whose content is anything, and nil where there are too many: filling it in where it lies takes a third of the time of appending a whole one.
func room(nodes []node) []node {
	if len(nodes) == cap(nodes) {
		if len(nodes) >= mostNodes {
			return nil
		}
		nodes = slices.Grow(nodes, 1)
	}
	return nodes[:len(nodes)+1]
}

// Value is a value of a [Document]. The zero Value is one that is not there: it is of no kind, has no members and no text.
type Value struct {
	doc  *Document
	n    uint32
	kind byte // the first of its bytes, 0 where there is none
}

// value returns the value of a node.
func (d *Document) value(n uint32) Value { return Value{d, n, d.b[d.nodes[n].at]} }

// Exists reports whether the value is there. null is.
func (v Value) Exists() bool { return v.kind != 0 }

// Raw returns the value as the line spells it, a part of the line; nil where there is none.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := &v.doc.nodes[v.n]
	return v.doc.b[n.at:n.end:n.end]
}

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.kind == '"' }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.kind == '{' }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.kind == '[' }

// IsNull reports whether the value is there and null.
func (v Value) IsNull() bool { return v.kind == 'n' }

// IsTrue reports whether the value is true.
func (v Value) IsTrue() bool { return v.kind == 't' }

// Is reports whether the value is a string that is spelled like this word, in which there is nothing to escape. It is how the words of a protocol are told, and costs less than
// Says: a word that somebody spells with escapes is none.
func (v Value) Is(word string) bool { return v.kind == '"' && string(v.Inner()) == word }

// Says reports whether the value is a string of this text, however it is spelled.
func (v Value) Says(text string) bool { return v.kind == '"' && EqualKey(v.Inner(), text) }

// Inner returns what stands between the quotes of a string, escapes still in place, a part of the line; nil for what is no string.
func (v Value) Inner() []byte {
	if v.kind != '"' {
		return nil
	}
	n := &v.doc.nodes[v.n]
	return v.doc.b[n.at+1 : n.end-1 : n.end-1]
}

// Text returns the text of a string as a new string, "" for what is no string.
func (v Value) Text() string { return Unquote(v.Raw()) }

// Int is [Int] of the value.
func (v Value) Int() (int64, bool) { return Int(v.Raw()) }

// Float is [Float] of the value.
func (v Value) Float() (float64, bool) { return Float(v.Raw()) }

// Bool is [Bool] of the value.
func (v Value) Bool() (b, ok bool) { return Bool(v.Raw()) }

// Get follows path from member to member through nested objects, and returns the value at its end. Of members of the same name it takes the first.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

func (v Value) member(name string) Value {
	if v.kind != '{' {
		return Value{}
	}
	d := v.doc
	if d.spelled || name == "" {
		return v.spelledMember(name)
	}
	b, nodes := d.b, d.nodes
	for n, end := v.n+1, nodes[v.n].next; n < end; {
		m := &nodes[n]
		// Most names are told apart by their length and their first byte.
		if int(m.keyEnd-m.key) == len(name) && b[m.key] == name[0] && string(b[m.key:m.keyEnd]) == name {
			return Value{d, n, b[m.at]}
		}
		n = m.next
	}
	return Value{}
}

// spelledMember is member where a name may be spelled with escapes.
func (v Value) spelledMember(name string) Value {
	for key, member := range v.Members() {
		if EqualKey(key, name) {
			return member
		}
	}
	return Value{}
}

// Members returns the members of an object in order, those of the same name included, with their names as [Value.Inner] has them.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if !v.IsObject() {
			return
		}
		d := v.doc
		b, nodes := d.b, d.nodes
		for n, end := v.n+1, nodes[v.n].next; n < end; {
			m := &nodes[n]
			if !yield(b[m.key:m.keyEnd:m.keyEnd], Value{d, n, b[m.at]}) {
				return
			}
			n = m.next
		}
	}
}

// Items returns the elements of an array.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.IsArray() {
			return
		}
		d := v.doc
		for n, end := v.n+1, d.nodes[v.n].next; n < end; n = d.nodes[n].next {
			if !yield(d.value(n)) {
				return
			}
		}
	}
}

// Item returns the element at an index, the first at 0.
func (v Value) Item(index int) Value {
	for item := range v.Items() {
		if index == 0 {
			return item
		}
		index--
	}
	return Value{}
}
