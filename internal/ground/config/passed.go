package config

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Passed says which keys are passed to the agent: "" what its login needs, "false" none, "true"
// all, else those named, with commas between. In JSON it is "auto", a bool or a list.
type Passed string

const (
	passedAll  Passed = "true"
	passedNone Passed = "false"
	passedAuto        = "auto" // how the empty one is written
)

// Auto reports whether the agent's login decides which keys are passed.
func (p Passed) Auto() bool { return p == "" }

// Has reports whether the setting passes the variable.
func (p Passed) Has(name string) bool {
	return p == passedAll || slices.Contains(strings.Split(string(p), ","), name)
}

// MarshalJSON writes what decodePassed reads.
func (p Passed) MarshalJSON() ([]byte, error) {
	switch p {
	case "":
		return json.Marshal(passedAuto)
	case passedNone, passedAll:
		return []byte(p), nil
	}
	return json.Marshal(strings.Split(string(p), ","))
}

// UnmarshalJSON reads it for other readers of config.json than this package.
func (p *Passed) UnmarshalJSON(data []byte) error {
	f := &field{Key: Key{Name: "passKeys", Kind: KindPassed}}
	n, err := parseJSON(data, f.Name)
	if err == nil {
		err = decodePassed(f, n, reflect.ValueOf(p).Elem())
	}
	if err != nil {
		return err
	}
	return nil
}

func decodePassed(f *field, n node, place reflect.Value) *Error {
	switch n.token {
	case passedAuto:
		place.SetString("")
	case true:
		place.SetString(string(passedAll))
	case false:
		place.SetString(string(passedNone))
	case json.Delim('['):
		names, err := texts(f, n)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := checkVariable(n.key, name); err != nil {
				return err
			}
		}
		place.SetString(cmp.Or(strings.Join(names, ","), string(passedNone)))
	default:
		return wrongType(n, KindPassed)
	}
	return nil
}
