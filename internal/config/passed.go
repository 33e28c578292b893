package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Passed says which variables are let through: "" as the agent's login has it, "false" none, "true" all, else these, with commas
// between. In JSON it is "auto", a bool or a list.
type Passed string

const (
	passedAll  Passed = "true"
	passedNone Passed = "false"
	passedAuto        = "auto" // how the empty one is written
)

// Auto reports whether nobody has decided: what is let through depends on the agent's login.
func (p Passed) Auto() bool { return p == "" }

// Has reports whether the variable was asked to be let through.
func (p Passed) Has(name string) bool {
	return p == passedAll || slices.Contains(strings.Split(string(p), ","), name)
}

// MarshalJSON writes what decode reads.
func (p Passed) MarshalJSON() ([]byte, error) {
	switch p {
	case "":
		return []byte(`"` + passedAuto + `"`), nil
	case passedNone:
		return []byte("false"), nil
	case passedAll:
		return []byte("true"), nil
	}
	return encode(strings.Split(string(p), ","), "")
}

// UnmarshalJSON reads it for other readers of config.json than this package.
func (p *Passed) UnmarshalJSON(data []byte) error {
	var names []string
	var all bool
	var word string
	switch {
	case json.Unmarshal(data, &all) == nil:
		word = strconv.FormatBool(all)
	case json.Unmarshal(data, &word) == nil && word == passedAuto:
	default:
		if err := json.Unmarshal(data, &names); err != nil {
			return fmt.Errorf("want %s: %w", KindPassed, err)
		}
		if err := setPassed("passKeys", names, reflect.ValueOf(p).Elem()); err != nil {
			return err
		}
		return nil
	}
	if err := parsePassed("passKeys", word, reflect.ValueOf(p).Elem()); err != nil {
		return err
	}
	return nil
}

// parsePassed reads the text of a variable or a flag: auto, true, false, or names.
func parsePassed(key, text string, place reflect.Value) *Error {
	switch text {
	case passedAuto, "":
		place.SetString("")
		return nil
	case string(passedAll), string(passedNone):
		place.SetString(text)
		return nil
	}
	return setPassed(key, strings.Split(text, ","), place)
}

func setPassed(key string, names []string, place reflect.Value) *Error {
	if len(names) == 0 {
		place.SetString(string(passedNone))
		return nil
	}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if err := checkVariable(key, names[i]); err != nil {
			return err
		}
	}
	place.SetString(strings.Join(names, ","))
	return nil
}
