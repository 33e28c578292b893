package agent_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

func TestUnreadableCountsAreUnknown(t *testing.T) {
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

func TestUsageReadByTotal(t *testing.T) {
	tests := []struct {
		name, usage string
		want        agent.Usage
	}{
		{"opencode: cache and thinking apart", `{"inputTokens":400,"outputTokens":40,"totalTokens":1050,"thoughtTokens":10,"cachedReadTokens":600}`, agent.Usage{In: 400, Out: 50, CacheRead: 600, Complete: true}},
		{"Copilot: both within", `{"inputTokens":2000,"outputTokens":100,"totalTokens":2100,"thoughtTokens":20,"cachedReadTokens":1200,"cachedWriteTokens":0}`, agent.Usage{In: 800, Out: 100, CacheRead: 1200, Complete: true}},
		{"Codex: cache apart, thinking within", `{"totalTokens":2100,"inputTokens":800,"cachedReadTokens":1200,"outputTokens":100,"thoughtTokens":20}`, agent.Usage{In: 800, Out: 100, CacheRead: 1200, Complete: true}},
		{"no total: cache is taken as apart", `{"inputTokens":10,"outputTokens":5,"cachedReadTokens":3}`, agent.Usage{In: 10, Out: 5, CacheRead: 3, Complete: true}},
		{"negative", `{"inputTokens":-10,"outputTokens":1e99,"totalTokens":-10}`, agent.Usage{}},
		{"integers in any spelling", `{"inputTokens":10.0,"outputTokens":5e0,"cachedReadTokens":null}`, agent.Usage{In: 10, Out: 5, Complete: true}},
		{"renamed", `{"prompt":10,"outputTokens":5}`, agent.Usage{Out: 5}},
		{"texts", `{"inputTokens":"10","outputTokens":5}`, agent.Usage{Out: 5}},
		{"nothing in it", `{}`, agent.Usage{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := agent.ReadUsage(read(t, test.usage)).SplitByTotal()
			got.Thought, got.Total = 0, 0
			if got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
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
