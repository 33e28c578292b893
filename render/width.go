package render

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/clean"
)

// wide are the characters that take two columns: East_Asian_Width W and F of
// Unicode 14, with the unassigned code points between them.
var wide = [...][2]rune{
	{0x1100, 0x115F}, {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0}, {0x23F3, 0x23F3},
	{0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267F, 0x267F}, {0x2693, 0x2693}, {0x26A1, 0x26A1},
	{0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x26C4, 0x26C5}, {0x26CE, 0x26CE}, {0x26D4, 0x26D4}, {0x26EA, 0x26EA},
	{0x26F2, 0x26F3}, {0x26F5, 0x26F5}, {0x26FA, 0x26FA}, {0x26FD, 0x26FD}, {0x2705, 0x2705}, {0x270A, 0x270B},
	{0x2728, 0x2728}, {0x274C, 0x274C}, {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27B0, 0x27B0}, {0x27BF, 0x27BF}, {0x2B1B, 0x2B1C}, {0x2B50, 0x2B50}, {0x2B55, 0x2B55}, {0x2E80, 0x303E},
	{0x3041, 0x3247}, {0x3250, 0x4DBF}, {0x4E00, 0xA4C6}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAD9},
	{0xFE10, 0xFE19}, {0xFE30, 0xFE6B}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x16FE0, 0x1B2FB}, {0x1F004, 0x1F004},
	{0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
	{0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E},
	{0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A},
	{0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2},
	{0x1F6D5, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945},
	{0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
}

// RuneColumns returns how many columns a printable character takes. Where terminals differ
// (sequences that join to one picture) it is the larger number: too short a line does no harm.
func RuneColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case isWide(r):
		return 2
	case r == 0xFE0F:
		return 1 // selects the picture form of the character before, which is wide
	case 0x1F1E6 <= r && r <= 0x1F1FF:
		return 2 // one half of a flag, which may be alone where a line was cut
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	return 1
}

func isWide(r rune) bool {
	if r < wide[0][0] {
		return false
	}
	i := sort.Search(len(wide), func(i int) bool { return wide[i][1] >= r })
	return i < len(wide) && wide[i][0] <= r
}

// Columns returns how many columns of a terminal a clean text takes on one line.
func Columns(s string) int {
	if clean.IsPlain(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += RuneColumns(r)
	}
	return n
}

// Cut returns a clean text in at most this many columns; a text that was cut ends with "…". 0 means
// no limit.
func Cut(s string, columns int) string {
	if columns <= 0 || len(s) <= columns {
		return s
	}
	used, end := 0, 0
	for i, r := range s {
		w := RuneColumns(r)
		if used+w > columns {
			return s[:end] + "…"
		}
		used += w
		if used < columns { // the mark fits after it
			end = i + utf8.RuneLen(r)
		}
	}
	return s
}

// CutStart returns the end of a clean text that fits in so many columns. It reads no more than
// that, because a long log may have been pasted.
func CutStart(text string, columns int) string {
	from := len(text)
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if columns -= Columns(string(r)); columns < 0 {
			break
		}
		from -= n
	}
	return text[from:]
}
