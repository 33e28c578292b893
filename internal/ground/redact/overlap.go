package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// resolveOverlaps sorts hits and joins those that overlap. Unless the text is plain, it also
// adjusts hits in JSON so that the text remains JSON.
func (m *Redactor) resolveOverlaps(src []byte, hits []hit, plain bool) []hit {
	byStart(hits)
	if plain {
		return merge(hits)
	}
	j := jsonText{src: src}
	kept := hits[:0]
	for _, h := range hits {
		switch {
		case h.rank == rankKnown:
			if j.around(h) {
				h = m.inJSON(&j, h)
			}
		case h.label == labelKey:
			// the key's last line may have been found outside of the string
			if inside := jsonString().Find(src[h.start:h.end]); inside != nil && j.around(h) {
				h.end = h.start + len(inside) - 1
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

// inJSON adjusts a hit on a known value in valid JSON. An empty span is no hit there.
func (m *Redactor) inJSON(j *jsonText, h hit) hit {
	l := &m.literals[h.literal]
	none := hit{}
	if l.plainOnly {
		return none
	}
	if l.bare && !j.inString(h.start) {
		return j.number(h)
	}
	// find the last backslash before the start, and whether it begins an escape
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
			// It begins within a row of backslashes. At this depth one backslash of the text is
			// 1<<depth here; any other number belongs to an encoding of another depth.
			if run%(1<<l.depth) != 0 {
				return none
			}
			return h
		}
		tail := prefixTail(j.src, at+1)
		if tail < back {
			return h
		}
		if run%2 == 1 {
			return none // it begins inside an escape, so the text is another one
		}
		// It is an escape only in JSON inside this string. The escape remains, with the first
		// letter of the value, and the rest is masked.
		h.start = at + 1 + tail
		return h
	}
	return h
}

// jsonString is the inside of a JSON string and the quote that ends it.
var jsonString = units.Pattern(`^(?:[^"\\]|(?s:\\.))*"`)

// jsonText checks the JSON around hits, which come in the order of their starts.
type jsonText struct {
	src    []byte
	end    int // of the text or the line that was checked last
	valid  bool
	at     int // inString has read so far
	inside bool
}

// around reports whether h is in valid JSON: src, or a line of it.
func (j *jsonText) around(h hit) bool {
	if h.start >= j.end {
		start, end := 0, len(j.src)
		if j.end > 0 || !json.Valid(j.src) {
			start = bytes.LastIndexByte(j.src[:h.start], '\n') + 1
			if n := bytes.IndexByte(j.src[h.start:], '\n'); n >= 0 {
				end = h.start + n
			}
		}
		*j = jsonText{src: j.src, end: end, valid: json.Valid(j.src[start:end]), at: start}
	}
	return j.valid && h.end <= j.end
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

var numberBody = classOf("09++--..eeEE")

// number widens h to the number that holds it. Any other span outside of strings is structure.
func (j *jsonText) number(h hit) hit {
	if span(j.src[h.start:h.end], numberBody) < h.end-h.start {
		return hit{}
	}
	h.start -= spanBack(j.src, h.start, numberBody, h.start)
	h.end += span(j.src[h.end:], numberBody)
	h.number = true
	return h
}
