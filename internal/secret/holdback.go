package secret

import (
	"bytes"
)

// MaxShapeHold is the most bytes HoldBack keeps for a token shape. A shape that is longer already (a private key, a long JSON
// web token) is let go: what has come is masked, what comes later is not recognised any more.
const MaxShapeHold = 256

const (
	minKnownPrefix = gramBytes
	bearer         = "bearer "
)

// HoldBack returns how many bytes at the end of text may be the beginning of a secret whose rest is still to come: of a known value
// (4 bytes of it; fewer where a word begins, or a cut after its first letter would let all the others through), or of a
// token shape, any part that begins where a word does and reaches the end. Whoever joins deltas keeps
// that many bytes for the next one, and releases them when the block ends. Usually 0, at most max(longest spelling of a
// known value - 1, MaxShapeHold), or twice that where a whole known value stands across the place that would be cut: a value
// that begins as it ends (hunter2-hunter2) is its own next beginning.
func (m *Masker) HoldBack(text []byte) int {
	return m.whole(text, max(m.holdKnown(text), holdShape(text)))
}

// whole moves a cut that would stand within a known value to its beginning.
func (m *Masker) whole(text []byte, n int) int {
	most := 2 * max(m.longest, MaxShapeHold)
	for n > 0 && n <= most {
		cut := len(text) - n
		across := m.across(text, cut)
		if across == cut {
			return n
		}
		n = len(text) - across
	}
	return 0 // nothing to keep, or one value after the other without end
}

// across returns where the first known value begins that stands on both sides of the cut, else the cut.
func (m *Masker) across(text []byte, cut int) int {
	for i := max(0, cut-m.longest+1); i < cut; i++ {
		if i+gramBytes > len(text) || !m.headBits.has(gramAt(text, i)) {
			continue
		}
		for _, at := range m.heads[gramAt(text, i)] {
			value := m.literals[at].text
			if i+len(value) > cut && i+len(value) <= len(text) && string(text[i:i+len(value)]) == value {
				return i
			}
		}
	}
	return cut
}

func (m *Masker) holdKnown(text []byte) int {
	for i := max(0, len(text)-m.longest+1); i+minKnownPrefix <= len(text); i++ {
		head := gramAt(text, i)
		if !m.headBits.has(head) {
			continue
		}
		for _, at := range m.heads[head] {
			value, rest := m.literals[at].text, text[i:]
			if len(value) > len(rest) && value[:len(rest)] == string(rest) {
				return len(rest)
			}
		}
	}
	for n := min(minKnownPrefix-1, len(text)); n > 0; n-- {
		rest := text[len(text)-n:]
		if !boundary(text, len(text)-n) {
			continue
		}
		for i := range m.literals {
			if l := &m.literals[i]; l.kind == knownValue && l.text[:n] == string(rest) {
				return n
			}
		}
	}
	return 0
}

func holdShape(text []byte) int {
	from := max(0, len(text)-MaxShapeHold)
	return max(holdToken(text, from), holdBearer(text, from), holdPEM(text[from:]))
}

// holdToken is for the shapes of the table: they stand in the last run of their characters.
func holdToken(text []byte, from int) int {
	start := len(text)
	for start > from && tokenDot[text[start-1]] {
		start--
	}
	for i := start; i < len(text); i++ {
		if !boundary(text, i) {
			continue
		}
		for _, s := range shapesByByte[text[i]] {
			if s.begins(text[i:]) {
				return len(text) - i
			}
		}
	}
	return 0
}

// begins reports whether text, to its end, is the beginning of a token of this shape, or one that may go on.
func (s *shape) begins(text []byte) bool {
	n := min(len(text), len(s.prefix))
	if string(text[:n]) != s.prefix[:n] {
		return false
	}
	body := text[n:]
	if s.label == labelJWT {
		return span(body, tokenDot) == len(body)
	}
	n = span(body, s.body)
	if n >= s.min && s.more != nil {
		n += span(body[n:], s.more)
	}
	return n == len(body)
}

func holdBearer(text []byte, from int) int {
	end := len(text)
	for end > from && (token68[text[end-1]] || text[end-1] == '\\') {
		end--
	}
	word := end
	for word > from && text[word-1] == ' ' {
		word--
	}
	if start := word - len(bearer) + 1; word < end && start >= from && bytes.EqualFold(text[start:start+len(bearer)], []byte(bearer)) && boundary(text, start) {
		return len(text) - start
	}
	// The word itself may be cut.
	for n := min(len(bearer), len(text)); n > 0; n-- {
		start := len(text) - n
		if bytes.EqualFold(text[start:], []byte(bearer[:n])) && boundary(text, start) {
			return n
		}
	}
	return 0
}

func holdPEM(text []byte) int {
	if at := bytes.LastIndex(text, []byte(pemBegin)); at >= 0 && !bytes.Contains(text[at:], []byte("-----END ")) {
		label := text[at+len(pemBegin):]
		words := bytes.Index(label, []byte(pemDash))
		if words < 0 && pemLabel(bytes.TrimRight(label, "-")) || words >= 0 && bytes.Contains(label[:words], []byte("PRIVATE KEY")) {
			return len(text) - at
		}
	}
	for n := min(len(pemBegin), len(text)); n > 0; n-- {
		if string(text[len(text)-n:]) == pemBegin[:n] {
			return n
		}
	}
	return 0
}
