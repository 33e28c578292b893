package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Parse reads a tasks.json and checks its form: the fields, their types, the ids, and dependsOn.
// Each problem names the story and the field. The list is nil if the text has no list of stories at
// all; else it has an entry for each, with zero values where the file is wrong. At most
// maxProblems+1 problems are returned. The list shares no memory with data.
func Parse(data []byte) (*List, []event.StoryProblem) {
	f, problems := read(data)
	if f == nil {
		return nil, problems
	}
	return f.list, problems
}

// A file is a tasks.json with a note of where everything is.
type file struct {
	data    []byte
	top     object
	array   span     // userStories
	stories []object // as in list.Stories; one that is no object has no members
	list    *List
	place   map[string]int // the index of the first story with an id
	// wrong has the fields that have a problem, by the index of the story; -1 is the file itself.
	wrong map[int][]string
}

// read is Parse with the places. The file is nil if the list is.
func read(data []byte) (*file, []event.StoryProblem) {
	if problem := unreadable(data); problem != "" {
		return nil, []event.StoryProblem{{Text: problem}}
	}
	start := skipSpace(data, 0)
	if data[start] != '{' {
		return nil, []event.StoryProblem{{Text: "tasks.json has " + kindOf(data[start:]) + " where an object is needed"}}
	}
	f := &file{data: data, list: &List{}, place: map[string]int{}, wrong: map[int][]string{}}
	f.top = scanObject(data, scanValue(data, start, len(data)))
	c := &checker{file: f}
	if !c.stories() {
		return nil, c.all()
	}
	c.header()
	for i := range f.stories {
		c.story(i)
	}
	c.ids()
	c.dependencies()
	return f, c.all()
}

// unreadable says why a text is no JSON that can be read, or "".
func unreadable(data []byte) string {
	switch {
	case len(data) > MaxSize:
		return fmt.Sprintf("tasks.json has %s, more than the %s that ralph reads", units.Bytes(int64(len(data))), units.Bytes(MaxSize))
	case len(bytes.TrimSpace(data)) == 0:
		return "tasks.json is empty"
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return "tasks.json begins with a byte order mark; save it as UTF-8 without one"
	case jsonscan.Valid(data):
		return ""
	}
	at, cause := 0, "a character is not valid UTF-8"
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, &whole); errors.As(err, &syntax) {
		at, cause = max(0, int(syntax.Offset)-1), syntax.Error()
		if at == len(data)-1 && bytes.HasPrefix([]byte(cause), []byte("unexpected end")) {
			at = len(data)
		}
	} else {
		for at < len(data) {
			r, size := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
	}
	line, column := place(data, at)
	return fmt.Sprintf("tasks.json is not valid JSON: line %d, column %d: %s", line, column, cause)
}

// place returns the line and the column of an index, in characters, both from 1.
func place(data []byte, at int) (line, column int) {
	before := data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// stories finds the entries of userStories; false if there is no such list.
func (c *checker) stories() bool {
	f := c.file
	m, ok := f.top.get("userStories")
	if !ok {
		c.problem(-1, "userStories", "the list is missing")
		return false
	}
	if raw := m.value.of(f.data); !jsonscan.IsArray(raw) {
		c.problem(-1, "userStories", wrongType(raw, "an array of stories"))
		return false
	}
	f.array = m.value
	items := scanArray(f.data, f.array, MaxStories+1)
	switch {
	case len(items) == 0:
		c.problem(-1, "userStories", "the list is empty: add a story")
	case len(items) > MaxStories:
		c.problem(-1, "userStories", fmt.Sprintf("the list has more than the %d stories that ralph reads", MaxStories))
		return false
	}
	f.stories = make([]object, len(items))
	f.list.Stories = make([]Story, len(items))
	for i, at := range items {
		if f.data[at.from] == '{' {
			f.stories[i] = scanObject(f.data, at)
			continue
		}
		f.stories[i] = object{at: at}
	}
	return true
}
