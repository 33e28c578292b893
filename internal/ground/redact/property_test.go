package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
)

// A secret of any characters, put into any document by any encoder, at one to three levels of
// nesting: the result is JSON, the value is gone, and everything else decodes as before.
func TestMaskProperty(t *testing.T) {
	chars := rapid.RuneFrom([]rune("abnrtuf0189ABEe._-+/\\\"'<>&\n\t {}[]:,é世😀\u2028\x01\x7f"))
	rapid.Check(t, func(t *rapid.T) {
		secret := strings.TrimSpace(rapid.StringOfN(chars, 8, 40, -1).Draw(t, "secret"))
		filler := rapid.StringOfN(chars, 0, 30, -1)
		m := New([]string{"X_TOKEN=" + secret})
		if _, n := m.Mask([]byte(secret)); n == 0 {
			t.Skip("a value that New leaves alone")
		}
		before, after, other := filler.Draw(t, "before"), filler.Draw(t, "after"), filler.Draw(t, "other")
		if strings.Count(before+secret+after, secret) != 1 || strings.Contains(other, secret) {
			t.Skip("a second copy of the value")
		}
		style := rapid.SampledFrom(jsonStyles).Draw(t, "style")
		text := before + secret + after
		depth := rapid.IntRange(1, 3).Draw(t, "depth")
		for range depth - 1 {
			text = `{"inner":"` + jsonStyles[0].escape(text) + `"}`
		}
		if depth == 2 {
			text = `{"inner":"` + style.escape(before+secret+after) + `"}`
		}
		line := []byte(`{"n":1.5,"other":"` + style.escape(other) + `","list":[true,"` + style.escape(text) + `"]}`)
		if depth == 3 { // all three by the same encoder
			line = []byte(`{"n":1.5,"other":"` + style.escape(other) + `","list":[true,"` + jsonStyles[0].escape(text) + `"]}`)
		}
		if !json.Valid(line) {
			t.Fatalf("the test made invalid JSON: %s", line)
		}
		out, n := m.Mask(line)
		if n == 0 {
			t.Fatalf("nothing is masked in %s", line)
		}
		var got, was map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := json.Unmarshal(line, &was); err != nil {
			t.Fatal(err)
		}
		inner := got["list"].([]any)[1].(string)
		for range depth - 1 {
			var nested map[string]string
			if err := json.Unmarshal([]byte(inner), &nested); err != nil {
				t.Fatalf("nested JSON: %v: %s", err, inner)
			}
			if strings.Contains(inner, secret) {
				t.Fatalf("the value has survived in %s", inner)
			}
			inner = nested["inner"]
		}
		if strings.Contains(inner, secret) {
			t.Fatalf("the value has survived in %s", out)
		}
		left, right, masked := strings.Cut(inner, "[masked:X_TOKEN]")
		if !masked || !sameLeft(left, before, secret) || !sameRight(right, after, secret) {
			t.Fatalf("decodes to %q, want %q", inner, before+"[masked:X_TOKEN]"+after)
		}
		got["list"], was["list"] = nil, nil
		if !reflect.DeepEqual(got, was) {
			t.Fatalf("something else has changed: %s\n%s", line, out)
		}
		checkTwice(t, m, out)
	})
}

// sameLeft allows what cannot be known from the text: a backslash before the value may make an
// escape of its first letters for a second decoding, which are kept then (up to 5), or belong to a
// nested encoding of a value that begins with a character some encoder escapes.
func sameLeft(got, want, secret string) bool {
	if got == want {
		return true
	}
	if !strings.Contains(want[max(0, len(want)-5):], `\`) {
		return false
	}
	if strings.TrimRight(got, `\`) == strings.TrimRight(want, `\`) {
		return strings.ContainsAny(secret[:1], "/\"'<>&`+\\") || secret[0] >= 0x7F || secret[0] < ' '
	}
	kept, ok := strings.CutPrefix(got, want)
	return ok && len(kept) <= 5 && strings.HasPrefix(secret, kept)
}

// sameRight: a value that ends with backslashes before more of them looks like a nested encoding.
func sameRight(got, want, secret string) bool {
	return got == want || strings.HasSuffix(secret, `\`) && strings.TrimLeft(got, `\`) == strings.TrimLeft(want, `\`)
}

func checkTwice(t interface{ Fatalf(string, ...any) }, m *Redactor, out []byte) {
	again, n := m.Mask(out)
	if n != 0 || !bytes.Equal(again, out) {
		t.Fatalf("masked again: %s\nwas %s", again, out)
	}
}

// FuzzMask checks that any valid JSON stays valid, that the value is gone from plain text, and that
// masking twice is masking once.
func FuzzMask(f *testing.F) {
	f.Add(`{"a":"x\ntango-uniform-77","b":12345678}`, "tango-uniform-77")
	f.Add(`{"a":"\\nabcdefgh \u0041bcdefgh"}`, "nabcdefgh")
	f.Add(`["-----BEGIN PRIVATE KEY-----\nA1b2C3d4E5f6G7h8I9j0K1l2M3n4","-----END PRIVATE KEY-----"]`, "123456789012")
	f.Add("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc Bearer a\\/b0000000000000000000", `","type":"`)
	f.Add("\x1b[32mghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "ghp_A1b2C3")
	f.Fuzz(func(t *testing.T, text, value string) {
		m := New([]string{"X_TOKEN=" + value}, value)
		src := []byte(text)
		out, n := m.Mask(src)
		if string(src) != text {
			t.Fatalf("the source was written to")
		}
		if n == 0 && string(out) != text {
			t.Fatalf("changed without a replacement: %q", out)
		}
		isJSON := json.Valid(src)
		if isJSON && !json.Valid(out) {
			t.Fatalf("no JSON any more: %s\nwas %s", out, src)
		}
		for i, line := range bytes.Split(src, []byte("\n")) {
			if masked := bytes.Split(out, []byte("\n")); len(masked) == bytes.Count(src, []byte("\n"))+1 && json.Valid(line) && !json.Valid(masked[i]) {
				t.Fatalf("line %d is no JSON any more: %s\nwas %s", i, masked[i], line)
			}
		}
		checkTwice(t, m, out)
	})
}
