package secret

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// settle turns raw hits into spans that can be replaced: sorted, without overlap, and, where the text is JSON, such that it
// stays JSON. In plain text every hit stands as it is.
func (m *Masker) settle(src []byte, hits []hit, plain bool) []hit {
	byStart(hits)
	if plain {
		return merge(hits)
	}
	j := jsonText{src: src}
	kept := hits[:0]
	for _, h := range hits {
		switch {
		case h.rank == rankKnown:
			if m.delicate(src, h) && j.around(h) {
				h = m.inJSON(&j, h)
			}
		case h.label == labelKey:
			// The search for the key's last line may have left the string.
			if quote := unescapedQuote(src[h.start:h.end]); quote >= 0 && j.around(h) {
				h.end = h.start + quote
			}
		}
		if h.end > h.start {
			kept = append(kept, h)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	byStart(kept) // a start may have moved
	return merge(kept)
}

func byStart(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
}

// delicate reports whether replacing h could hurt JSON or mean something else there.
func (m *Masker) delicate(src []byte, h hit) bool {
	l := &m.literals[h.literal]
	return l.plainOnly || l.bare || bytes.IndexByte(src[max(0, h.start-5):h.start], '\\') >= 0
}

// inJSON adjusts a hit on a known value in valid JSON; an empty span means that it is none there.
func (m *Masker) inJSON(j *jsonText, h hit) hit {
	l := &m.literals[h.literal]
	none := hit{}
	if l.plainOnly {
		return none
	}
	if l.bare && !j.inString(h.start) {
		return j.number(h)
	}
	// How far before the start the last backslash stands, and whether that one begins an escape.
	for back := 1; back <= 5 && back <= h.start; back++ {
		at := h.start - back
		if j.src[at] != '\\' {
			continue
		}
		run := 1
		for run <= at && j.src[at-run] == '\\' {
			run++
		}
		if back == 1 && l.text[0] == '\\' {
			// It begins within a row of backslashes. A backslash before the value, depth levels down, is 1<<depth of them here:
			// any other number belongs to a spelling of another depth.
			if run%(1<<l.depth) != 0 {
				return none
			}
			return h
		}
		tail := escapeTail(j.src[at+1:])
		if tail < back {
			return h
		}
		if run%2 == 1 {
			return none // it begins inside an escape: the text says something else
		}
		// It is an escape only for who decodes the string a second time. For their sake that escape stays whole: the value
		// loses its first letter to it, and the rest is masked.
		h.start = at + 1 + tail
		return h
	}
	return h
}

// unescapedQuote returns the position of the first quote that ends a JSON string, -1 when there is none.
func unescapedQuote(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// jsonText answers questions about src as JSON, as late as possible and once.
type jsonText struct {
	src          []byte
	asked, valid bool // the whole of src

	lineStart, lineEnd int // the line asked about last
	lineValid          bool

	at     int // inString has read so far
	inside bool
}

// around reports whether h stands in valid JSON: all of src, or its line.
func (j *jsonText) around(h hit) bool {
	if !j.asked {
		j.asked, j.valid = true, json.Valid(j.src)
	}
	if j.valid {
		return true
	}
	if h.start >= j.lineStart && h.end <= j.lineEnd {
		return j.lineValid
	}
	start := bytes.LastIndexByte(j.src[:h.start], '\n') + 1
	end := len(j.src)
	if k := bytes.IndexByte(j.src[h.start:], '\n'); k >= 0 {
		end = h.start + k
	}
	if h.end > end {
		return false
	}
	j.lineStart, j.lineEnd, j.lineValid = start, end, json.Valid(j.src[start:end])
	j.at, j.inside = start, false
	return j.lineValid
}

// inString reports whether position at is inside a string. Positions must not decrease.
func (j *jsonText) inString(at int) bool {
	for ; j.at < at; j.at++ {
		switch j.src[j.at] {
		case '\\':
			j.at++
		case '"':
			j.inside = !j.inside
		}
	}
	return j.inside
}

// number widens h to the number that holds it. A span of anything else outside strings is structure, not a value.
func (j *jsonText) number(h hit) hit {
	const chars = "0123456789+-.eE"
	if strings.Trim(string(j.src[h.start:h.end]), chars) != "" {
		return hit{}
	}
	for h.start > 0 && strings.IndexByte(chars, j.src[h.start-1]) >= 0 {
		h.start--
	}
	for h.end < len(j.src) && strings.IndexByte(chars, j.src[h.end]) >= 0 {
		h.end++
	}
	h.number = true
	return h
}
