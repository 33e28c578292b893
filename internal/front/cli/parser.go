package cli

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"
)

// A Command is a verb as the command line knows it.
type Command struct {
	Name, Help string
	Verb       func() any // makes the struct that its flags and arguments are parsed into
	Tag        string     // further tags for kong
	Group      Group      // under which the help shows it
}

// A Group is a part of the help of all verbs.
type Group string

// The groups, in the order of the help.
const (
	Daily     Group = "Every day:"
	Sometimes Group = "Now and then:"
	Machines  Group = "For scripts, machines and other programs:"
	Agents    Group = "For agents, inside a loop:"
)

// Hidden is the tag of a verb that no help shows.
const Hidden = `hidden:""`

// Commands are all verbs, in the order of the help.
type Commands []Command

const description = `ralph runs a coding agent again and again, each time with a fresh context, until the work is proved done or a limit says stop.

Exit codes: 0 completed, 1 a limit was reached, 2 configuration or usage, 3 failed, 4 needs a person, 6 another host of the
pool has the loop, 130 interrupted or stopped.`

// Parser returns the parser of a command line. exit receives the exit code of a program that has
// printed its help or version.
//
// If the first word is a verb, kong gets only that one. Its model of all verbs takes 3 ms, three
// quarters of the time to the first line of attach.
func (all Commands) Parser(args []string, exit func(int)) (*kong.Kong, error) {
	given := all
	if i := slices.IndexFunc(all, func(c Command) bool { return len(args) > 0 && c.Name == args[0] }); i >= 0 {
		given = all[i : i+1]
	}
	var flags struct {
		ShowVersion kong.VersionFlag `name:"version" short:"v" help:"Print the version."`
	}
	options := []kong.Option{
		kong.Name("ralph"), kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": "ralph " + BuildVersion()},
		kong.Exit(exit), kong.Help(help), kong.NamedMapper("filled", kong.MapperFunc(filled)),
	}
	for _, c := range given {
		options = append(options, kong.DynamicCommand(c.Name, c.Help, string(c.Group), c.Verb(), c.Tag))
	}
	return kong.New(&flags, options...)
}

// filled reads a flag whose value must not be empty, as that of a variable of a shell that is not
// set: it would count as if the flag were not there.
func filled(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	err := ctx.Scan.PopValueInto("string", &text)
	if err == nil && text == "" {
		err = errors.New("empty")
	}
	target.SetString(text)
	return err
}

// names are the verbs that a person can type.
func (all Commands) names() []string {
	var names []string
	for _, c := range all {
		if c.Tag != Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// Has reports whether a word is a verb.
func (all Commands) Has(word string) bool {
	return slices.ContainsFunc(all, func(c Command) bool { return c.Name == word })
}

// AllFlags is the flag --help-all, which prints the help with all flags. For a verb that has it,
// --help shows only the flags with the tag often.
type AllFlags bool

// BeforeReset prints the help.
func (AllFlags) BeforeReset(app *kong.Kong, ctx *kong.Context) error {
	err := ctx.PrintUsage(false)
	app.Exit(0)
	return err
}

// help prints the help of a verb, or of all.
func help(o kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	all := slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "help-all" })
	if node == nil || all || !slices.ContainsFunc(node.Flags, isOften) {
		return kong.DefaultHelpPrinter(o, ctx)
	}
	more := 0
	for _, f := range node.Flags {
		if !f.Hidden && !isOften(f) && f.Name != "help" {
			f.Hidden = true
			more++
		}
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\n%d more flags: 'ralph %s --help-all'. Every setting is one, too: --limits.cost 5.\n", more, node.Path())
	return err
}

func isOften(f *kong.Flag) bool { return f.Tag.Has("often") }
