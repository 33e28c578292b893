package main

import (
	"context"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// newParser returns what the command line is read with, and sends the code of a program
// that has printed its help or version to exit.
func newParser(grammar any, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(grammar,
		kong.Name("ralph"), kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": "ralph " + buildVersion()},
		kong.Exit(exit),
		kong.BindTo(context.Background(), (*context.Context)(nil)),
	)
	if err == nil {
		withExamples(parser.Model.Node, "")
	}
	return parser, err
}

// grammar returns cli, or of it only the verb that the command line names. kong
// compiles every tag of every verb that it is given, which takes longer than
// most verbs run; a test holds the two to the same words.
func grammar(args []string) any {
	if len(args) > 0 && args[0] != "" {
		for field := range reflect.TypeFor[cli]().Fields() {
			if verbName(field) == args[0] {
				return only(field)
			}
		}
	}
	return new(cli)
}

// isVerb reports whether a word of the command line is a verb.
func isVerb(word string) bool {
	for field := range reflect.TypeFor[cli]().Fields() {
		if word != "" && verbName(field) == word {
			return true
		}
	}
	return false
}

// verbs are all that people can type.
func verbs() []string {
	var names []string
	for field := range reflect.TypeFor[cli]().Fields() {
		if _, hidden := field.Tag.Lookup("hidden"); !hidden && verbName(field) != "" {
			names = append(names, verbName(field))
		}
	}
	return names
}

// verbName is how a verb is called; empty for a field that is none.
func verbName(field reflect.StructField) string {
	if _, ok := field.Tag.Lookup("cmd"); !ok {
		return ""
	}
	if name := field.Tag.Get("name"); name != "" {
		return name
	}
	return strings.ToLower(field.Name)
}

// only returns a cli with one verb and the flags that stand before verbs.
func only(verb reflect.StructField) any {
	fields := []reflect.StructField{verb}
	for field := range reflect.TypeFor[cli]().Fields() {
		if verbName(field) == "" {
			fields = append(fields, field)
		}
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}
