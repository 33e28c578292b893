package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// The message of a kept work tree says what its git tree does not have: which files were ignored,
// were too large or are left out by a sparse checkout, permissions, and what is no
// file. It is one line of JSON.

const notesMark = "\n\nbeside the tree: "

// notes is that JSON. A path is quoted as in Go with ASCII alone, because it may be no UTF-8.
type notes struct {
	Perms   map[string]fs.FileMode `json:"perms,omitempty"`
	Left    map[string]string      `json:"left,omitempty"`
	Absent  []string               `json:"absent,omitempty"`
	Ignored []string               `json:"ignored,omitempty"`
	Odd     map[string]string      `json:"odd,omitempty"`
	Rules   string                 `json:"rules"` // see ignoreRules
}

// addNotes adds to a message what the tree does not have.
func (m *moment) addNotes(message string) (string, error) {
	all := notes{Perms: quotedKeys(m.perms), Left: quotedKeys(m.unkept), Odd: quotedKeys(m.odd), Rules: m.ignores}
	for name := range m.absent {
		all.Absent = append(all.Absent, strconv.QuoteToASCII(name))
	}
	for name := range m.ignored {
		all.Ignored = append(all.Ignored, strconv.QuoteToASCII(name))
	}
	text, err := json.Marshal(all)
	return message + notesMark + string(text), err
}

func quotedKeys[V any](from map[string]V) map[string]V {
	to := map[string]V{}
	for name, value := range from {
		to[strconv.QuoteToASCII(name)] = value
	}
	return to
}

var errNoNotes = errors.New("it does not say what was beside its tree")

// parseNotes reads a commit as git stores it. Its files are not in it.
func parseNotes(commit string, at repo.Location) (k moment, err error) {
	_, text, ok := strings.Cut(commit, notesMark)
	if !ok {
		return k, errNoNotes
	}
	var all notes
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return k, fmt.Errorf("%w: %w", errNoNotes, err)
	}
	k = newMoment(at)
	k.ignores = all.Rules
	unquote := func(name string) string {
		plain, failed := strconv.Unquote(name)
		if failed != nil {
			err = fmt.Errorf("%w: %.80q is no path", errNoNotes, name)
		}
		return plain
	}
	for name, perm := range all.Perms {
		k.perms[unquote(name)] = perm.Perm()
	}
	for name, what := range all.Left {
		k.unkept[unquote(name)] = what
	}
	for name, kind := range all.Odd {
		k.odd[unquote(name)] = kind
	}
	for _, name := range all.Absent {
		k.absent[unquote(name)] = true
	}
	for _, name := range all.Ignored {
		k.ignored[unquote(name)] = true
	}
	return k, err
}
