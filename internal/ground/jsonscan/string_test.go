package jsonscan

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendString(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", `""`},
		{"plain text", "abc", `"abc"`},
		{"quote and backslash", `a"b\c`, `"a\"b\\c"`},
		{"escapes that have a letter", "\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"other control bytes", "\x00\x1f", `"\u0000\u001f"`},
		{"DEL stays", "\x7f", "\"\x7f\""},
		{"slashes and markup stay", "</a&b>", `"</a&b>"`},
		{"line separators stay", "\u2028\u2029", "\"\u2028\u2029\""},
		{"text beyond ASCII stays", "é€😀", `"é€😀"`},
		{"each bad byte is replaced", "a\xff\xfeb", "\"a\ufffd\ufffdb\""},
		{"a cut sequence is replaced byte by byte", "\xe2\x82", "\"\ufffd\ufffd\""},
		{"an encoded surrogate is replaced", "\xed\xa0\x80", "\"\ufffd\ufffd\ufffd\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkString(t, c.text)
			if got := string(AppendString([]byte("x:"), c.text)); got != "x:"+c.want {
				t.Errorf("got %s, want x:%s", got, c.want)
			}
		})
	}
}

// TestStringsAtEveryAlignment moves each kind of piece through all lanes of a word, alone and in
// runs that outgrow the room first taken.
func TestStringsAtEveryAlignment(t *testing.T) {
	for _, piece := range []string{`"`, `\`, "\n", "\x01", "\x80", "é", "€", "😀", "\u2028", strings.Repeat("\x00", 100), strings.Repeat("\xff\"", 50)} {
		for before := range 18 {
			for after := range 18 {
				checkString(t, strings.Repeat("a", before)+piece+strings.Repeat("b", after))
			}
		}
	}
}

// checkString writes s and reads it back, with this package and with encoding/json.
func checkString(t *testing.T, s string) {
	t.Helper()
	// What encoding/json makes of bad bytes is what a conversion to runes makes of them.
	want := string([]rune(s))
	// A dst that is too small and filled with bytes that must not remain.
	dst := []byte(strings.Repeat("~", 40))[:3:7]
	written := AppendString(dst, s)
	if string(written[:3]) != "~~~" {
		t.Fatalf("AppendString(%q) changed what was before: %q", s, written)
	}
	value := written[3:]
	if string(AppendStringBytes(nil, []byte(s))) != string(value) {
		t.Fatalf("AppendString and AppendStringBytes differ over %q", s)
	}
	var standard string
	if err := json.Unmarshal(value, &standard); err != nil || standard != want {
		t.Fatalf("AppendString(%q) = %s, which encoding/json reads as %q, %v", s, value, standard, err)
	}
	if !Valid(value) {
		t.Fatalf("AppendString(%q) = %s is not valid", s, value)
	}
	checkUnquoted(t, value)
	escaped, err := json.Marshal(s) // with <, >, & and line separators in escapes
	if err != nil {
		t.Fatal(err)
	}
	checkUnquoted(t, escaped)
}

// checkUnquoted compares all readers of a valid string with encoding/json.
func checkUnquoted(t *testing.T, value []byte) {
	t.Helper()
	var want string
	if err := json.Unmarshal(value, &want); err != nil {
		t.Fatal(err)
	}
	if got := Unquote(value); got != want {
		t.Fatalf("Unquote(%s) = %q, want %q", value, got, want)
	}
	dst := []byte(strings.Repeat("~", 40))[:3:7]
	if got := string(AppendUnquoted(dst, value)); got != "~~~"+want {
		t.Fatalf("AppendUnquoted(%s) = %q, want %q", value, got, want)
	}
	if !equalString(value, want) {
		t.Fatalf("equalString(%s, %q) = false", value, want)
	}
	raw := string(value[1 : len(value)-1])
	if equalString(value, raw) != (raw == want) {
		t.Fatalf("equalString(%s, %q) = %t", value, raw, raw != want)
	}
	for _, other := range []string{want + "a", "a" + want, want[:len(want)/2] + "\x00" + want[len(want)/2:]} {
		if equalString(value, other) {
			t.Fatalf("equalString(%s, %q) = true", value, other)
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"all escapes", `"\"\\\/\b\f\n\r\t\u00e9"`},
		{"a pair of surrogates", `"a\ud83d\ude00b"`},
		{"hexadecimal digits of both cases", `"\uABCD\uabcd"`},
		{"a high surrogate alone", `"a\ud83db"`},
		{"a low surrogate alone", `"\ude00"`},
		{"surrogates in the wrong order", `"\ude00\ud83d"`},
		{"two high surrogates before a low one", `"\ud83d\ud83d\ude00"`},
		{"a high surrogate before another escape", `"\ud83d\n"`},
		{"a high surrogate before another character's escape", `"\ud83d\u0041"`},
		{"a high surrogate at the end", `"abcdefgh\ud83d"`},
		{"an escaped NUL", `"\u0000"`},
	} {
		t.Run(c.name, func(t *testing.T) { checkUnquoted(t, []byte(c.value)) })
	}
	for _, c := range []struct{ name, value string }{
		{"nothing", ""},
		{"a quote alone", `"`},
		{"a number", "12"},
		{"an open string", `"ab`},
		{"an object", `{"a":1}`},
	} {
		t.Run("no text is in "+c.name, func(t *testing.T) {
			if got := Unquote([]byte(c.value)); got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := Unquote([]byte(`"ab\n\x"`)); got != "ab\n" {
		t.Errorf("text continues after a malformed escape: %q", got)
	}
}

func TestEqualString(t *testing.T) {
	for _, c := range []struct {
		name     string
		value, s string
		want     bool
	}{
		{"equal", `"abc"`, "abc", true},
		{"empty", `""`, "", true},
		{"other text of the same length", `"abc"`, "abd", false},
		{"escapes are not text", `"\\n"`, `\\n`, false},
		{"what escapes mean is", `"\\n"`, `\n`, true},
		{"a string in escapes", `"\u0061\u00e9\ud83d\ude00"`, "aé😀", true},
		{"part of a string in escapes", `"\u0061\u00e9"`, "a", false},
		{"part of a character", `"\u00e9"`, "\xc3", false},
		{"a lone surrogate is the replacement character", `"\ud800"`, "\ufffd", true},
		{"a malformed escape equals nothing", `"\x41"`, "A", false},
		{"a number is no string", `12`, "12", false},
		{"null is no string", `null`, "null", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := equalString([]byte(c.value), c.s); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, value := range []string{
		"0", "-0", "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "18446744073709551620", "99999999999999999999", "100000000000000000000", "-18446744073709551615",
		"1.0", "1e3", "0.1", "-1.5e-3", "1e308", "1e309", "-1e999", "1e-999", "123456789.123456789123456789123456789123456789",
		"", "-", "--1", "+1", "01", "-01", "1.", ".1", "0x10", "1_000", "Inf", "NaN", "nan", "1e", "1 ", `"1"`, "true", "[]",
	} {
		t.Run("number "+value, func(t *testing.T) { checkNumbers(t, []byte(value)) })
	}
	if x, ok := Float([]byte("-0")); !ok || !math.Signbit(x) {
		t.Errorf("minus zero is %g", x)
	}
}

func FuzzString(f *testing.F) {
	f.Add("plain", []byte(`"a\u0041"`))
	f.Add("\"\\\x00\n\xff é€😀 and some more", []byte(`"\ud83d\ude00\ud800"`))
	f.Fuzz(func(t *testing.T, s string, value []byte) {
		checkString(t, s)
		if Valid(value) && IsString(value) && value[len(value)-1] == '"' {
			checkUnquoted(t, value)
		}
		if got := AppendUnquoted(nil, AppendString(nil, s)); utf8.ValidString(s) && string(got) != s {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}

func equalString(value []byte, s string) bool { return IsString(value) && EqualKey(inner(value), s) }
