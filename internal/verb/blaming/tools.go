package blaming

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	mostCalls = 5000      // calls of tools of one iteration
	mostInput = 256 << 10 // bytes of what one is given
)

// call is a call of a tool that ended well: the texts that it was given, without what it replaces.
type call []string

// wrote reports whether an iteration gave a tool this line for this file. Only a line with letters
// enough counts: another one may be in the file for another reason.
func (o *origins) wrote(i *provenance.Iteration, path, line string) bool {
	if letters(line) < leastLetters {
		return false
	}
	if _, done := o.calls[i]; !done {
		o.readCalls(i.Loop)
	}
	for _, c := range o.calls[i] {
		names, has := false, false
		for _, text := range c {
			for given := range strings.SplitSeq(text, "\n") {
				names = names || isNameOf(given, path)
				has = has || given == line || given == "+"+line // of a patch
			}
		}
		if names && has {
			return true
		}
	}
	return false
}

// isNameOf reports whether a text is the path of a file, or the line of a patch that names it.
func isNameOf(text, path string) bool {
	text = filepath.ToSlash(text)
	if strings.HasPrefix(text, "*** ") || strings.HasPrefix(text, "+++ ") {
		return strings.HasSuffix(text, " "+path) || strings.HasSuffix(text, "/"+path)
	}
	return text == path || strings.HasSuffix(text, "/"+path) && !strings.Contains(text, " ")
}

// readCalls reads the calls of tools of all iterations of a loop. What cannot be read shows
// nothing.
func (o *origins) readCalls(l *provenance.Loop) {
	byNumber := map[int]*provenance.Iteration{}
	for _, i := range l.Iterations {
		byNumber[i.N], o.calls[i] = i, nil
	}
	open := map[string]call{}
	for e, err := range journal.Read(l.Dir, journal.ReadOptions{}) {
		if err != nil {
			return
		}
		i := byNumber[e.Iter]
		if i == nil || len(o.calls[i]) >= mostCalls {
			continue
		}
		switch e.Type {
		case event.TypeIterationStarted:
			clear(open)
		case event.TypeToolCalled:
			if p, err := event.As[event.ToolCalled](e); err == nil && len(p.Input) <= mostInput {
				open[p.ID] = textsOf(p.Input)
			}
		case event.TypeToolReturned:
			p, err := event.As[event.ToolReturned](e)
			if c := open[p.ID]; err == nil && p.OK && len(c) > 0 {
				o.calls[i] = append(o.calls[i], c)
			}
		}
	}
}

// textsOf returns the texts in the input of a tool, without those that it replaces.
func textsOf(input []byte) (all call) {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for key, one := range v {
				if !strings.HasPrefix(strings.ToLower(key), "old") {
					walk(one)
				}
			}
		}
	}
	walk(value)
	return all
}
