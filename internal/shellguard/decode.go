package shellguard

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansi decodes the escapes of $'…', of echo -e and of printf.
func ansi(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'x', 'u', 'U':
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			n := 0
			for n < digits && i+1+n < len(text) && isHex(text[i+1+n]) {
				n++
			}
			code, err := strconv.ParseUint(text[i+1:i+1+n], 16, 32)
			switch {
			case err != nil:
				b.WriteString(`\` + string(c))
			case c == 'x':
				b.WriteByte(byte(code))
			default:
				b.WriteRune(rune(code))
			}
			i += n
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			for n < 4 && i+n < len(text) && text[i+n] >= '0' && text[i+n] <= '7' && (n < 3 || c == '0') {
				n++
			}
			code, _ := strconv.ParseUint(text[i:i+n], 8, 16)
			b.WriteByte(byte(code))
			i += n - 1
		default:
			if at := strings.IndexByte(`nrtabfve'"\?`, c); at >= 0 {
				b.WriteByte("\n\r\t\a\b\f\v\x1b'\"\\?"[at])
			} else {
				b.WriteString(`\` + string(c))
			}
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// fromBase64 decodes a text as base64 -d does; false if it is none.
func fromBase64(text string) (string, bool) {
	text = strings.Join(strings.Fields(text), "")
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if plain, err := encoding.DecodeString(text); err == nil {
			return asText(plain)
		}
	}
	return "", false
}

func fromBase32(text string) (string, bool) {
	plain, err := base32.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return "", false
	}
	return asText(plain)
}

func fromHex(text string) (string, bool) {
	plain, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return "", false
	}
	return asText(plain)
}

// asText returns bytes as text; false if they are none, such as those of a compressed file.
func asText(plain []byte) (string, bool) {
	return string(plain), utf8.Valid(plain) && !strings.ContainsAny(string(plain), "\x00"+unknowns)
}

func reverseLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		runes := []rune(line)
		for a, b := 0, len(runes)-1; a < b; a, b = a+1, b-1 {
			runes[a], runes[b] = runes[b], runes[a]
		}
		lines[i] = string(runes)
	}
	return strings.Join(lines, "\n")
}

// translate is tr: its sets may have ranges, and no classes.
func translate(text, from, to string) (string, bool) {
	if strings.ContainsAny(from+to, "[") {
		return "", false
	}
	a, b := []rune(setOf(ansi(from))), []rune(setOf(ansi(to)))
	if len(b) == 0 || len(a) == 0 {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		for i, c := range a {
			if c == r {
				return b[min(i, len(b)-1)]
			}
		}
		return r
	}, text), true
}

// setOf expands the ranges of a set of tr.
func setOf(set string) string {
	var b strings.Builder
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			for c := int(set[i]); c <= int(set[i+2]); c++ {
				b.WriteRune(rune(c))
			}
			i += 2
			continue
		}
		b.WriteByte(set[i])
	}
	return b.String()
}
