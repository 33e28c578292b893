package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkDocument compares what is found in a document, down to its last value, with what the cursors
// and Get find by reading it again.
func checkDocument(t *testing.T, d *Document, doc []byte) {
	t.Helper()
	value, err := d.Read(doc)
	if err != nil {
		if value.Exists() || value.Raw() != nil {
			t.Fatalf("a value of %.200q, which is not valid: %q", doc, value.Raw())
		}
		return
	}
	if got, want := string(value.Raw()), strings.Trim(string(doc), " \t\r\n"); got != want {
		t.Fatalf("the value of %.200q is %q", doc, got)
	}
	sameAsScanned(t, value, value.Raw())
}

func sameAsScanned(t *testing.T, v Value, raw []byte) {
	t.Helper()
	if !bytes.Equal(v.Raw(), raw) || !v.Exists() {
		t.Fatalf("found %.200q, scanned %.200q", v.Raw(), raw)
	}
	if v.IsString() != IsString(raw) || v.IsObject() != IsObject(raw) || v.IsArray() != IsArray(raw) || v.IsNull() != IsNull(raw) ||
		v.IsTrue() != (string(raw) == "true") || !bytes.Equal(v.Inner(), inner(raw)) || v.Text() != Unquote(raw) ||
		v.Says(v.Text()) != IsString(raw) || v.Is(string(v.Inner())) != IsString(raw) {
		t.Fatalf("%.200q is taken for another kind of value", raw)
	}
	scanned := Object(raw)
	for key, member := range v.Members() {
		wantKey, want, ok := scanned.Next()
		if !ok || !bytes.Equal(key, wantKey) {
			t.Fatalf("member %q of %.200q, scanned %q", key, raw, wantKey)
		}
		name := string(appendUnescaped(nil, key))
		if got, want := v.Get(name).Raw(), Get(raw, name); !bytes.Equal(got, want) {
			t.Fatalf("Get(%q) of %.200q is %q, scanned %q", name, raw, got, want)
		}
		sameAsScanned(t, member, want)
	}
	if key, _, ok := scanned.Next(); ok {
		t.Fatalf("%.200q has no member %q", raw, key)
	}
	elements := items(t, raw)
	for item := range v.Items() {
		if len(elements) == 0 {
			t.Fatalf("%.200q has too many items", raw)
		}
		sameAsScanned(t, item, elements[0])
		elements = elements[1:]
	}
	if len(elements) > 0 {
		t.Fatalf("%.200q has no item %q", raw, elements[0])
	}
}

func TestDocumentEqualsCursors(t *testing.T) {
	var reused Document
	for _, c := range documents {
		if len(c.doc) < MaxDepth { // walking those of MaxDepth levels is quadratic
			t.Run(c.name, func(t *testing.T) { checkDocument(t, &reused, []byte(c.doc)) })
		}
	}
	for _, line := range agentLines()[:300] {
		checkDocument(t, &reused, line)
	}
	line := []byte(`{"a\"b":"x\\","n":[1,"]}\"",{"k":[{}]},-2.5e3],"t" : true , "deep":{"a":{"b":"\u00e9\n"},"a":[]}}`)
	for end := range len(line) + 1 {
		checkDocument(t, &reused, line[:end])
		checkDocument(t, &reused, line[end:])
	}
}

// TestDocumentEqualsEncodingJSON builds the same tree as encoding/json.
func TestDocumentEqualsEncodingJSON(t *testing.T) {
	var d Document
	check := func(doc []byte) {
		if !json.Valid(doc) || !utf8.Valid(doc) {
			return
		}
		var want any
		decoder := json.NewDecoder(bytes.NewReader(doc))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		value, err := d.Read(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := built(value); !reflect.DeepEqual(got, want) {
			t.Fatalf("%.200q is %v, want %v", doc, got, want)
		}
	}
	for _, c := range documents {
		if len(c.doc) < MaxDepth {
			check([]byte(c.doc))
		}
	}
	for _, line := range agentLines()[:300] {
		check(line)
	}
}

func built(v Value) any {
	switch {
	case v.IsObject():
		object := map[string]any{}
		for key, member := range v.Members() {
			object[string(appendUnescaped(nil, key))] = built(member)
		}
		return object
	case v.IsArray():
		array := []any{}
		for item := range v.Items() {
			array = append(array, built(item))
		}
		return array
	case v.IsString():
		return v.Text()
	case v.IsNull():
		return nil
	}
	if b, ok := v.Bool(); ok {
		return b
	}
	return json.Number(v.Raw())
}

func TestDeepDocuments(t *testing.T) {
	deep := strings.Repeat(`[{"a":`, MaxDepth/2) + "7" + strings.Repeat("}]", MaxDepth/2)
	value, err := new(Document).Read([]byte(deep))
	if err != nil {
		t.Fatal(err)
	}
	for range MaxDepth / 2 {
		value = value.Item(0).Get("a")
	}
	if n, ok := value.Int(); n != 7 || !ok {
		t.Errorf("at the bottom is %q", value.Raw())
	}
	if _, err := new(Document).Read([]byte("[" + deep + "]")); !errors.Is(err, ErrInvalid) {
		t.Errorf("one level more: %v", err)
	}
}

func TestAbsentValues(t *testing.T) {
	var d Document
	value, err := d.Read([]byte(`{"type":"user","list":[1,[2]],"null":null,"n\u0061me":"x","twice":1,"twice":2}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]Value{
		"a member that is absent":          value.Get("absent"),
		"a member of what is absent":       value.Get("absent").Get("x"),
		"a member of a string":             value.Get("type").Get("user"),
		"a member of an array":             value.Get("list").Get("0"),
		"a member of null":                 value.Get("null").Get("x"),
		"part of a key":                    value.Get("typ"),
		"a key by the spelling of escapes": value.Get(`n\u0061me`),
		"an item after the last":           value.Get("list").Item(2),
		"an item of an object":             value.Item(0),
		"an item of a string":              value.Get("type").Item(0),
		"the zero value":                   {},
	} {
		t.Run(name, func(t *testing.T) {
			if v.Exists() || v.Raw() != nil || v.Inner() != nil || v.Text() != "" || v.Is("") || v.Says("") || v.IsNull() || v.IsObject() {
				t.Errorf("there is %q", v.Raw())
			}
			for range v.Members() {
				t.Error("it has members")
			}
			for range v.Items() {
				t.Error("it has items")
			}
			if _, ok := v.Int(); ok {
				t.Error("it is a number")
			}
		})
	}
	if !value.Get("null").Exists() || !value.Get("null").IsNull() {
		t.Error("null is not there")
	}
	if !value.Get("name").Is("x") || !value.Get("name").Says("x") || string(value.Get("twice").Raw()) != "1" || string(value.Get("list").Item(1).Item(0).Raw()) != "2" {
		t.Error("what is there was not found")
	}
}

func TestDocumentResultsDoNotAlias(t *testing.T) {
	line := `{"a":"b","c":[1,2]}`
	doc := []byte(line)
	value, err := new(Document).Read(doc)
	if err != nil {
		t.Fatal(err)
	}
	for key, member := range value.Members() {
		_ = append(key, '!')
		_ = append(member.Raw(), '!')
		_ = append(member.Inner(), '!')
	}
	if string(doc) != line {
		t.Errorf("the line is now %s", doc)
	}
}

// TestDocumentReleasesMemory: after one line of many values, later lines need little memory again.
func TestDocumentReleasesMemory(t *testing.T) {
	var d Document
	for _, line := range []string{"[" + strings.Repeat("1,", 10*keptNodes) + "1]", "{}"} {
		if _, err := d.Read([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if cap(d.nodes) > keptNodes {
		t.Errorf("memory for %d values is kept", cap(d.nodes))
	}
}

func TestDocumentWithTooManyValues(t *testing.T) {
	line := []byte("[" + strings.Repeat("1,", 2*maxNodes) + "1]")
	var d Document
	if value, err := d.Read(line); !errors.Is(err, ErrInvalid) || value.Exists() {
		t.Errorf("read: %v", err)
	}
	if value, err := d.Read(line[len(line)-2 : len(line)-1]); err != nil || string(value.Raw()) != "1" {
		t.Errorf("the line after it: %v", err)
	}
}
