package transcript

import (
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/render"
)

// An Edit is a change of one file by a tool, in lines.
type Edit struct {
	Path       string `json:"path"` // as the tool names it
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
}

// Edits returns what a tool's input changes in files; none if it describes no change.
func Edits(input []byte) (edits []Edit) {
	if !jsonscan.IsObject(input) {
		return nil
	}
	inputs := [][]byte{input}
	var changes []json.RawMessage
	if list := jsonscan.Get(input, "changes"); jsonscan.IsArray(list) && json.Unmarshal(list, &changes) == nil {
		inputs = nil
		for _, change := range changes {
			inputs = append(inputs, append(append([]byte(`{"changes":[`), change...), "]}"...))
		}
	}
	for _, input := range inputs {
		names, lines := paths(input), render.Diff(input)
		if len(names) == 0 || len(lines) == 0 {
			continue
		}
		e := Edit{Path: names[0]}
		for _, line := range lines {
			switch line.Sign {
			case '+':
				e.Insertions++
			case '-':
				e.Deletions++
			}
		}
		edits = append(edits, e)
	}
	return edits
}
