package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Passed says which variables are let through: "" none, "true" all, else these, with commas between. In JSON it is a bool or a
// list.
type Passed string

// passedAll is all of them.
const passedAll Passed = "true"

// Has reports whether the variable is let through.
func (p Passed) Has(name string) bool {
	return p == passedAll || slices.Contains(strings.Split(string(p), ","), name)
}

// MarshalJSON writes what decode reads.
func (p Passed) MarshalJSON() ([]byte, error) {
	switch p {
	case "":
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
	if json.Unmarshal(data, &all) == nil {
		names = []string{strconv.FormatBool(all)}
	} else if err := json.Unmarshal(data, &names); err != nil {
		return fmt.Errorf("want %s: %w", KindPassed, err)
	}
	if err := parsePassed("passKeys", strings.Join(names, ","), reflect.ValueOf(p).Elem()); err != nil {
		return err
	}
	return nil
}

// parsePassed reads the text of a variable or a flag: true, false, or names.
func parsePassed(key, text string, place reflect.Value) *Error {
	switch text {
	case "false", "":
		place.SetString("")
		return nil
	case "true":
		place.SetString(string(passedAll))
		return nil
	}
	return setPassed(key, strings.Split(text, ","), place)
}

func setPassed(key string, names []string, place reflect.Value) *Error {
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if err := checkVariable(key, names[i]); err != nil {
			return err
		}
	}
	place.SetString(strings.Join(names, ","))
	return nil
}
