// Package distant reads a command line that names a loop of another host, and makes of it the one
// for ralph there. It knows where a loop's name may be from the grammar of the verbs.
package distant

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/completion"
	"github.com/ralph-loop/ralph/internal/front/remote"
)

// A Call is a command line for ralph on a host.
type Call struct {
	Host, Loop string
	Args       []string // for ralph there
	Output     string   // the file here that gets what is printed; empty for stdout
	Force      bool     // it may exist
}

// Find returns what a command line, of these verbs, is for ralph on the host that it names; nil if
// it names none.
func Find(e *cli.Env, verbs cli.Commands, args []string) (*Call, error) {
	if !slices.ContainsFunc(args, func(word string) bool { return strings.Contains(word, ":") }) {
		return nil, nil
	}
	d := Call{Args: slices.Clone(args)}
	slots, here := completion.Slots(verbs, args), ""
	chosen := slices.ContainsFunc(slots, func(s completion.Slot) bool { return s.Of.Name == "loop" }) // by a flag
	for _, s := range slots {
		word := args[s.Word][s.From:]
		named := s.Is("loop") || s.Is("loops")
		if !named || s.Of.Name == "why" || s.Is("live") && strings.Contains(word, "=") { // an agent's text; a setting
			continue
		}
		host, loop, ok := remote.Split(word)
		text := s.Of.Name == "text"
		switch several := slices.ContainsFunc(slots, func(o completion.Slot) bool { return o.Of == s.Of && !o.First }); {
		case text && (chosen || !several || !remote.InText(word)), s.Is("file") && cli.Exists(e.Abs(word)):
			continue
		case !ok:
			if s.Is("loops") {
				here = word
			}
			continue
		}
		if err := remote.Check(host, loop); err != nil {
			return nil, err
		}
		if d.Host != "" && d.Host != host {
			return nil, cli.Refuse("name loops of one host at a time", "%s and %s are two hosts", d.Host, host)
		}
		d.Host, d.Loop = host, loop
		d.Args[s.Word] = d.Args[s.Word][:s.From] + loop
		if text {
			d.chooseByFlag(s.Word)
		}
	}
	switch {
	case d.Host == "":
		return nil, nil
	case here != "":
		return nil, cli.Refuse("name loops of one machine at a time", "%s is a loop here, and %s:%s one of another host", here, d.Host, d.Loop)
	}
	return &d, d.moveFiles(args, slots)
}

// chooseByFlag makes the word before a text a flag: ralph there would take the name of a loop that
// it does not have for a part of the text, and send it to another loop.
func (d *Call) chooseByFlag(word int) {
	d.Args[word] = "--loop=" + d.Loop
	if end := word - 1; d.Args[end] == "--" {
		d.Args[end], d.Args[word] = d.Args[word], d.Args[end]
	}
}

// moveFiles lets ralph there print what it would write to a file, which is one here. Other files
// of the command line would have to be there.
func (d *Call) moveFiles(args []string, slots []completion.Slot) error {
	for _, s := range slots {
		file := args[s.Word][s.From:]
		switch {
		case s.Of.Tag.PlaceHolder != "FILE" || file == "-" || s.Of.Name == "roll-back":
		case s.Of.Name == "output" || s.Of.Name == "cast":
			d.Output = file
			d.Args[s.Word] = d.Args[s.Word][:s.From] + "-"
		default:
			return cli.Refuse("copy it there first: "+cli.AsTyped([]string{"scp", file, d.Host + ":"})+", and name it there by 'ssh -t "+d.Host+" ralph …'",
				"--%s %s is a file here, and the loop is on %s", s.Of.Name, file, d.Host)
		}
	}
	if d.Output != "" {
		kept := len(d.Args)
		d.Args = slices.DeleteFunc(d.Args, func(word string) bool { return word == "--force" || word == "--overwrite" })
		d.Force = len(d.Args) < kept
	}
	return nil
}
