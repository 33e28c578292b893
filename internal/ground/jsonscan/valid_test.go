package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// documents are the table of TestValid and seed the fuzz targets.
var documents = []struct {
	name  string
	doc   string
	valid bool
}{
	{"an empty document is truncated", "", false},
	{"whitespace alone is truncated", " \t\r\n", false},
	{"a scalar may be alone", "12", true},
	{"whitespace may surround everything", " \n{ \"a\" : [ 1 , { } , [ ] ] , \"b\"\t:\rnull } \n", true},
	{"other blanks are no whitespace", "\v1", false},
	{"a non-breaking space is no whitespace", "\u00a01", false},
	{"a byte order mark is refused", "\ufeff{}", false},
	{"a second value is refused", "{} {}", false},
	{"a NUL after the value is refused", "1\x00", false},
	{"true false null", "[true,false,null]", true},
	{"words are lower case", "True", false},
	{"a word may be cut", "[fals", false},
	{"a word may be wrong", "[nulp]", false},
	{"a word may not continue", "truely", false},
	{"NaN is no number", "NaN", false},
	{"numbers of all forms", "[0,-0,10,-1.5,0.0,1e5,1E+5,1e-05,123456789012345678901234567890.5e300]", true},
	{"a number has no plus", "+1", false},
	{"a number has no leading zero", "01", false},
	{"a minus wants a digit", "-", false},
	{"a minus wants a digit, not a letter", "-x", false},
	{"a negative number has no leading zero", "-01", false},
	{"a fraction wants digits", "1.", false},
	{"a fraction wants digits before", ".5", false},
	{"an exponent wants digits", "1e", false},
	{"a signed exponent wants digits", "[1e+]", false},
	{"hexadecimal is no number", "0x10", false},
	{"an open array is truncated", "[1", false},
	{"an open array after its comma is truncated", "[1,", false},
	{"an array has no last comma", "[1,]", false},
	{"an array has no first comma", "[,1]", false},
	{"an array closes with its own bracket", "[1}", false},
	{"an object closes with its own brace", `{"a":1]`, false},
	{"an array holds no pairs", `["a":1]`, false},
	{"an open object is truncated", "{", false},
	{"an object's key is a string", "{1:2}", false},
	{"a key wants a colon", `{"a"}`, false},
	{"a key wants a colon before the end", `{"a"`, false},
	{"a member wants a value", `{"a":}`, false},
	{"a member wants a value before the end", `{"a":`, false},
	{"an object has no last comma", `{"a":1,}`, false},
	{"members are parted by commas", `{"a":1 "b":2}`, false},
	{"an object ends before the document does", `{"a":1`, false},
	{"inner objects are checked too", `[{"a":{"b":tru}}]`, false},
	{"a closing bracket alone", "]", false},
	{"duplicate and empty keys are legal", `{"":1,"a":2,"a":3,"":4}`, true},
	{"an escaped key with quotes and space before its colon", `{"a\"b\\" : "x","\\":2}`, true},
	{"an open string is truncated", `"abc`, false},
	{"an open string longer than a word is truncated", `"abcdefghijklmnop`, false},
	{"all escapes", `"\"\\\/\b\f\n\r\t\u00e9\uD83d\uDe00"`, true},
	{"escaped lone surrogates are within the grammar", `"\ud800 \udc00 \ud800\u0041"`, true},
	{"an unknown escape", `"\x41"`, false},
	{"a cut escape", `"\`, false},
	{"an escape has four hexadecimal digits", `"\u12g4"`, false},
	{"an escape cut in its digits", `"\u12`, false},
	{"an escape is not closed by a quote", `"\u12"`, false},
	{"a raw newline in a string", "\"ab\ncd\"", false},
	{"a raw NUL in a long string", "\"abcdefghijkl\x00mnopqrstuvwxyz\"", false},
	{"DEL and quotes' neighbours are plain", "\"\x7f !#[]^abcdefghijk\x7f !#[]^\"", true},
	{"text of one to four bytes each", "\"aé€😀 and on and on é€😀\"", true},
	{"the limits of each length", "\"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\"", true},
	{"the replacement character itself", "\"\ufffd\"", true},
	{"a lone continuation byte", "\"a\x80bcdefgh\"", false},
	{"an overlong form of two bytes", "\"\xc1\xbfbcdefgh\"", false},
	{"an overlong form of three bytes", "\"\xe0\x9f\xbfbcdefgh\"", false},
	{"an overlong form of four bytes", "\"\xf0\x8f\xbf\xbfbcdefgh\"", false},
	{"an encoded surrogate", "\"\xed\xa0\x80bcdefgh\"", false},
	{"a sequence beyond the last code point", "\"\xf4\x90\x80\x80bcdefgh\"", false},
	{"a sequence cut by the quote", "\"abc\xe2\x82\"", false},
	{"a sequence cut by the end", "\"abc\xe2\x82", false},
	{"text after a bad byte is not reached", "\"abcdefgh\xff\x00", false},
	{"a bad byte outside strings is just unwanted", "[\xff]", false},
	{"as deep as may be", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), true},
	{"one deeper", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), false},
	{"objects as deep as may be", strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth), true},
	{"objects one deeper", strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1), false},
	{"deep and cut", strings.Repeat("[", 64) + `{"a":[`, false},
	{"brackets crossed where one stack of bits ends", strings.Repeat("[", 64) + "{]" + strings.Repeat("]", 64), false},
	{"brackets in order where one stack of bits ends", strings.Repeat("[", 63) + `{"a":{"b":[{}],"c":[]},"d":1}` + strings.Repeat("]", 63), true},
}

func TestValid(t *testing.T) {
	for _, c := range documents {
		t.Run(c.name, func(t *testing.T) {
			checkAgainstStandard(t, []byte(c.doc))
			if got := Valid([]byte(c.doc)); got != c.valid {
				t.Errorf("Valid = %t, want %t", got, c.valid)
			}
		})
	}
}

// TestValidAtEveryAlignment moves each way a string can end or fail through all lanes of a word and
// up to the end of the document.
func TestValidAtEveryAlignment(t *testing.T) {
	for _, piece := range []string{"", `\n`, `\"`, `\\`, `\u00e9`, "é", "€", "😀", "\n", "\x1f", "\x80", "\xc0\x80", "\xed\xa0\x80", `\x`, `\u00`} {
		for before := range 20 {
			for after := range 20 {
				doc := `"` + strings.Repeat("a", before) + piece + strings.Repeat("b", after) + `"`
				for _, doc := range []string{doc, "{" + doc + ":1}", "{" + doc + " :1}"} {
					for cut := range min(3, len(doc)) {
						checkAgainstStandard(t, []byte(doc[:len(doc)-cut])[:len(doc)-cut:len(doc)-cut])
					}
				}
			}
		}
	}
}

// checkAgainstStandard compares Valid and a Document with encoding/json.
func checkAgainstStandard(t *testing.T, doc []byte) {
	t.Helper()
	// Outside strings a valid document is ASCII, so "UTF-8 within its strings" is UTF-8 throughout.
	want := json.Valid(doc) && utf8.Valid(doc)
	if got := Valid(doc); got != want {
		t.Fatalf("Valid(%.200q) = %t, want %t", doc, got, want)
	}
	value, err := new(Document).Read(doc)
	if (err == nil) != want || value.Exists() != want {
		t.Fatalf("Read(%.200q): %v, want valid %t", doc, err, want)
	}
	if err != nil {
		if !errors.Is(err, ErrInvalid) {
			t.Fatalf("Read(%.200q): %v", doc, err)
		}
		return
	}
	if diff := cmp.Diff(standardMembers(t, doc), decoded(value)); diff != "" {
		t.Fatalf("the members of %.200q (-want +got):\n%s", doc, diff)
	}
}

type pair struct{ Key, Value string }

func decoded(value Value) (pairs []pair) {
	for key, member := range value.Members() {
		pairs = append(pairs, pair{string(appendUnescaped(nil, key)), string(member.Raw())})
	}
	return pairs
}

// standardMembers reads the members of a valid document with encoding/json, nil if it is no object.
func standardMembers(t *testing.T, doc []byte) (pairs []pair) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, pair{key.(string), string(value)})
	}
	return pairs
}

func TestNothingAllocates(t *testing.T) {
	lines := agentLines()[:200]
	deep := []byte(strings.Repeat(`[{"a":`, MaxDepth/2) + "1" + strings.Repeat("}]", MaxDepth/2))
	var document Document
	buffer := make([]byte, 0, 1<<20)
	long := []byte("-1234567890.123456789012345678901234567890e-5")
	allocs := testing.AllocsPerRun(10, func() {
		for _, line := range lines {
			value, _ := document.Read(line)
			for _, member := range value.Members() {
				buffer = append(buffer[:0], member.Get("content").Item(0).Get("text").Inner()...)
			}
			EqualKey(Get(line, "type"), "assistant")
			for c := Object(line); ; {
				_, value, ok := c.Next()
				if !ok {
					break
				}
				buffer = AppendUnquoted(buffer[:0], value)
			}
			buffer = AppendStringBytes(buffer[:0], line)
		}
		Get(deep, "a")
		Float(long)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// addDocuments seeds f. The deepest documents would only slow it down: the fuzzer spends its time
// on shortening them.
func addDocuments(f *testing.F) {
	for _, c := range documents {
		if len(c.doc) < MaxDepth {
			f.Add([]byte(c.doc))
		}
	}
}

func FuzzDocument(f *testing.F) {
	addDocuments(f)
	var reused Document
	f.Fuzz(func(t *testing.T, doc []byte) {
		checkAgainstStandard(t, doc)
		checkDocument(t, &reused, doc)
	})
}
