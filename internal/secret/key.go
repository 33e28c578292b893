package secret

import (
	"bytes"
	"strings"
)

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	keyName  = "PRIVATE KEY"
	keyDash  = "-----"
	keyLines = "Private-Lines: " // of a PuTTY key
	keyLabel = 45                // bytes between BEGIN and the dashes, at most

	firstKeyLine = 24  // base64 characters, all kinds of them, in the first line of a key
	laterKeyLine = 16  // in each that follows
	firstKeyGap  = 64  // bytes between the header and the first line
	puttyKeyGap  = 8   // the same, of a PuTTY key: less than its header, so that of two headers without a key only the last counts
	headerKeyGap = 768 // the same, where lines like "Proc-Type: 4,ENCRYPTED" come first
	laterKeyGap  = 128 // bytes between two lines: their ends, numbers, quotes, a log's time
)

var upperBlank = classOf("  AZ09")

// privateKey finds the key of whose header src[start:end] is a part: "PRIVATE KEY", or "Private-Lines: " of a PuTTY key.
func privateKey(src []byte, start, end int) (from, to int) {
	from = start
	k := keyReader{putty: true}
	if string(src[start:end]) == keyName {
		k.putty = false
		from -= spanBack(src, start, upperBlank, keyLabel)
		// The label begins with the blank before it.
		from = bytes.LastIndex(src[max(0, from-len(keyBegin)):start], []byte(keyBegin)) + max(0, from-len(keyBegin))
		if from < 0 || !bytes.HasPrefix(src[from:], []byte(keyBegin)) {
			return 0, 0
		}
		n, _ := keyHeader(src[from:], keyBegin)
		end = from + n
		if n == 0 {
			return 0, 0
		}
	} else {
		end += span(src[end:], digits)
	}
	n, _ := k.read(src[end:])
	if n == 0 {
		return 0, 0
	}
	return from, end + n
}

// keyHeader returns the length of the first or last line of a key, without its end, that text begins with; 0 where there is none,
// and whether that stays so whatever follows text.
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

// A keyReader reads a private key from the end of its header on, piece by piece: lines of base64 with little between them,
// up to the line that ends it or, where the key is cut off, the last of these lines. However long the key is, what the reader has to
// see again is shorter than the longest gap and a line's beginning.
type keyReader struct {
	putty bool // the header is PuTTY's, which the first line follows at once
	lines bool // one has been read: it is a key
	open  bool // the last one read may go on
}

// read returns how many bytes of text belong to the key, and whether that is all of it, whatever comes after text.
// Where it is not, text[n:] is to be read again, with more after it.
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
				return n, true // what was replaced is no line, or a replacement would bring others within reach
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

// line reports whether a run of base64 characters is a line of a key, and no word.
func (k *keyReader) line(run []byte) bool {
	if !k.lines {
		return len(run) >= firstKeyLine && allKinds(run)
	}
	return len(run) >= laterKeyLine && bytes.ContainsFunc(run, func(r rune) bool { return isUpper(byte(r)) }) &&
		bytes.ContainsFunc(run, func(r rune) bool { return r >= 'a' && r <= 'z' })
}

// firstGap returns how far behind a header the first line of base64 may begin.
func (k *keyReader) firstGap(text []byte) int {
	if k.putty {
		return puttyKeyGap
	}
	rest := text[min(len(text), blank(text)):]
	for _, word := range [...]string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Charset:", "Hash:"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return headerKeyGap
		}
	}
	return firstKeyGap
}
