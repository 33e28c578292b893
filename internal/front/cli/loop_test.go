package cli

import (
	"slices"
	"testing"
)

func TestWrapped(t *testing.T) {
	for _, tt := range []struct {
		line string
		room int
		want []string
	}{
		{"as it is without a terminal", -1, []string{"as it is without a terminal"}},
		{"rate limit until 04:52, says the agent", 20, []string{"rate limit until", "04:52, says the", "agent"}},
		{"in /a/path/that/is/longer/than/that forever", 20, []string{"in", "/a/path/that/is/longer/than/that", "forever"}},
		{"値段の 値段の 値段の 値段の", 20, []string{"値段の 値段の 値段の", "値段の"}},
		{"no room is room for some", 3, []string{"no room is room for", "some"}},
		{"", 20, []string{""}},
	} {
		if got := Wrapped(tt.line, tt.room); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d columns: %q", tt.line, tt.room, got)
		}
	}
}
