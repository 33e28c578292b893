package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// PrintJSON prints v as one line of JSON, or with that indentation. Characters that are commands to
// a terminal, or make it show another order, are escaped, also for a file, which may be shown on a
// terminal later. The text decodes to the same.
func PrintJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(AppendEscaped(nil, b.Bytes()))
	return err
}

// AppendEscaped appends JSON with DEL, C1, marks of direction and the two separators in their
// escaped spelling. All other control characters are escaped in any JSON.
func AppendEscaped(dst, text []byte) []byte {
	for len(text) > 0 {
		i := bytes.IndexFunc(text, controls)
		if i < 0 {
			break
		}
		r, n := utf8.DecodeRune(text[i:])
		dst = fmt.Appendf(append(dst, text[:i]...), `\u%04x`, r)
		text = text[i+n:]
	}
	return append(dst, text...)
}

// controls reports the characters that no terminal should be given as they are.
func controls(r rune) bool {
	return 0x7F <= r && r < 0xA0 || r == 0x061C || r == 0x200E || r == 0x200F || 0x2028 <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}
