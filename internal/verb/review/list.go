package review

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render/reading"
)

// Flags are what a person says on the command line.
type Flags struct {
	Words    []string // the name, which may be empty or the first word of the text of SendBack, and that text
	Approve  []string
	SendBack string
	RollBack string
	JSON     bool
}

// Page is what --json prints.
type Page struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Done bool   `json:"done"` // every item is decided, and no file is unknown
	reading.List
}

// Run does what the flags say, or shows what there is to read: on the terminal where there is one.
func Run(ctx context.Context, e *cli.Env, f Flags) error {
	name, words := f.Words[0], f.Words[1:]
	var err error
	switch {
	case f.SendBack == "" && len(words) > 0:
		err = cli.Refuse("words for the agent need --send-back ITEM", "%q is too much: the name of one loop is enough", words[0])
	case f.SendBack != "" && name != "":
		name, words, err = e.SplitLoopName(f.Words)
	}
	if err != nil {
		return err
	}
	s, err := e.Find(name)
	if err != nil {
		return err
	}
	acts := f.acts(e, words)
	if len(acts) == 0 && !f.JSON && e.Drawable() && e.StdinIsTerminal() {
		return show(e, s)
	}
	desk := New(e)
	for _, act := range acts {
		said, err := desk.Act(ctx, s, act)
		if err != nil {
			return err
		}
		cli.Tell(e.Stderr, "%s", said)
	}
	list, err := desk.List(ctx, s)
	switch {
	case err != nil:
		return err
	case f.JSON:
		return cli.PrintJSON(e.Stdout, Page{s.Name, s.ID, list.Done(), list}, "")
	}
	_, err = e.Stdout.Write(text(list, e.RenderOptions().Width, len(acts) > 0))
	return err
}

// acts are what the flags ask for. A file goes back before words resume the loop.
func (f Flags) acts(e *cli.Env, words []string) (all []reading.Act) {
	for _, id := range f.Approve {
		all = append(all, reading.Act{Do: reading.Approve, Item: id})
	}
	if f.RollBack != "" {
		all = append(all, reading.Act{Do: reading.RollBack, File: f.RollBack})
	}
	if f.SendBack != "" {
		all = append(all, reading.Act{Do: reading.SendBack, Item: f.SendBack, Words: send.Text(e, words)})
	}
	return all
}

// shortID is how many digits of an id are shown to a person.
const shortID = 8

// nothing is said of a list without items.
const nothing = "There is nothing to read: no file of the loop differs from before it."

// text is the list for a person, in lines of so many columns; after an act only how far it is.
func text(list reading.List, width int, acted bool) []byte {
	var to bytes.Buffer
	fmt.Fprintln(&to, list.Reviewed)
	if acted {
		return to.Bytes()
	}
	if list.Compared != "" {
		for _, row := range cli.Wrapped(list.Compared, width-1) {
			fmt.Fprintln(&to, row)
		}
	}
	for _, g := range list.Groups() {
		fmt.Fprintf(&to, "\n%s\n", g.Title)
		for i := range g.Items {
			item := &g.Items[i]
			fmt.Fprintf(&to, "  %s  %s  %s\n", units.Prefix(item.ID, shortID), cmp.Or(string(item.State), "open"), item.Place())
			for _, row := range cli.Wrapped(item.Why(), width-4) {
				fmt.Fprintf(&to, "    %s\n", row)
			}
			for _, file := range item.Files {
				fmt.Fprintf(&to, "      %s\n", file)
			}
			fmt.Fprintf(&to, "    %s\n", cmp.Or(item.Back, item.Command))
		}
	}
	if len(list.Items) == 0 && list.Unknown == "" {
		fmt.Fprintln(&to, nothing)
	}
	if list.Unknown != "" {
		fmt.Fprintln(&to)
		for _, row := range cli.Wrapped("Which files changed is not known: "+list.Unknown+".", width-1) {
			fmt.Fprintln(&to, row)
		}
	}
	return to.Bytes()
}
