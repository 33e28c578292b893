package config

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Freeze returns the config.json of a loop: the merged settings, indented, every key that has a value.
//
// The values of agent.env are kept as they are, secrets among them: the loop must be able to start its agent again after a
// crash, when the environment it was started from is gone. The caller writes the file with mode 0600 into a folder with 0700;
// nobody may copy it into the journal.
func Freeze(s Settings) ([]byte, error) {
	frozen, err := encode(s, "  ")
	if err != nil {
		return nil, fmt.Errorf("freeze settings: %w", err)
	}
	return frozen, nil
}

// Thaw reads what Freeze wrote. A key that the file lacks, since it is younger than the file, has its default. The file is
// checked as strictly as settings.json; the error is an *Error with File config.json.
func Thaw(frozen []byte) (Settings, error) {
	s := Defaults()
	err, at := decodeObject(frozen, &s, nil)
	if err == nil {
		err, at = checkTogether(s), 0
	}
	if err != nil {
		err.File = "config.json"
		err.Line, err.Column = locate(frozen, at)
		return Settings{}, err
	}
	return s, nil
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
