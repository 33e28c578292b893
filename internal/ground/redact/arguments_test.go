package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for line, want := range map[string][]string{
		"agent --api-key abc -m x":        {"API_KEY=abc"},
		"agent --api-key=abc":             {"API_KEY=abc"},
		"agent -token abc --apiKey=d=e":   {"TOKEN=abc", "API_KEY=d=e"},
		"API_TOKEN=abc agent":             {"API_TOKEN=abc"},
		"agent --api-key":                 nil,
		"agent --max-tokens 5 --key-file": nil,
		"agent token abc":                 nil,
	} {
		if got := Arguments(strings.Fields(line)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
