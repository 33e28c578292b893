package cli

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
)

// JSON decodes to the value that was printed, and contains nothing that a terminal obeys.
func TestPrintedJSONIsHarmless(t *testing.T) {
	var all []rune
	for r := range rune(0x3000) {
		all = append(all, r)
	}
	type named struct {
		Name string `json:"name"`
	}
	for _, indent := range []string{"", "  "} {
		want := named{string(all) + "値🎉"}
		var b bytes.Buffer
		if err := PrintJSON(&b, want, indent); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029) {
				t.Errorf("%U is printed as it is", r)
			}
		}
		var got named
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != want {
			t.Errorf("it decodes to %q: %v", got, err)
		}
	}
}

// JSON may hold control characters that are commands to a terminal.
func TestTerminalLinesAreEscaped(t *testing.T) {
	line := []byte("{\"text\":\"a\u009b31m\x7fé\u00a0値\u202e\u2066\"}")
	if got, want := string(AppendEscaped(nil, line)), "{\"text\":\"a\\u009b31m\\u007fé\u00a0値\\u202e\\u2066\"}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
