package redact

import (
	"bytes"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	keyName  = "PRIVATE KEY"
	keyDash  = "-----"
	keyLines = "Private-Lines: " // of a PuTTY key
	keyLabel = 45                // bytes between BEGIN and the dashes, at most

	firstKeyLine = 24 // base64 characters, all kinds of them, in the first line of a key
	laterKeyLine = 16 // in each that follows
	firstKeyGap  = 64 // bytes between the header and the first line
	// the same of a PuTTY key; shorter than a header, so that the last of two headers counts
	puttyKeyGap  = 8
	headerKeyGap = 768 // the same if lines like "Proc-Type: 4,ENCRYPTED" come first
	laterKeyGap  = 128 // bytes between two lines: their ends, numbers, quotes, a log's time
)

var upperBlank = classOf("  AZ09")

// privateKey finds the key whose header begins with src[start:end]: "-----BEGIN ", or
// "Private-Lines: " of a PuTTY key.
func privateKey(src []byte, start, end int) (from, to int) {
	k := keyReader{putty: string(src[start:end]) == keyLines}
	if k.putty {
		end += span(src[end:], digits)
	} else {
		n, _ := keyHeader(src[start:], keyBegin)
		end = start + n
	}
	if n, _ := k.read(src[end:]); n > 0 && end > start {
		return start, end + n
	}
	return 0, 0
}

// keyHeader returns the length of the first or last line of a key at the beginning of text, without
// its newline; 0 if there is none. sure says that this holds whatever follows text.
func keyHeader(text []byte, word string) (n int, sure bool) {
	if len(text) < len(word) {
		return 0, !strings.HasPrefix(word, string(text))
	}
	if string(text[:len(word)]) != word {
		return 0, true
	}
	rest := text[len(word):]
	label := span(rest[:min(len(rest), keyLabel)], upperBlank)
	dashes := rest[label:]
	if len(dashes) < len(keyDash) && label < keyLabel {
		return 0, !strings.HasPrefix(keyDash, string(dashes))
	}
	if !bytes.HasPrefix(dashes, []byte(keyDash)) || !bytes.Contains(rest[:label], []byte(keyName)) {
		return 0, true
	}
	return len(word) + label + len(keyDash), true
}

// A keyReader reads a private key after its header, piece by piece: lines of base64 with little
// between them, up to the line that ends the key or, if the key is cut off, the last line of
// base64. What it has to read again is shorter than the longest gap and the beginning of a line.
type keyReader struct {
	putty bool // the header is PuTTY's, and the first line follows at once
	lines bool // a line was read: it is a key
	open  bool // the last line may continue
}

// read returns how many bytes of text belong to the key, and whether the key is over. If it is not,
// text[n:] has to be read again, with more after it.
func (k *keyReader) read(text []byte) (n int, over bool) {
	if k.open {
		if n = span(text, base64Body); n == len(text) {
			return n, false
		}
		k.open = false
	}
	gap := laterKeyGap
	if !k.lines {
		gap = k.firstGap(text)
	}
	for i := n; i < len(text); {
		if i-n > gap {
			return n, true
		}
		if run := span(text[i:], base64Body); run > 0 {
			if k.line(text[i : i+run]) {
				n, gap = i+run, laterKeyGap
				k.lines, k.open = true, n == len(text)
			}
			i += run
			continue
		}
		if text[i] == '[' {
			if rest := text[i:]; len(rest) < len(maskStart) && strings.HasPrefix(maskStart, string(rest)) {
				return n, false
			} else if bytes.HasPrefix(rest, []byte(maskStart)) {
				// a label ends the key, or a replacement would bring other lines within reach
				return n, true
			}
		}
		if text[i] == '-' {
			if len(text)-i < len(keyDash) && strings.HasPrefix(keyDash, string(text[i:])) {
				return n, false
			}
			if bytes.HasPrefix(text[i:], []byte(keyDash)) {
				end, sure := keyHeader(text[i:], keyEnd)
				if end > 0 && k.lines {
					n = i + end
				}
				return n, sure || !k.lines
			}
		}
		i++
	}
	return n, false
}

// line reports whether a run of base64 characters is a line of a key.
func (k *keyReader) line(run []byte) bool {
	if !k.lines {
		return len(run) >= firstKeyLine && allKinds(run)
	}
	return len(run) >= laterKeyLine && bytes.ContainsAny(run, capitals) && bytes.ContainsAny(run, letters)
}

// headerLine is a line between the header and the base64, after blanks, also as JSON escapes.
var headerLine = units.Pattern(`^[\s\\nrt]{0,16}(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):`)

// firstGap returns how far after a header the first line of base64 may begin.
func (k *keyReader) firstGap(text []byte) int {
	switch {
	case k.putty:
		return puttyKeyGap
	case headerLine().Match(text):
		return headerKeyGap
	}
	return firstKeyGap
}
