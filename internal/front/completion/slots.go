package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// A Slot is a word of a command line that is an argument, or the value of a flag.
type Slot struct {
	Word  int // its place on the command line
	From  int // where in that word the value begins: after "--loop="
	Of    *kong.Value
	First bool // of the words of an argument; any value of a flag
}

// Is reports whether the values of the slot are of one kind of the tag: a loop's name is the first
// of several words, unless each is one.
func (s Slot) Is(kind string) bool {
	return slices.Contains(strings.Split(s.Of.Tag.Get(Tag), ","), kind) && (s.First || kind != "loop")
}

// Slots returns the slots of the command line 'ralph WORDS…' that begins with a verb.
func Slots(verbs cli.Commands, words []string) []Slot {
	if len(words) == 0 || !verbs.Has(words[0]) {
		return nil
	}
	parser, err := verbs.Parser(words, func(int) {})
	if err != nil {
		return nil
	}
	p := position{node: parser.Model.Children[0]}
	var slots []Slot
	for i, word := range words[1:] {
		node, argument, place := p.node, p.argument(), p.words
		flag, from := p.value, 0
		if flag == nil && !p.onlyWords && len(word) > 1 && word[0] == '-' {
			flag, from = p.joined(word)
			argument = nil
		}
		switch p.pass(word); {
		case flag != nil:
			slots = append(slots, Slot{i + 1, from, flag, true})
		case argument != nil && p.node == node && p.words > place:
			slots = append(slots, Slot{i + 1, 0, argument, place <= slices.Index(p.node.Positional, argument)})
		}
	}
	return slots
}

// joined returns the flag whose value is in the same word, and where that begins: --loop=demo,
// -ldemo.
func (p *position) joined(word string) (flag *kong.Value, from int) {
	if name, _, given := strings.Cut(word, "="); given && strings.HasPrefix(word, "--") {
		if f := p.flag(name); f != nil {
			return f.Value, len(name) + 1
		}
		return nil, 0
	}
	for i := 1; i < len(word) && word[1] != '-'; i++ {
		f := p.flag("-" + word[i:i+1])
		switch {
		case f == nil:
			return nil, 0
		case !f.IsBool() && !f.IsCounter() && i+1 < len(word):
			return f.Value, i + 1
		}
	}
	return nil, 0
}
