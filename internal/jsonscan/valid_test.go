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

// documents seed the fuzz targets and stand in the table of TestValid, with the offset and reason of their fault.
var documents = []struct {
	name   string
	doc    string
	offset int
	reason error // nil where the document is valid
}{
	{"an empty document is truncated", "", 0, ErrTruncated},
	{"whitespace alone is truncated", " \t\r\n", 4, ErrTruncated},
	{"a scalar may stand alone", "12", 0, nil},
	{"whitespace may surround everything", " \n{ \"a\" : [ 1 , { } , [ ] ] , \"b\"\t:\rnull } \n", 0, nil},
	{"other blanks are no whitespace", "\v1", 0, ErrUnwanted},
	{"a non-breaking space is no whitespace", "\u00a01", 0, ErrUnwanted},
	{"a byte order mark is refused", "\ufeff{}", 0, ErrUnwanted},
	{"a second value is refused", "{} {}", 3, ErrUnwanted},
	{"a NUL after the value is refused", "1\x00", 1, ErrUnwanted},
	{"true false null", "[true,false,null]", 0, nil},
	{"words are lower case", "True", 0, ErrUnwanted},
	{"a word may be cut", "[fals", 5, ErrTruncated},
	{"a word may be wrong", "[nulp]", 4, ErrUnwanted},
	{"a word may not go on", "truely", 4, ErrUnwanted},
	{"NaN is no number", "NaN", 0, ErrUnwanted},
	{"numbers of all forms", "[0,-0,10,-1.5,0.0,1e5,1E+5,1e-05,123456789012345678901234567890.5e300]", 0, nil},
	{"a number has no plus", "+1", 0, ErrUnwanted},
	{"a number has no leading zero", "01", 1, ErrUnwanted},
	{"a minus wants a digit", "-", 1, ErrTruncated},
	{"a minus wants a digit, not a letter", "-x", 1, ErrUnwanted},
	{"a negative number has no leading zero", "-01", 2, ErrUnwanted},
	{"a fraction wants digits", "1.", 2, ErrTruncated},
	{"a fraction wants digits before", ".5", 0, ErrUnwanted},
	{"an exponent wants digits", "1e", 2, ErrTruncated},
	{"a signed exponent wants digits", "[1e+]", 4, ErrUnwanted},
	{"hexadecimal is no number", "0x10", 1, ErrUnwanted},
	{"an open array is truncated", "[1", 2, ErrTruncated},
	{"an open array after its comma is truncated", "[1,", 3, ErrTruncated},
	{"an array has no last comma", "[1,]", 3, ErrUnwanted},
	{"an array has no first comma", "[,1]", 1, ErrUnwanted},
	{"an array closes with its own bracket", "[1}", 2, ErrUnwanted},
	{"an object closes with its own brace", `{"a":1]`, 6, ErrUnwanted},
	{"an array holds no pairs", `["a":1]`, 4, ErrUnwanted},
	{"an open object is truncated", "{", 1, ErrTruncated},
	{"an object's key is a string", "{1:2}", 1, ErrUnwanted},
	{"a key wants a colon", `{"a"}`, 4, ErrUnwanted},
	{"a key wants a colon before the end", `{"a"`, 4, ErrTruncated},
	{"a member wants a value", `{"a":}`, 5, ErrUnwanted},
	{"a member wants a value before the end", `{"a":`, 5, ErrTruncated},
	{"an object has no last comma", `{"a":1,}`, 7, ErrUnwanted},
	{"members are parted by commas", `{"a":1 "b":2}`, 7, ErrUnwanted},
	{"an object ends before the document does", `{"a":1`, 6, ErrTruncated},
	{"inner objects are checked too", `[{"a":{"b":tru}}]`, 14, ErrUnwanted},
	{"a closing bracket alone", "]", 0, ErrUnwanted},
	{"duplicate and empty keys are legal", `{"":1,"a":2,"a":3,"":4}`, 0, nil},
	{"an escaped key with quotes and space before its colon", `{"a\"b\\" : "x","\\":2}`, 0, nil},
	{"an open string is truncated", `"abc`, 4, ErrTruncated},
	{"an open string longer than a word is truncated", `"abcdefghijklmnop`, 17, ErrTruncated},
	{"all escapes", `"\"\\\/\b\f\n\r\t\u00e9\uD83d\uDe00"`, 0, nil},
	{"escaped lone surrogates are within the grammar", `"\ud800 \udc00 \ud800\u0041"`, 0, nil},
	{"an unknown escape", `"\x41"`, 2, ErrEscape},
	{"a cut escape", `"\`, 2, ErrTruncated},
	{"an escape has four hexadecimal digits", `"\u12g4"`, 5, ErrEscape},
	{"an escape cut in its digits", `"\u12`, 5, ErrTruncated},
	{"an escape is not closed by a quote", `"\u12"`, 5, ErrEscape},
	{"a raw newline in a string", "\"ab\ncd\"", 3, ErrControl},
	{"a raw NUL in a long string", "\"abcdefghijkl\x00mnopqrstuvwxyz\"", 13, ErrControl},
	{"DEL and quotes' neighbours are plain", "\"\x7f !#[]^abcdefghijk\x7f !#[]^\"", 0, nil},
	{"text of one to four bytes each", "\"aé€😀 and on and on é€😀\"", 0, nil},
	{"the limits of each length", "\"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\"", 0, nil},
	{"the replacement character itself", "\"\ufffd\"", 0, nil},
	{"a lone continuation byte", "\"a\x80bcdefgh\"", 2, ErrUTF8},
	{"an overlong form of two bytes", "\"\xc1\xbfbcdefgh\"", 1, ErrUTF8},
	{"an overlong form of three bytes", "\"\xe0\x9f\xbfbcdefgh\"", 1, ErrUTF8},
	{"an overlong form of four bytes", "\"\xf0\x8f\xbf\xbfbcdefgh\"", 1, ErrUTF8},
	{"an encoded surrogate", "\"\xed\xa0\x80bcdefgh\"", 1, ErrUTF8},
	{"a sequence beyond the last code point", "\"\xf4\x90\x80\x80bcdefgh\"", 1, ErrUTF8},
	{"a sequence cut by the quote", "\"abc\xe2\x82\"", 4, ErrUTF8},
	{"a sequence cut by the end", "\"abc\xe2\x82", 4, ErrUTF8},
	{"text after a bad byte is not reached", "\"abcdefgh\xff\x00", 9, ErrUTF8},
	{"a bad byte outside strings is just unwanted", "[\xff]", 1, ErrUnwanted},
	{"as deep as may be", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), 0, nil},
	{"one deeper", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), MaxDepth, ErrDepth},
	{"objects as deep as may be", strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth), 0, nil},
	{"objects one deeper", strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1), 5 * MaxDepth, ErrDepth},
	{"deep and cut", strings.Repeat("[", 64) + `{"a":[`, 70, ErrTruncated},
	{"brackets crossed where one stack of bits ends", strings.Repeat("[", 64) + "{]" + strings.Repeat("]", 64), 65, ErrUnwanted},
	{"brackets in order where one stack of bits ends", strings.Repeat("[", 63) + `{"a":{"b":[{}],"c":[]},"d":1}` + strings.Repeat("]", 63), 0, nil},
}

func TestValid(t *testing.T) {
	for _, c := range documents {
		t.Run(c.name, func(t *testing.T) {
			checkAgainstStandard(t, []byte(c.doc))
			if got, want := Valid([]byte(c.doc)), c.reason == nil; got != want {
				t.Errorf("Valid = %t, want %t", got, want)
			}
			_, err := new(Document).Read([]byte(c.doc))
			if c.reason == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			syntax, ok := errors.AsType[*SyntaxError](err)
			if !ok || !errors.Is(err, c.reason) || syntax.Offset != c.offset {
				t.Errorf("error %v, want %v at offset %d", err, c.reason, c.offset)
			}
		})
	}
}

// TestValidAtEveryAlignment moves each way a string can end or fail through all lanes of a word and up to the end of the document.
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

// TestSequence tries all sequences of two and three bytes and the corners of those of four, at the end of the bytes and before more.
func TestSequence(t *testing.T) {
	check := func(b []byte) {
		r, want := utf8.DecodeRune(b)
		if r == utf8.RuneError && want == 1 {
			want = 0
		}
		if got := sequence(b, 0); got != want {
			t.Fatalf("sequence(% x) = %d, want %d", b, got, want)
		}
	}
	corners := []byte{0x00, '"', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff}
	for first := 0x80; first < 0x100; first++ {
		for second := range 0x100 {
			for third := range 0x100 {
				check([]byte{byte(first), byte(second), byte(third), '"'})
			}
			check([]byte{byte(first), byte(second)})
			for _, third := range corners {
				check([]byte{byte(first), byte(second), third})
				for _, fourth := range corners {
					check([]byte{byte(first), byte(second), third, fourth})
				}
			}
		}
	}
}

// checkAgainstStandard holds Valid and a Document against encoding/json.
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
		syntax, ok := errors.AsType[*SyntaxError](err)
		if !ok || syntax.Offset < 0 || syntax.Offset > len(doc) {
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
			Valid(line)
			value, _ := document.Read(line)
			for _, member := range value.Members() {
				buffer = append(buffer[:0], member.Get("content").Item(0).Get("text").Inner()...)
			}
			EqualString(Get(line, "type"), "assistant")
			for c := Object(line); ; {
				_, value, ok := c.Next()
				if !ok {
					break
				}
				buffer = AppendUnquoted(buffer[:0], value)
			}
			buffer = AppendStringBytes(buffer[:0], line)
		}
		Valid(deep)
		Get(deep, "a")
		Float(long)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// addDocuments seeds f. The deepest documents would only slow it down: the fuzzer spends its time on shortening them.
func addDocuments(f *testing.F) {
	for _, c := range documents {
		if len(c.doc) < MaxDepth {
			f.Add([]byte(c.doc))
		}
	}
}

func FuzzValid(f *testing.F) {
	addDocuments(f)
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got, want := Valid(doc), json.Valid(doc) && utf8.Valid(doc); got != want {
			t.Errorf("Valid = %t, want %t", got, want)
		}
	})
}

func FuzzDocument(f *testing.F) {
	addDocuments(f)
	var reused Document
	f.Fuzz(func(t *testing.T, doc []byte) {
		checkAgainstStandard(t, doc)
		checkDocument(t, &reused, doc)
	})
}
