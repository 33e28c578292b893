package main

import (
	"reflect"
	"strings"
)

// grammar returns what kong shall read args by: the verb that they begin with,
// alone. kong looks at each flag of each verb that it is given; for all of them
// that takes longer than everything that attach does before its first line. Where
// args begin with no verb (flags, --help, a mistake), it is the whole.
func grammar(args []string) any {
	whole := reflect.TypeFor[cli]()
	var verb, rest []reflect.StructField
	for i := range whole.NumField() {
		f := whole.Field(i)
		if _, is := f.Tag.Lookup("cmd"); !is {
			rest = append(rest, f)
		} else if len(args) > 0 && verbName(f) == args[0] {
			verb = append(verb, f)
		}
	}
	if len(verb) == 0 {
		return reflect.New(whole).Interface()
	}
	return reflect.New(reflect.StructOf(append(verb, rest...))).Interface()
}

// verbName is what kong calls the verb of a field.
func verbName(f reflect.StructField) string {
	if name, given := f.Tag.Lookup("name"); given {
		return name
	}
	return strings.ToLower(f.Name)
}
