package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// parse reads the text of a scalar into place and checks it.
func parse(f *field, key, text string, place reflect.Value) *Error {
	if f.None && text == "none" {
		place.SetZero()
		return nil
	}
	var number float64
	var err error
	switch f.Kind {
	case KindString:
		place.SetString(text)
		return checkWord(f, key, text)
	case KindDuration:
		duration, err := event.ParseDuration(text)
		if err != nil {
			return &Error{Key: key, Problem: key + ": " + err.Error()}
		}
		place.SetInt(int64(duration))
		return nil
	case KindBool:
		var value bool
		value, err = strconv.ParseBool(text)
		place.SetBool(value)
	case KindInt:
		var whole int64
		whole, err = strconv.ParseInt(text, 10, place.Type().Bits())
		place.SetInt(whole)
		number = float64(whole)
	case KindFloat:
		number, err = strconv.ParseFloat(text, 64)
		place.SetFloat(number)
	}
	problem := ""
	switch {
	case errors.Is(err, strconv.ErrRange):
		problem = text + " is too large"
	case err != nil, math.IsNaN(number), math.IsInf(number, 0):
		got := shorten(text)
		if json.Unmarshal([]byte(text), new(float64)) == nil {
			got = text
		}
		problem = fmt.Sprintf("want %s, got %s", f.Kind, got)
	case number < f.Min:
		problem = fmt.Sprintf("%s is below %v", text, f.Min)
	case number > f.Max:
		problem = fmt.Sprintf("%s is above %v", text, f.Max)
	default:
		return nil
	}
	return &Error{Key: key, Problem: key + ": " + problem}
}

// parseField reads the value of a variable or a flag for one key: the text of a scalar, JSON for
// objects and lists, and for a list of strings also the strings with commas between them.
func parseField(f *field, key, value string, base reflect.Value, seen func(key string, at int)) *Error {
	trimmed := strings.TrimSpace(value)
	isJSON := strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
	d := decoder{seen: seen}
	switch f.Kind {
	case KindObject, KindMap, KindObjects, KindNamed:
		if !isJSON {
			return notJSON(f, key)
		}
	case KindStrings, KindPassed:
		if !isJSON {
			return d.value(f, commaList(f, key, trimmed), base)
		}
	case KindNames:
		if !isJSON {
			return d.value(f, node{key: key, token: trimmed}, base)
		}
	case KindString:
		return d.value(f, node{key: key, token: value}, base)
	default:
		seen(key, 0)
		return parse(f, key, trimmed, base.FieldByIndex(f.index))
	}
	n, err := parseJSON([]byte(value), key)
	if err != nil {
		err.Key, err.Problem = key, key+": not JSON: "+err.Problem
	} else if err = d.value(f, n, base); err == nil {
		return nil
	}
	_, column := locate([]byte(value), err.at)
	err.Problem += fmt.Sprintf(" (character %d)", column)
	return err
}

func notJSON(f *field, key string) *Error {
	err := &Error{Key: key, Problem: key + ": want " + string(f.Kind) + " in JSON"}
	switch f.Kind {
	case KindObject:
		first := table()[slices.IndexFunc(table(), func(m *field) bool { return m.parent == f.Name })]
		err.advice = fmt.Sprintf("its keys can be set one by one: %s or %s", first.Name, first.Env)
	case KindObjects:
		for _, m := range table() {
			if inner, ok := strings.CutPrefix(m.Name, f.Name+"[]."); ok && m.Required {
				err.advice = fmt.Sprintf("write it as '[{%q: %q}]'; 'ralph doctor --schema' has its other keys", inner, append(slices.Clone(m.Enum), "…")[0])
			}
		}
	}
	return err
}

// commaList returns the node of a list that is written with commas, or of a word that means a list.
func commaList(f *field, key, text string) node {
	n := node{key: key, token: json.Delim('[')}
	switch {
	case f.Kind == KindPassed && (text == string(passedAll) || text == string(passedNone)):
		n.token = text == string(passedAll)
	case f.Kind == KindPassed && (text == passedAuto || text == ""):
		n.token = passedAuto
	case text != "":
		for i, entry := range strings.Split(text, ",") {
			n.nodes = append(n.nodes, node{key: fmt.Sprintf("%s[%d]", key, i), token: strings.TrimSpace(entry)})
		}
	}
	return n
}

// set parses the text of a dotted key into s, and calls seen with every key that was set.
func set(s *Settings, key, value string, seen func(key string, at int)) *Error {
	if err := oldKey(key, *s); err != nil {
		return err
	}
	f, name, entry := lookUp(key)
	if f == nil {
		return unknownKey(key)
	}
	if name != "" {
		if err := checkName(key, name); err != nil {
			return err
		}
	}
	return s.edit(name, func(base reflect.Value) *Error {
		if entry == "" {
			return parseField(f, key, value, base, seen)
		}
		place := base.FieldByIndex(f.index)
		merged, err := entries(node{nodes: []node{{key: key, name: entry, token: value}}}, place.Interface().(map[string]string), seen)
		if err == nil {
			place.Set(reflect.ValueOf(merged))
		}
		return err
	})
}

// Text returns the value of a dotted key as a flag would give it; false for an unknown key.
func Text(s Settings, key string) (string, bool) {
	f, name, entry := lookUp(key)
	if f == nil {
		return "", false
	}
	value := s.valueOf(f, name)
	if entry != "" {
		one, ok := value.Interface().(map[string]string)[entry]
		return one, ok
	}
	return text(f, value), true
}

// Changed returns the keys whose values are not built in, without objects, whose keys have values
// of their own.
func Changed(s Settings) []string {
	var keys []string
	for _, f := range table() {
		names := []string{""}
		switch {
		case f.Kind == KindObject || f.Kind == KindNamed || strings.Contains(f.Name, "[]"):
			continue
		case f.parent == anyAgent:
			names = slices.Sorted(maps.Keys(s.Agents))
		}
		for _, name := range names {
			key := strings.Replace(f.Name, anyAgent, join(agentsKey, name), 1)
			switch value := s.valueOf(f, name); {
			case f.Kind == KindMap:
				for _, entry := range slices.Sorted(maps.Keys(value.Interface().(map[string]string))) {
					keys = append(keys, join(key, entry))
				}
			case text(f, value) != f.Default && !(name != "" && value.IsZero()):
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func text(f *field, value reflect.Value) string {
	empty := value.IsZero()
	switch {
	case f.None && empty:
		return "none"
	case f.Kind == KindString:
		return value.String()
	case f.Kind == KindPassed:
		return cmp.Or(value.String(), passedAuto)
	case f.Kind == KindFloat:
		return strconv.FormatFloat(value.Float(), 'f', -1, 64)
	case (f.Kind == KindMap || f.Kind == KindNamed) && empty:
		return "{}"
	case f.Kind == KindNames && value.Len() < 2:
		return strings.Join(value.Interface().(AgentNames), "")
	case (f.Kind == KindStrings || f.Kind == KindObjects) && empty:
		return "[]"
	case f.Kind == KindObject, f.Kind == KindObjects, f.Kind == KindStrings, f.Kind == KindMap, f.Kind == KindNames, f.Kind == KindNamed:
		return inJSON(f.Name, value.Interface())
	}
	return fmt.Sprint(value.Interface())
}

func inJSON(key string, value any) string {
	encoded, err := encode(value, "")
	if err != nil {
		panic(fmt.Sprintf("config: encode %s: %v", key, err)) // plain structs, strings and numbers always encode
	}
	return strings.TrimSpace(string(encoded))
}

// shorten quotes a value for a message.
func shorten(text string) string {
	return strconv.Quote(units.Cut(text, 41))
}

// checkWord checks a string against the words its key takes.
func checkWord(f *field, key, text string) *Error {
	switch {
	case f.Enum != nil && !slices.Contains(f.Enum, text):
		return &Error{
			Key:     key,
			Problem: fmt.Sprintf("%s: %s is not one of %s", key, shorten(text), strings.Join(f.Enum, ", ")),
			Nearest: Nearest(text, f.Enum),
		}
	case text == "" && f.Required:
		return &Error{Key: key, Problem: key + ": must not be empty"}
	case strings.ContainsRune(text, 0):
		return &Error{Key: key, Problem: key + ": holds a NUL character"}
	}
	return nil
}

// checkVariable checks the name of an environment variable.
func checkVariable(key, name string) *Error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return &Error{Key: key, Problem: fmt.Sprintf("%s: %s is no name of an environment variable", key, shorten(name))}
	}
	return nil
}
