package main

import (
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// kong answers every command line and takes a third of a start to do so. The plain ones, which are
// nearly all, are read here, by the same fields and tags: a verb's own flags, each once and in
// full, and its arguments. Whatever else there is, a mistake above all, is kong's to read and to answer; a
// test holds the two to the same values.

// verb is what a command line comes to.
type verb interface{ Run(e *env) error }

// quickly reads a plain command line. false says that it is not one, and nothing of what it means.
func quickly(args []string) (verb, bool) {
	if len(args) == 0 {
		return nil, false
	}
	for field := range reflect.TypeFor[cli]().Fields() {
		if verbName(field) != args[0] || args[0] == "" {
			continue
		}
		into := reflect.New(field.Type)
		read, ok := into.Interface().(verb)
		if !ok { // of a verb that has verbs
			return nil, false
		}
		q := &quick{given: map[string]bool{}}
		return read, q.fields(into.Elem()) && q.line(args[1:])
	}
	return nil, false
}

// quick reads one command line into the fields of one verb.
type quick struct {
	flags      []quickFlag
	arguments  []quickArgument
	positional int // arguments that were given
	given      map[string]bool
}

type quickFlag struct {
	name, short string
	value       reflect.Value
}

type quickArgument struct {
	value    reflect.Value
	optional bool
}

// knownTags are the tags whose meaning is known here. A field with another one is left to kong.
var knownTags = [...]string{"arg", "default", "help", "hidden", "mapsep", "name", "negatable", "optional", "placeholder", "short"}

// fields collects the fields of a verb and sets their defaults.
func (q *quick) fields(of reflect.Value) bool {
	for field, value := range of.Fields() {
		if !field.IsExported() && !field.Anonymous {
			continue
		}
		if field.Anonymous && field.Tag == "" {
			if !q.fields(value) {
				return false
			}
			continue
		}
		if !onlyKnownTags(field.Tag) || !q.field(field, value) {
			return false
		}
	}
	return true
}

func (q *quick) field(field reflect.StructField, value reflect.Value) bool {
	if text, ok := field.Tag.Lookup("default"); ok && !setQuickly(value, text) {
		return false
	}
	if _, ok := field.Tag.Lookup("arg"); ok {
		_, optional := field.Tag.Lookup("optional")
		q.arguments = append(q.arguments, quickArgument{value, optional})
		return true
	}
	name := field.Tag.Get("name")
	if name == "" {
		name = flagName(field.Name)
	}
	q.flags = append(q.flags, quickFlag{"--" + name, "-" + field.Tag.Get("short"), value})
	return true
}

// onlyKnownTags walks the names of a tag as reflect.StructTag has them.
func onlyKnownTags(tag reflect.StructTag) bool {
next:
	for rest := string(tag); rest != ""; {
		name, after, ok := strings.Cut(rest, `:"`)
		end := strings.IndexByte(after, '"')
		if !ok || end < 0 || strings.Contains(after[:end], `\`) {
			return false
		}
		rest = strings.TrimLeft(after[end+1:], " ")
		for _, known := range knownTags {
			if name == known {
				continue next
			}
		}
		return false
	}
	return true
}

// flagName is how a field is called on the command line: PromptFile is prompt-file.
func flagName(field string) string {
	var name []rune
	var before rune
	for _, r := range field {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			name = append(name, '-')
		}
		name = append(name, unicode.ToLower(r))
		before = r
	}
	return string(name)
}

// line reads everything behind the verb.
func (q *quick) line(args []string) bool {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "" || !utf8.ValidString(word): // kong has ways of its own with both
			return false
		case word[0] != '-':
			if q.positional == len(q.arguments) || !setQuickly(q.arguments[q.positional].value, word) {
				return false
			}
			q.positional++
		default:
			taken, ok := q.flag(word, args)
			if !ok {
				return false
			}
			args = args[taken:]
		}
	}
	return q.positional == len(q.arguments) || q.arguments[q.positional].optional
}

// flag sets one flag and returns how many of the following words were its value.
func (q *quick) flag(word string, following []string) (taken int, ok bool) {
	name, text, joined := word, "", false
	if strings.HasPrefix(word, "--") {
		name, text, joined = strings.Cut(word, "=")
	}
	for _, f := range q.flags {
		if name != f.name && (name != f.short || name == "-") {
			continue
		}
		if q.given[f.name] {
			return 0, false
		}
		q.given[f.name] = true
		if on, ok := switchOf(f.value); ok {
			if joined {
				return 0, false
			}
			f.value.Set(on)
			return 0, true
		}
		if !joined {
			if len(following) == 0 {
				return 0, false
			}
			text, taken = following[0], 1
		}
		if text == "" || text[0] == '-' || !utf8.ValidString(text) {
			return 0, false
		}
		return taken, setQuickly(f.value, text)
	}
	return 0, false
}

// switchOf returns what a flag without a value is set to.
func switchOf(value reflect.Value) (on reflect.Value, ok bool) {
	yes := true
	switch value.Type() {
	case reflect.TypeFor[bool]():
		return reflect.ValueOf(yes), true
	case reflect.TypeFor[*bool]():
		return reflect.ValueOf(&yes), true
	}
	return reflect.Value{}, false
}

// setQuickly sets a value whose text has one meaning only.
func setQuickly(value reflect.Value, text string) bool {
	switch value.Type() {
	case reflect.TypeFor[*string](), reflect.TypeFor[*int](): // what was not given is told from what is empty
		given := reflect.New(value.Type().Elem())
		value.Set(given)
		return setQuickly(given.Elem(), text)
	case reflect.TypeFor[string]():
		value.SetString(text)
		return true
	case reflect.TypeFor[int]():
		n, err := strconv.Atoi(text)
		value.SetInt(int64(n))
		return err == nil && strconv.Itoa(n) == text
	case reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		value.SetInt(int64(d))
		return err == nil
	}
	return false
}
