package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// parse reads the text of a scalar into place and checks it.
func parse(f *field, key, text string, place reflect.Value) *Error {
	if f.none && text == "none" {
		place.SetZero()
		return nil
	}
	switch f.kind {
	case KindString:
		if err := checkWord(f, key, text); err != nil {
			return err
		}
		place.SetString(text)
	case KindBool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return badText(f, key, text)
		}
		place.SetBool(value)
	case KindPassed:
		return parsePassed(key, text, place)
	case KindInt:
		number, err := strconv.ParseInt(text, 10, place.Type().Bits())
		if errors.Is(err, strconv.ErrRange) {
			return tooLarge(key, text)
		}
		if err != nil {
			return badText(f, key, text)
		}
		if err := checkBounds(f, key, text, float64(number)); err != nil {
			return err
		}
		place.SetInt(number)
	case KindFloat:
		number, err := strconv.ParseFloat(text, 64)
		if errors.Is(err, strconv.ErrRange) {
			return tooLarge(key, text)
		}
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return badText(f, key, text)
		}
		if err := checkBounds(f, key, text, number); err != nil {
			return err
		}
		place.SetFloat(number)
	case KindDuration:
		duration, err := ParseDuration(text)
		if err != nil {
			return &Error{Key: key, Problem: key + ": " + err.Error()}
		}
		place.SetInt(int64(duration))
	}
	return nil
}

// parseField reads what a variable or a flag says for one key: the text of a scalar, JSON for objects and lists, and for a
// list of strings also the strings with commas between.
func parseField(f *field, value string, place reflect.Value, seen func(string, int)) *Error {
	trimmed := strings.TrimSpace(value)
	if f.kind == KindStrings && !strings.HasPrefix(trimmed, "[") {
		return parseList(f, trimmed, place, seen)
	}
	switch f.kind {
	case KindObject, KindMap:
		if !strings.HasPrefix(trimmed, "{") {
			return notJSON(f)
		}
	case KindObjects:
		if !strings.HasPrefix(trimmed, "[") {
			return notJSON(f)
		}
	}
	inJSON := f.kind == KindPassed && strings.HasPrefix(trimmed, "[")
	switch f.kind {
	case KindStrings, KindMap, KindObject, KindObjects:
		inJSON = true
	case KindString:
		trimmed = value
	}
	if inJSON {
		err, at := decodeField([]byte(value), f, place, seen)
		switch {
		case err == nil:
			return nil
		case err.Key == "":
			err.Problem = f.key + ": not JSON: " + err.Problem
		}
		_, column := locate([]byte(value), at)
		err.Key = cmp.Or(err.Key, f.key)
		err.Problem += fmt.Sprintf(" (character %d)", column)
		return err
	}
	seen(f.key, 0)
	return parse(f, f.key, trimmed, place)
}

func notJSON(f *field) *Error {
	err := &Error{Key: f.key, Problem: f.key + ": want " + string(f.kind) + " in JSON"}
	if f.kind == KindObject {
		err.advice = fmt.Sprintf("its keys can be set one by one: %s or %s", f.object.fields[0].key, envName(f.object.fields[0].key))
	}
	return err
}

func parseList(f *field, value string, place reflect.Value, seen func(string, int)) *Error {
	var list []string
	if value != "" {
		list = strings.Split(value, ",")
	}
	for i, text := range list {
		list[i] = strings.TrimSpace(text)
		if err := checkWord(f, f.key, list[i]); err != nil {
			return err
		}
	}
	seen(f.key, 0)
	setList(place, reflect.ValueOf(list))
	return nil
}

// set parses the text of a dotted key into s. seen is told of every key that was set.
func set(s *Settings, key, value string, seen func(string, int)) *Error {
	f, entry := lookUp(key)
	if f == nil {
		return unknownKey(key)
	}
	place := reflect.ValueOf(s).Elem().FieldByIndex(f.index)
	if entry == "" {
		return parseField(f, value, place, seen)
	}
	if err := checkVariable(key, entry); err != nil {
		return err
	}
	merged := maps.Clone(place.Interface().(map[string]string))
	if merged == nil {
		merged = map[string]string{}
	}
	merged[entry] = value
	place.Set(reflect.ValueOf(merged))
	seen(key, 0)
	return nil
}

// Set parses value and gives it to one key of a running loop. A key that is not among LiveKeys, an unknown one and a bad value
// are an *Error, and settings are then as they were.
func Set(settings *Settings, key, value string) error {
	f, _ := lookUp(key)
	if f != nil && !f.live {
		return &Error{
			Key:     key,
			Problem: key + ": cannot change while the loop runs",
			advice:  "these can: " + strings.Join(LiveKeys(), ", "),
		}
	}
	changed := *settings
	if err := set(&changed, key, value, func(string, int) {}); err != nil {
		return err
	}
	*settings = changed
	return nil
}

// Text returns the value of a dotted key as a flag would give it; false for an unknown key.
func Text(s Settings, key string) (string, bool) {
	f, entry := lookUp(key)
	if f == nil {
		return "", false
	}
	value := reflect.ValueOf(s).FieldByIndex(f.index)
	if entry != "" {
		one, ok := value.Interface().(map[string]string)[entry]
		return one, ok
	}
	return text(f, value), true
}

// Changed returns the keys whose values are not built in, but for objects, whose keys have values of their own.
func Changed(s Settings) []string {
	var keys []string
	value, defaults := reflect.ValueOf(s), reflect.ValueOf(Defaults())
	eachField(table(), func(f *field) {
		is := value.FieldByIndex(f.index)
		switch {
		case f.kind == KindObject:
		case f.kind == KindMap:
			for _, entry := range slices.Sorted(maps.Keys(is.Interface().(map[string]string))) {
				keys = append(keys, join(f.key, entry))
			}
		case text(f, is) != text(f, defaults.FieldByIndex(f.index)):
			keys = append(keys, f.key)
		}
	})
	return keys
}

func text(f *field, value reflect.Value) string {
	if f.none && value.IsZero() {
		return "none"
	}
	switch f.kind {
	case KindString:
		return value.String()
	case KindBool:
		return strconv.FormatBool(value.Bool())
	case KindPassed:
		return cmp.Or(value.String(), passedAuto)
	case KindInt:
		return strconv.FormatInt(value.Int(), 10)
	case KindFloat:
		return strconv.FormatFloat(value.Float(), 'f', -1, 64)
	case KindDuration:
		return Duration(value.Int()).String()
	}
	if value.IsZero() && f.kind != KindObject {
		if f.kind == KindMap {
			return "{}"
		}
		return "[]"
	}
	return inJSON(f.key, value.Interface())
}

func inJSON(key string, value any) string {
	encoded, err := encode(value, "")
	if err != nil {
		panic(fmt.Sprintf("config: encode %s: %v", key, err)) // plain structs, strings and numbers always encode
	}
	return strings.TrimSpace(string(encoded))
}

func badText(f *field, key, text string) *Error {
	got := shorten(text)
	if number, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(number) && !math.IsInf(number, 0) {
		got = text
	}
	return &Error{Key: key, Problem: fmt.Sprintf("%s: want %s, got %s", key, f.kind, got)}
}

func tooLarge(key, number string) *Error {
	return &Error{Key: key, Problem: fmt.Sprintf("%s: %s is too large", key, number)}
}

// shorten quotes a value for a message.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:40]) + "…"
	}
	return strconv.Quote(text)
}

func checkBounds(f *field, key, text string, number float64) *Error {
	switch {
	case number < f.min:
		return &Error{Key: key, Problem: fmt.Sprintf("%s: %s is below %v", key, text, f.min)}
	case number > f.max:
		return &Error{Key: key, Problem: fmt.Sprintf("%s: %s is above %v", key, text, f.max)}
	}
	return nil
}

// checkWord checks a string against the words its key takes.
func checkWord(f *field, key, text string) *Error {
	switch {
	case f.enum != nil && !slices.Contains(f.enum, text):
		return &Error{
			Key:     key,
			Problem: fmt.Sprintf("%s: %s is not one of %s", key, shorten(text), strings.Join(f.enum, ", ")),
			Nearest: Nearest(text, f.enum),
		}
	case text == "" && f.required:
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
