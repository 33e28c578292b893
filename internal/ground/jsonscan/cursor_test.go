package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCursorsOverValidDocuments(t *testing.T) {
	for _, c := range documents {
		if len(c.doc) < MaxDepth { // walking those of MaxDepth levels is quadratic; see TestCursorsSkipDeepValues
			t.Run(c.name, func(t *testing.T) { checkCursors(t, []byte(c.doc)) })
		}
	}
	for _, line := range agentLines()[:300] {
		checkCursors(t, line)
	}
}

func TestCursorsSkipDeepValues(t *testing.T) {
	deep := strings.Repeat(`[{"a":`, MaxDepth) + `"]}"` + strings.Repeat("}]", MaxDepth)
	members := Object([]byte(`{"deep":` + deep + `,"next":1}`))
	if key, value, ok := members.Next(); !ok || string(key) != "deep" || string(value) != deep {
		t.Errorf("first member %q of %d bytes", key, len(value))
	}
	if key, value, ok := members.Next(); !ok || string(key) != "next" || string(value) != "1" {
		t.Errorf("second member %q: %q", key, value)
	}
}

// TestCursorsOverCutLines ends values at every byte of a line.
func TestCursorsOverCutLines(t *testing.T) {
	line := []byte(`{"a\"b":"x\\","n":[1,"]}\"",{"k":[{}]},-2.5e3],"t" : true , "deep":{"a":{"b":"é\n"}}}`)
	for end := range len(line) + 1 {
		checkCursors(t, line[:end])
		checkCursors(t, line[end:])
	}
}

// checkCursors walks doc to its last scalar. If it is valid, what is found must be what
// encoding/json finds; else the walk must just end.
func checkCursors(t *testing.T, doc []byte) {
	t.Helper()
	if !json.Valid(doc) || !utf8.Valid(doc) {
		walkAnything(t, doc, 5)
		return
	}
	doc = bytes.TrimSpace(doc)
	var want any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if got := walk(t, doc); !reflect.DeepEqual(got, want) { // cmp.Diff takes minutes over deep nesting
		t.Fatalf("%.200q is %v, want %v", doc, got, want)
	}
}

// walk builds what encoding/json would, of nothing but this package's functions.
func walk(t *testing.T, value []byte) any {
	switch {
	case IsObject(value):
		object := map[string]any{}
		for c := Object(value); ; {
			key, v, ok := c.Next()
			if !ok {
				return object
			}
			name := string(appendUnescaped(nil, key))
			if !EqualKey(key, name) || EqualKey(key, name+"x") {
				t.Fatalf("EqualKey(%q, %q)", key, name)
			}
			if _, seen := object[name]; !seen {
				if got := Get(value, name); !bytes.Equal(got, v) {
					t.Fatalf("Get(%q, %q) = %q, want %q", value, name, got, v)
				}
			}
			object[name] = walk(t, v)
		}
	case IsArray(value):
		array := []any{}
		for _, item := range items(t, value) {
			array = append(array, walk(t, item))
		}
		return array
	case IsString(value):
		text := Unquote(value)
		if !EqualKey(inner(value), text) || EqualKey(inner(value), text+"x") || string(AppendUnquoted([]byte("before"), value)) != "before"+text {
			t.Fatalf("Unquote(%q) = %q", value, text)
		}
		return text
	case IsNull(value):
		return nil
	case string(value) == "true", string(value) == "false":
		b, ok := Bool(value)
		if !ok {
			t.Fatalf("Bool(%q) is not ok", value)
		}
		return b
	}
	checkNumbers(t, value)
	return json.Number(value)
}

// items returns the elements of a valid array as the array spells them.
func items(t *testing.T, array []byte) (items []json.RawMessage) {
	t.Helper()
	if !IsArray(array) {
		return nil
	}
	if err := json.Unmarshal(array, &items); err != nil {
		t.Fatal(err)
	}
	return items
}

// checkNumbers compares the number functions with encoding/json. The value need not be a number,
// nor valid.
func checkNumbers(t *testing.T, value []byte) {
	t.Helper()
	if !bytes.Equal(value, bytes.TrimSpace(value)) || IsNull(value) { // which encoding/json takes for 0
		return
	}
	var i int64
	if err := json.Unmarshal(value, &i); err != nil {
		i = 0
	} else if got, ok := Int(value); !ok || got != i {
		t.Errorf("Int(%q) = %d, %t, want %d", value, got, ok, i)
	}
	if got, ok := Int(value); ok && got != i {
		t.Errorf("Int(%q) = %d, want none", value, got)
	}
	var u uint64
	err := json.Unmarshal(value, &u)
	if got, ok := Uint(value); ok != (err == nil) || ok && got != u {
		t.Errorf("Uint(%q) = %d, %t, want %d, %v", value, got, ok, u, err)
	}
	var x float64
	err = json.Unmarshal(value, &x)
	if got, ok := Float(value); ok != (err == nil) || ok && got != x {
		t.Errorf("Float(%q) = %g, %t, want %g, %v", value, got, ok, x, err)
	}
}

// walkAnything walks as walk does over bytes that are no JSON, where the answers mean nothing: each
// cursor has to end, yielding no more items than there are bytes, all of them parts of the value.
// It goes only some levels down, since a garbled value may be found again in each of its parts.
func walkAnything(t *testing.T, value []byte, levels int) {
	if levels == 0 {
		return
	}
	Get(value, "a", "b")
	EqualKey(value, "abc")
	Int(value)
	Float(value)
	if n := len(AppendUnquoted(nil, value)); n > len(value) || n != len(Unquote(value)) {
		t.Fatalf("AppendUnquoted(%q) has %d bytes", value, n)
	}
	items := 0
	count := func(item []byte) {
		if items++; items > len(value) || len(item) == 0 || len(item) >= len(value) {
			t.Fatalf("item %d of %q: %q", items, value, item)
		}
		walkAnything(t, item, levels-1)
	}
	for c := Object(value); ; {
		key, item, ok := c.Next()
		if !ok {
			break
		}
		EqualKey(key, "abc")
		count(item)
	}
}

func TestEndedCursorsStayEnded(t *testing.T) {
	object := Object([]byte(`{"a":1}`))
	object.Next()
	for range 3 {
		if _, _, ok := object.Next(); ok {
			t.Error("an object cursor began again")
		}
	}
	var none ObjectCursor
	if _, _, ok := none.Next(); ok {
		t.Error("the zero cursor has a member")
	}
}

func TestCursorResultsDoNotAlias(t *testing.T) {
	doc := []byte(`{"a":"b","c":[1,2]}`)
	members := Object(doc)
	key, value, _ := members.Next()
	for _, part := range [][]byte{key, value, Get(doc, "a")} {
		_ = append(part, '!')
	}
	if string(doc) != `{"a":"b","c":[1,2]}` {
		t.Errorf("the document is now %s", doc)
	}
}

func TestGet(t *testing.T) {
	doc := []byte(`{"type":"user","n\u0061me":"x","message":{"usage":{"out":12,"out":13},"list":[{"out":1}]},"null":null}`)
	for _, c := range []struct {
		name string
		path []string
		want string
	}{
		{"no path is the value itself", nil, string(doc)},
		{"a member", []string{"type"}, `"user"`},
		{"an escaped key", []string{"name"}, `"x"`},
		{"an escaped key is not found by its escapes", []string{`n\u0061me`}, ""},
		{"the first of two", []string{"message", "usage", "out"}, "12"},
		{"null is present", []string{"null"}, "null"},
		{"nothing is below null", []string{"null", "x"}, ""},
		{"absent", []string{"message", "x", "y"}, ""},
		{"arrays are not entered", []string{"message", "list", "out"}, ""},
		{"strings are not entered", []string{"type", "user"}, ""},
		{"part of a key is not the key", []string{"messag"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Get(doc, c.path...)
			if string(got) != c.want || (got == nil) != (c.want == "") {
				t.Errorf("Get(%q) = %q, want %q", c.path, got, c.want)
			}
		})
	}
}

func FuzzCursor(f *testing.F) {
	addDocuments(f)
	f.Add([]byte(strings.Repeat(`{"a":[`, 20)))
	f.Add([]byte(`{"a"::1,,"b":}[`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		checkCursors(t, doc)
		checkNumbers(t, doc)
	})
}
