package shellguard

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// The bytes that take the place of unknown text in a word. A command that contains such bytes
// itself is judged as if it had unknown text there.
const (
	unknown    = "\x01" // anything
	splitting  = "\x02" // anything, and perhaps several words or none
	downloaded = "\x03" // from the network by a command of this text
	decoded    = "\x04" // what a decoder or a filter makes of a text
	foreign    = "\x05" // what other people or programs wrote: a DNS record, a log, the clipboard
	encoded    = "\x06" // the contents of a file or of another program, in an encoding
	computed   = "\x07" // what an expansion or a filter makes of a known text; it is not carried out
)

const unknowns = unknown + splitting + downloaded + decoded + foreign + encoded + computed

const notCarriedOut = "is the result of an expansion or a filter that the guard does not carry out"

func isUnknown(b byte) bool { return strings.IndexByte(unknowns, b) >= 0 }

func hasUnknown(text string) bool { return strings.ContainsAny(text, unknowns) }

// isOpaque reports whether a text has no known part.
func isOpaque(text string) bool {
	return hasUnknown(text) && strings.Trim(text, unknowns+" \t\r\n") == ""
}

// isComputed reports whether a text has a part that could be known, and is not because the guard
// does not carry out what makes it. Nothing that a rule judges may have such a part.
func isComputed(text string) bool { return strings.Contains(text, computed) }

// origin returns the strongest kind of unknown text in a text; empty if all of it is known.
func origin(text string) string {
	for _, kind := range []string{downloaded, decoded, foreign, encoded, computed, splitting, unknown} {
		if strings.Contains(text, kind) {
			return kind
		}
	}
	return ""
}

// filtered returns what a filter makes of a text. It keeps the origin. A known text becomes
// decoded: a filter of constant text has no other use than to hide it.
func filtered(text string) string {
	switch kind := origin(text); {
	case kind != "" && isComputed(text):
		return kind + computed
	case kind != "":
		return kind
	case strings.TrimSpace(text) == "":
		return ""
	}
	return decoded
}

// maxPrintable is the length in bytes of a command in a verdict.
const maxPrintable = 200

// Printable returns a text for a person: one line of bounded length, with "…" for unknown parts.
func Printable(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && isUnknown(byte(r)):
			return '…'
		case r < ' ' || r == 0x7f:
			return ' '
		}
		return r
	}, units.Prefix(text, maxPrintable))
	return strings.TrimSpace(text)
}
