package terminaltest

import (
	"slices"
	"strings"
	"testing"
)

func TestEmulatorDraws(t *testing.T) {
	for _, tt := range []struct{ name, written, want string }{
		{"wraps late", "12345678\r\nx", "12345678\nx\n\n"},
		{"wraps", "123456789", "12345678\n9\n\n"},
		{"does not wrap", "\x1b[?7l123456789", "12345679\n\n\n"},
		{"scrolls", "a\r\nb\r\nc\r\nd\r\ne", "b\nc\nd\ne"},
		{"scrolls in a region", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nx", "a\nc\nx\nd"},
		{"scrolls back", "a\r\nb\x1b[H\x1bMx", "x\na\nb\n"},
		{"inserts lines", "a\r\nb\r\nc\x1b[2;1H\x1b[L", "a\n\nb\nc"},
		{"removes lines", "a\r\nb\r\nc\x1b[2;1H\x1b[M", "a\nc\n\n"},
		{"inserts characters", "abc\x1b[1;2H\x1b[2@x", "ax bc\n\n\n"},
		{"removes characters", "abcd\x1b[1;2H\x1b[2P", "ad\n\n\n"},
		{"erases characters", "abcd\x1b[1;2H\x1b[2X", "a  d\n\n\n"},
		{"repeats", "ab\x1b[3b", "abbbb\n\n\n"},
		{"wide", "日本\x1b[1;2Hx", " x本\n\n\n"},
		{"wide at the edge", "1234567日", "1234567\n日\n\n"},
		{"wide at the end of a row", "123456日x", "123456日\nx\n\n"},
		{"wide over a half", "a日b\x1b[H本", "本 b\n\n\n"},
		{"before a wide one", "日本\x1b[H\x1b[@", " 日本\n\n\n"},
		{"in place of a half", "日本x\x1b[1;2H\x1b[P", " 本x\n\n\n"},
		{"inserts", "日c\x1b[4h\x1b[Ha\x1b[4l", "a日c\n\n\n"},
		{"columns as of each character", "👩\u200d👩x", "👩\u200d👩x\n\n\n"},
		{"columns of a cluster", "\x1b[?2027h👩\u200d👩x\x1b[1;4Hy", "👩\u200d👩xy\n\n\n"},
		{"back to the cursor", "ab\x1b[s\x1b[2Hx\x1b[uc", "abc\nx\n\n"},
		{"combining", "e\u0301x", "e\u0301x\n\n\n"},
		{"erases below", "a\r\nb\r\nc\x1b[2;1H\x1b[J", "a\n\n\n"},
		{"the alternate screen", "a\x1b[?1049h\x1b[Hb\x1b[?1049lc", "ac\n\n\n"},
		{"columns and rows", "\x1b[2;3Hx\x1b[4Gy\x1b[3dz", "\n  xy\n    z\n"},
		{"characters in a title", "a\x1b]0;✓ 日 %e2\x07b", "ab\n\n\n"},
		{"strings are not text", "a\x1b]0;title\x07b\x1bPq\x1b\\c\x1b_x\x1b\\d", "abcd\n\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := NewEmulator(Options{Columns: 8, Rows: 4})
			for _, b := range []byte(tt.written) { // divided anywhere
				_, _ = e.Write([]byte{b})
			}
			if got := e.Text(); got != tt.want {
				t.Errorf("%q shows\n%s\nnot\n%s", tt.written, got, tt.want)
			}
		})
	}
}

func TestEmulatorAnswers(t *testing.T) {
	for query, want := range map[string]string{
		"\x1b[?2026$p":    "\x1b[?2026;2$y",
		"\x1b[?2027$p":    "\x1b[?2027;0$y",
		"\x1b]11;?\x1b\\": "\x1b]11;rgb:0000/0000/0000\x07",
		"ab\x1b[6n":       "\x1b[1;3R",
		"\x1b[>3u\x1b[?u": "\x1b[?3u",
		"\x1b[c":          "\x1b[?62;22c",
	} {
		var got string
		e := NewEmulator(Options{Columns: 8, Rows: 2, Marks: true, Reply: func(answer string) { got += answer }})
		_, _ = e.Write([]byte(query))
		if got != want {
			t.Errorf("%q is answered with %q, not %q", query, got, want)
		}
	}
}

func TestEmulatorNotices(t *testing.T) {
	e := NewEmulator(Options{Columns: 20, Rows: 3, Marks: true})
	_, _ = e.Write([]byte("\x1b[?1049h\x1b[2J\x1b[?2026ha\x1b[?2026l\x1b[?2026h\x1b[1;38;5;4;48:2::1:2:3mb\x1b[m\x1b[?2026l"))
	if e.Frames != 2 || e.Unmarked != 0 || e.Clears != 0 {
		t.Errorf("%d frames, %d changes outside, %d clears", e.Frames, e.Unmarked, e.Clears)
	}
	if got := strings.TrimSpace(e.Styled()); got != "a⟦bold fg=4 bg=#010203⟧b⟦⟧" {
		t.Errorf("styled %q", got)
	}
	_, _ = e.Write([]byte("x\x1b[H\x1b[J\x1b]52;c;✓%41\x07"))
	if e.Unmarked != 2 || e.Clears != 1 || e.Seen["OSC 52"] != 1 || !slices.Equal(e.Commands, []string{"52;c;✓%41"}) {
		t.Errorf("%d changes outside, %d clears, seen %v", e.Unmarked, e.Clears, e.Seen)
	}
}
