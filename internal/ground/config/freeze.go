package config

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// givenKey is the key of config.json that holds the settings of the command line.
const givenKey = "$given"

// Freeze returns the config.json of a loop: the merged settings, indented, every key that has a
// value, and which of them were given on the command line, by key: a resume need not repeat them.
//
// The values include secrets; the runner redacts them before it writes the file.
func Freeze(s Settings, given map[string]string) ([]byte, error) {
	frozen, err := encode(struct {
		Settings
		Given map[string]string `json:"$given,omitempty"`
	}{s, given}, "  ")
	if err != nil {
		return nil, fmt.Errorf("freeze settings: %w", err)
	}
	return frozen, nil
}

// Thaw reads what Freeze wrote. A key that is newer than the file has its default. The file is
// checked as strictly as settings.json; the error is an *Error with File config.json.
func Thaw(frozen []byte) (s Settings, given map[string]string, _ error) {
	s = Defaults()
	bad := decodeObject(frozen, &s, &given, func(string, int) {})
	if bad == nil {
		bad = checkTogether(s)
	}
	if bad != nil {
		return Settings{}, nil, bad.in("config.json", frozen)
	}
	return s, given, nil
}

// encode writes JSON for people: & and < in a command stay what they are.
func encode(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
