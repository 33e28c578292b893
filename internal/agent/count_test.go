package agent_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
)

func TestCountsThatCannotBeReadAreUnknown(t *testing.T) {
	for text, want := range map[string]int64{
		`0`: 0, `100`: 100, `100.0`: 100, `1e2`: 100, `1.5E+1`: 15, `-0`: 0, `1125899906842624`: 1 << 50,
		`-1`: -1, `-1e2`: -1, `0.5`: -1, `1e-1`: -1, `"100"`: -1, `null`: -1, `true`: -1, `{}`: -1, `[1]`: -1,
		`1125899906842625`: -1, `9223372036854775808`: -1, `1e999`: -1,
	} {
		value := read(t, text)
		n, ok := agent.Tokens(value)
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%s is %d, %t", text, n, ok)
		}
	}
	if _, ok := agent.Tokens(jsonscan.Value{}); ok {
		t.Error("nothing is a count")
	}
	for text, want := range map[string]bool{
		`0`: true, `0.25`: true, `-0.25`: false, `null`: false, `{}`: false, `1e9`: true, `1.1e9`: false, `1e308`: false, `"0.25"`: false,
	} {
		if _, ok := agent.Dollars(read(t, text)); ok != want {
			t.Errorf("%s dollars: %t", text, ok)
		}
	}
}

func read(t *testing.T, text string) jsonscan.Value {
	t.Helper()
	value, err := jsonscan.NewDocument().Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
