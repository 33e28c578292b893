package jsonscan

import (
	"iter"
	"math"
)

// Document is a line that was checked once, with a note of where each of its values is: a value is
// found without reading the bytes again. The zero value is ready to [Document.Read]. It may be used
// again for the next line, and by one goroutine at a time.
type Document struct {
	b     []byte
	nodes []node // the values in the order in which they begin
}

// node is one value. Offsets keep it at twenty bytes without a pointer.
type node struct {
	key, keyEnd uint32 // of a member, without its quotes
	at, end     uint32
	next        uint32 // the node after this one and all within it
}

const (
	usualNodes = 1 << 10 // the values of a line that has many, 20 KiB
	keptNodes  = 4 << 10 // how many are kept in memory between lines, 80 KiB
	maxNodes   = 4 << 20 // of a line: a hostile one takes at most 80 MiB
)

// NewDocument returns a Document that has the memory for usual lines already.
func NewDocument() *Document { return &Document{nodes: make([]node, 0, usualNodes)} }

// Read checks line as [Valid] does, refuses one of 4 GiB or of some four million values as well,
// and returns its value. The value is valid until line is changed or Read is called again. The
// error is [ErrInvalid].
func (d *Document) Read(line []byte) (Value, error) {
	if cap(d.nodes) > keptNodes {
		d.nodes = make([]node, 0, usualNodes)
	}
	d.b, d.nodes = line, d.nodes[:0]
	if len(line) < math.MaxUint32 {
		if i := d.scan(skipSpace(line, 0), node{}, 0); i != invalid && skipSpace(line, i) == len(line) {
			return d.value(0), nil
		}
	}
	d.b, d.nodes = nil, d.nodes[:0]
	return Value{}, ErrInvalid
}

// scan checks the value at b[i], appends n as its node and those of all values in it, and returns
// the index after it, or invalid. depth is the number of containers around it.
func (d *Document) scan(i int, n node, depth int) int {
	b := d.b
	if i >= len(b) || len(d.nodes) >= maxNodes {
		return invalid
	}
	n.at = uint32(i)
	index := len(d.nodes)
	d.nodes = append(d.nodes, n)
	switch b[i] {
	case '"':
		i = checkText(b, i+1)
	case '{', '[':
		if depth == MaxDepth {
			return invalid
		}
		i = d.scanItems(i, depth+1)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		i = checkNumber(b, i)
	case 't':
		i = checkWord(b, i, "true")
	case 'f':
		i = checkWord(b, i, "false")
	case 'n':
		i = checkWord(b, i, "null")
	default:
		return invalid
	}
	d.nodes[index].end, d.nodes[index].next = uint32(i), uint32(len(d.nodes))
	return i
}

// scanItems checks the container that opens at b[i].
func (d *Document) scanItems(i, depth int) int {
	b := d.b
	object, closing := b[i] == '{', b[i]+2 // both closing brackets are two after the opening ones
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == closing {
		return i + 1
	}
	for {
		var n node
		if object {
			if i >= len(b) || b[i] != '"' {
				return invalid
			}
			n.key = uint32(i + 1)
			if i = checkText(b, i+1); i == invalid {
				return invalid
			}
			n.keyEnd = uint32(i - 1)
			if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
				return invalid
			}
			i = skipSpace(b, i+1)
		}
		if i = d.scan(i, n, depth); i == invalid {
			return invalid
		}
		i = skipSpace(b, i)
		switch {
		case i >= len(b):
			return invalid
		case b[i] == closing:
			return i + 1
		case b[i] != ',':
			return invalid
		}
		i = skipSpace(b, i+1)
	}
}

// Value is a value of a [Document]. The zero Value is an absent one: it is of no kind, has no
// members and no text.
type Value struct {
	doc  *Document
	n    uint32
	kind byte // the first of its bytes, 0 if there is none
}

// value returns the value of a node.
func (d *Document) value(n uint32) Value { return Value{d, n, d.b[d.nodes[n].at]} }

// Exists reports whether the value is there. null is.
func (v Value) Exists() bool { return v.kind != 0 }

// Raw returns the value as the line spells it, a part of the line; nil if there is none.
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

// Is reports whether the value is a string that equals word without resolving escapes. It costs
// less than Says. Words of a protocol are compared with it: a word written with escapes is not
// recognised.
func (v Value) Is(word string) bool { return v.kind == '"' && string(v.Inner()) == word }

// Says reports whether the value is a string of this text, with any encoding.
func (v Value) Says(text string) bool { return v.kind == '"' && EqualKey(v.Inner(), text) }

// Inner returns what is between the quotes of a string, escapes still in place, a part of the line;
// nil for what is no string.
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

// Get follows path from member to member through nested objects, and returns the value at its end.
// Of members of the same name it takes the first.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		v = v.member(name)
	}
	return v
}

func (v Value) member(name string) Value {
	for key, member := range v.Members() {
		if EqualKey(key, name) {
			return member
		}
	}
	return Value{}
}

// Members returns the members of an object in order, those of the same name included, with their
// names as [Value.Inner] has them.
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
