package claude

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// decode feeds lines to a dialect and returns all facts.
func decode(d *Dialect, lines ...string) []event.Payload {
	var facts []event.Payload
	for _, line := range lines {
		var out agent.Decoded
		d.Decode([]byte(line), agent.Stdout, &out)
		facts = append(facts, out.Facts...)
	}
	return facts
}

func only[P event.Payload](facts []event.Payload) []P {
	var found []P
	for _, fact := range facts {
		if p, ok := fact.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

func opened() *Dialect {
	d := New(nil)
	d.Open(agent.Prompt{Text: "x", Iteration: 1})
	return d
}

// TestOutcomes is the table of how results are to be read.
func TestOutcomes(t *testing.T) {
	tests := []struct {
		name   string
		before string // a line that came before the result
		result string
		want   event.AgentFinished
	}{
		{"a completed turn", "",
			`"subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"Hello"`,
			event.AgentFinished{Outcome: "ok"}},
		{"a version without a reason says it by is_error alone", "",
			`"subtype":"success","is_error":false,"num_turns":1,"result":"Hello"`,
			event.AgentFinished{Outcome: "ok"}},
		{"2.1.197 calls a failure of the API completed", "",
			`"subtype":"success","is_error":true,"terminal_reason":"completed","api_error_status":529,"result":"Overloaded"`,
			event.AgentFinished{Outcome: "error", Error: "Overloaded", Kind: "overload"}},
		{"a safeguard stopped the answer, twice", "",
			`"stop_reason":"refusal","safety_stops":2,"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"API Error: safeguards flagged this message"`,
			event.AgentFinished{Outcome: "error", Error: "API Error: safeguards flagged this message", Kind: "refusal"}},
		{"only the assistant's message says that it was refused",
			`{"type":"assistant","error":"invalid_request","is_api_error_message":true,"message":{"id":"x","stop_reason":"refusal","content":[{"type":"text","text":"flagged"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"flagged"`,
			event.AgentFinished{Outcome: "error", Error: "flagged", Kind: "refusal"}},
		{"a refusal that calls itself a success", "",
			`"stop_reason":"refusal","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"half"`,
			event.AgentFinished{Outcome: "error", Error: "refusal", Kind: "refusal"}},
		{"a part that refuses",
			`{"type":"assistant","message":{"id":"x","content":[{"type":"refusal","refusal":"I cannot help with that."}]},"parent_tool_use_id":null}`,
			`"stop_reason":"end_turn","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":""`,
			event.AgentFinished{Outcome: "error", Error: "I cannot help with that.", Kind: "refusal"}},
		{"not authenticated", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"api_error_type":"authentication_error","result":"401"`,
			event.AgentFinished{Outcome: "error", Error: "401", Kind: "auth"}},
		{"not logged in has no status, and only the assistant's error says what it is",
			`{"type":"assistant","error":"authentication_failed","is_api_error_message":true,"message":{"id":"x","content":[{"type":"text","text":"Not logged in"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"Not logged in"`,
			event.AgentFinished{Outcome: "error", Error: "Not logged in", Kind: "auth"}},
		{"forbidden", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":403,"result":"403"`,
			event.AgentFinished{Outcome: "error", Error: "403", Kind: "auth"}},
		{"rate limit", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"api_error_type":"rate_limit_error","result":"429"`,
			event.AgentFinished{Outcome: "error", Error: "429", Kind: "rate"}},
		{"a subscription's limit", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"api_error":"usage_limit_reached","result":"5-hour limit"`,
			event.AgentFinished{Outcome: "error", Error: "5-hour limit", Kind: "rate"}},
		{"no money", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":402,"result":"402"`,
			event.AgentFinished{Outcome: "error", Error: "402", Kind: "quota"}},
		{"an error of the server", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":500,"result":"500"`,
			event.AgentFinished{Outcome: "error", Error: "500", Kind: "overload"}},
		{"no connection", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error":"connection_failed","api_error_status":null,"result":"ECONNRESET"`,
			event.AgentFinished{Outcome: "error", Error: "ECONNRESET", Kind: "network"}},
		{"a timeout has no status either",
			`{"type":"assistant","error":"server_error","message":{"content":[{"type":"text","text":"Request timed out"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"Request timed out"`,
			event.AgentFinished{Outcome: "error", Error: "Request timed out", Kind: "network"}},
		{"an answer that ran into the limit of output, again and again",
			`{"type":"assistant","error":"max_output_tokens","is_api_error_message":true,"message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"completed","result":"exceeded the 128000 output token maximum"`,
			event.AgentFinished{Outcome: "length", Error: "exceeded the 128000 output token maximum", Kind: "other"}},
		{"an answer that filled the context goes by the same name",
			`{"type":"assistant","error":"max_output_tokens","api_error_params":{"cut":"context_window"},"message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"completed","result":"context window limit"`,
			event.AgentFinished{Outcome: "length", Error: "context window limit", Kind: "context"}},
		{"an account that is on hold",
			`{"type":"assistant","error":"account_on_hold","message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"on hold"`,
			event.AgentFinished{Outcome: "error", Error: "on hold", Kind: "auth"}},
		{"an account that has to be verified",
			`{"type":"assistant","error":"verification_required","message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"verify"`,
			event.AgentFinished{Outcome: "error", Error: "verify", Kind: "auth"}},
		{"a cloud that does not take the login",
			`{"type":"assistant","error":"cloud_credential_error","message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"aws sso login"`,
			event.AgentFinished{Outcome: "error", Error: "aws sso login", Kind: "auth"}},
		{"a bad request", "",
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"400"`,
			event.AgentFinished{Outcome: "error", Error: "400", Kind: "other"}},
		{"a subagent's failure is not the turn's",
			`{"type":"assistant","error":"rate_limit","parent_tool_use_id":"toolu_1","message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"error_during_execution","is_error":true,"errors":["boom"]`,
			event.AgentFinished{Outcome: "error", Error: "boom", Kind: "other"}},
		{"the prompt is too long", "",
			`"subtype":"success","is_error":true,"terminal_reason":"prompt_too_long","api_error_status":400,"result":"Prompt is too long"`,
			event.AgentFinished{Outcome: "length", Error: "Prompt is too long", Kind: "context"}},
		{"a request of too many bytes, which 2.1.329 blames on its images", "",
			`"subtype":"success","is_error":true,"terminal_reason":"image_error","api_error_status":413,"api_error_type":"request_too_large","result":"Request too large"`,
			event.AgentFinished{Outcome: "length", Error: "Request too large", Kind: "context"}},
		{"a full context that may not be compacted", "",
			`"subtype":"success","is_error":true,"terminal_reason":"blocking_limit","result":"Prompt is too long"`,
			event.AgentFinished{Outcome: "length", Error: "Prompt is too long", Kind: "context"}},
		{"a spent balance has the status of a bad request, and only the assistant's error says what it is",
			`{"type":"assistant","error":"billing_error","is_api_error_message":true,"api_error_status":400,"api_error_type":"invalid_request_error","message":{"content":[{"type":"text","text":"x"}]}}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"api_error_type":"invalid_request_error","result":"Credit balance is too low"`,
			event.AgentFinished{Outcome: "error", Error: "Credit balance is too low", Kind: "quota"}},
		{"an error that the assistant got over is not this one's",
			`{"type":"assistant","error":"billing_error","message":{"content":[]}}
			{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"on I go"}]},"parent_tool_use_id":null}`,
			`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"400"`,
			event.AgentFinished{Outcome: "error", Error: "400", Kind: "other"}},
		{"words of a tool, of the agent and of a person name nothing",
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"{\"api_error_status\":429,\"error\":\"rate_limit\"}"}]}}
			{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"API Error: 429 rate_limit usage_limit_reached"}]},"parent_tool_use_id":null}`,
			`"subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"API Error: 429 rate_limit usage_limit_reached"`,
			event.AgentFinished{Outcome: "ok"}},
		{"max turns", "",
			`"subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","errors":["Reached maximum number of turns (2)"]`,
			event.AgentFinished{Outcome: "length", Error: "Reached maximum number of turns (2)", Kind: "other"}},
		{"max budget", "",
			`"subtype":"error_max_budget_usd","is_error":true,"terminal_reason":"budget_exhausted","errors":["Reached maximum budget ($0.3)"]`,
			event.AgentFinished{Outcome: "error", Error: "Reached maximum budget ($0.3)", Kind: "other"}},
		{"interrupted in a tool", "",
			`"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic]"]`,
			event.AgentFinished{Outcome: "aborted"}},
		{"interrupted while it wrote", "",
			`"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"`,
			event.AgentFinished{Outcome: "aborted"}},
		{"cut off by a message that was to be read now", "",
			`"subtype":"success","is_error":false,"terminal_reason":"aborted_streaming","result":"half"`,
			event.AgentFinished{Outcome: "aborted"}},
		{"stopped by a hook", "",
			`"subtype":"success","is_error":false,"terminal_reason":"hook_stopped","result":"","num_turns":2`,
			event.AgentFinished{Outcome: "error", Error: "hook_stopped", Kind: "other"}},
		{"a stop that a hook prevented", "",
			`"subtype":"success","is_error":false,"terminal_reason":"stop_hook_prevented","result":"","num_turns":2`,
			event.AgentFinished{Outcome: "error", Error: "stop_hook_prevented", Kind: "other"}},
		{"a prompt that a hook blocked", "",
			`"subtype":"success","is_error":false,"num_turns":0,"result":""`,
			event.AgentFinished{Outcome: "error", Error: "the prompt was blocked, and the model was not asked", Kind: "other"}},
		{"a command of Claude's own asks no model", "",
			`"subtype":"success","is_error":false,"num_turns":0,"result":"","local_command":"compact"`,
			event.AgentFinished{Outcome: "ok"}},
		{"a deferred tool", "",
			`"subtype":"success","is_error":false,"terminal_reason":"tool_deferred","result":"","num_turns":1`,
			event.AgentFinished{Outcome: "error", Error: "tool_deferred", Kind: "other"}},
		{"an unknown reason is a failure", "",
			`"subtype":"success","is_error":false,"terminal_reason":"moon_phase","result":"x","num_turns":1`,
			event.AgentFinished{Outcome: "error", Error: "moon_phase", Kind: "other"}},
		{"an unknown subtype is a failure", "",
			`"subtype":"error_sunspots"`,
			event.AgentFinished{Outcome: "error", Error: "error_sunspots", Kind: "other"}},
		{"nothing at all is a failure", "", `"x":1`,
			event.AgentFinished{Outcome: "error", Kind: "other"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := opened()
			if test.before != "" {
				decode(d, strings.Split(test.before, "\n")...)
			}
			facts := decode(d, `{`+test.result+`,"type":"result"}`)
			got := only[event.AgentFinished](facts)
			if len(got) != 1 || got[0] != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			limited := only[event.AgentLimited](facts)
			if wanted := !slices.Contains([]event.FaultKind{"", event.KindOther, event.KindContext, event.KindRefusal}, test.want.Kind); len(limited) == 1 != wanted ||
				wanted && (limited[0].Kind != test.want.Kind || limited[0].Text != test.want.Error) {
				t.Errorf("limited: %+v", limited)
			}
		})
	}
}

// TestLimits: when the agent may continue.
func TestLimits(t *testing.T) {
	const rejected = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795229108,"rateLimitType":"five_hour"%s}}`
	const failed = `{"type":"assistant","error":"rate_limit","api_error_status":429,"api_error_params":{"rate_limit_info":{"resetsAt":1795229108}},"message":{"content":[]}}`
	const result = `{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"limit","type":"result"}`
	const goesOn = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"on"}]},"parent_tool_use_id":null}`
	tests := []struct {
		name  string
		lines []string
		want  []event.AgentLimited
	}{
		{"a rejected event says it once, with its reset", []string{strings.Replace(rejected, "%s", "", 1), failed, result},
			[]event.AgentLimited{{Kind: "rate", Until: "2026-11-21T02:45:08Z", Text: "five_hour"}}},
		{"without the event the error's own parameters say it", []string{failed, result},
			[]event.AgentLimited{{Kind: "rate", Until: "2026-11-21T02:45:08Z", Text: "limit"}}},
		{"usage beyond the limit is paid for", []string{strings.Replace(rejected, "%s", `,"isUsingOverage":true`, 1)}, nil},
		{"what was reported and then forgotten is reported again at the end", []string{strings.Replace(rejected, "%s", "", 1), goesOn, failed, result},
			[]event.AgentLimited{{Kind: "rate", Until: "2026-11-21T02:45:08Z", Text: "five_hour"}, {Kind: "rate", Until: "2026-11-21T02:45:08Z", Text: "limit"}}},
		{"the end of a limit that was got over is not that of the next", []string{strings.Replace(rejected, "%s", "", 1), goesOn, result},
			[]event.AgentLimited{{Kind: "rate", Until: "2026-11-21T02:45:08Z", Text: "five_hour"}, {Kind: "rate", Text: "limit"}}},
		{"a warning limits nothing", []string{strings.Replace(rejected, "rejected", "allowed_warning", 1)}, nil},
		{"a reset out of range is none", []string{`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":99999999999999}}`},
			[]event.AgentLimited{{Kind: "rate"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := only[event.AgentLimited](decode(opened(), test.lines...))
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// TestCaptureCosts: what each captured conversation cost, added up from its results. All
// used one model, whose prices per million are 5, 25 and 0.2 dollars for input, output and cache
// reads of 2.1.197, and what 2.1.329 said.
func TestCaptureCosts(t *testing.T) {
	tests := []struct {
		capture            string
		results            int
		in, out, cacheRead int64
		usd                float64
	}{
		{"simple-text", 1, 100, 20, 50, 0.00081},
		{"multi-turn", 2, 200, 40, 100, 0.00162},
		{"steered-during-tool", 1, 300, 60, 150, 0.00243},
		{"steer-priority-now-text", 2, 200, 33, 100, 0.00148}, // 0.00067 of it for what was cut off
		{"said/steer-in-tool-v329", 1, 200, 40, 100, 0.00162},
		{"said/steer-in-text-v329", 2, 200, 40, 100, 0.00162},
		{"said/steer-in-tool-v197", 1, 200, 40, 100, 0.00205}, // totals alone, for one result
		{"said/steer-in-text-v197", 2, 200, 40, 100, 0.00205}, // and for two
		{"subagent", 2, 500, 100, 250, 0.00405},               // the second result adds nothing
		{"error-401", 1, 0, 0, 0, 0},
		{"max-budget", 1, 60000, 6000, 150, 0.36003},
		{"aborted-sigterm", 0, 100, 1, 50, 0}, // the price never came
	}
	for _, test := range tests {
		t.Run(test.capture, func(t *testing.T) {
			var facts []event.Payload
			r := newReplay(t)
			r.seen = func(_ int, _ []byte, out *agent.Decoded) { facts = append(facts, out.Facts...) }
			path := "testdata/" + test.capture + ".jsonl"
			r.run(filepath.Base(test.capture), readSaid(t, path))
			used := only[event.AgentUsed](facts)
			results, unpriced := 0, false
			var in, out, cacheRead int64
			var usd float64
			for _, u := range used {
				in, out, cacheRead = in+u.In, out+u.Out, cacheRead+u.CacheRead
				if unpriced = u.Unpriced; unpriced {
					continue // of a message
				}
				if u.USD == nil {
					t.Fatal("the cost is unknown")
				}
				results++
				usd += *u.USD
			}
			if results != test.results || in != test.in || out != test.out || cacheRead != test.cacheRead || math.Abs(usd-test.usd) > 1e-12 {
				t.Errorf("%d results, %d in, %d out, %d from cache, %g USD; want %+v", results, in, out, cacheRead, usd, test)
			}
		})
	}
}

// TestCosts: where the increment comes from, and when it is unknown.
func TestCosts(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	tests := []struct {
		name    string
		results []string
		want    []event.AgentUsed
	}{
		{"totals become increments, model by model", []string{
			`"modelUsage":{"a":{"inputTokens":10,"outputTokens":0,"costUSD":1},"b":{"inputTokens":5,"outputTokens":0,"costUSD":0.5}}`,
			`"modelUsage":{"a":{"inputTokens":30,"outputTokens":0,"costUSD":3},"b":{"inputTokens":5,"outputTokens":0,"costUSD":0.5}}`,
		}, []event.AgentUsed{{In: 10, USD: usd(1), Model: "a"}, {In: 5, USD: usd(0.5), Model: "b"}, {In: 20, USD: usd(2), Model: "a"}}},
		{"what was used since the last result is better than the totals", []string{
			`"modelUsage":{"a":{"inputTokens":30,"outputTokens":0,"costUSD":3}},"model_usage_since_last_result":{"a":{"inputTokens":7,"outputTokens":1,"cacheReadInputTokens":2,"cacheCreationInputTokens":3,"costUSD":0.25}}`,
		}, []event.AgentUsed{{In: 7, Out: 1, CacheRead: 2, CacheWrite: 3, USD: usd(0.25), Model: "a"}}},
		{"of an unknown model the tokens are known and the price is a guess", []string{
			`"model_usage_since_last_result":{"x":{"inputTokens":7,"outputTokens":0,"costUSD":0.25,"costBasis":"unknown"}}`,
		}, []event.AgentUsed{{In: 7, Model: "x"}}},
		{"without models the result's usage and the total cost count", []string{
			`"total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}`,
			`"total_cost_usd":0.75,"usage":{"input_tokens":5,"output_tokens":0}`,
		}, []event.AgentUsed{{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, USD: usd(0.5)}, {In: 5, USD: usd(0.25)}}},
		{"a total that shrank began again", []string{
			`"modelUsage":{"a":{"inputTokens":10,"outputTokens":0,"costUSD":1}}`, `"modelUsage":{"a":{"inputTokens":4,"outputTokens":0,"costUSD":0.5}}`,
		}, []event.AgentUsed{{In: 10, USD: usd(1), Model: "a"}, {In: 4, USD: usd(0.5), Model: "a"}}},
		{"a repeated result counts nothing", []string{
			`"uuid":"a","model_usage_since_last_result":{"a":{"inputTokens":7,"outputTokens":0,"costUSD":0.25}}`, `"uuid":"a","model_usage_since_last_result":{"a":{"inputTokens":7,"outputTokens":0,"costUSD":0.25}}`,
			`"uuid":"b","model_usage_since_last_result":{"a":{"inputTokens":7,"outputTokens":0,"costUSD":0.25}}`,
		}, []event.AgentUsed{{In: 7, USD: usd(0.25), Model: "a"}, {In: 7, USD: usd(0.25), Model: "a"}}},
		{"repeated totals count nothing", []string{
			`"uuid":"a","modelUsage":{"a":{"inputTokens":10,"outputTokens":0,"costUSD":1}}`, `"uuid":"b","modelUsage":{"a":{"inputTokens":10,"outputTokens":0,"costUSD":1}}`,
		}, []event.AgentUsed{{In: 10, USD: usd(1), Model: "a"}, {USD: usd(0)}}},
		{"nothing said is unknown, not free", []string{`"subtype":"success"`}, []event.AgentUsed{{}}},
		{"nothing used is free", []string{`"total_cost_usd":0,"modelUsage":{},"model_usage_since_last_result":{}`}, []event.AgentUsed{{USD: usd(0)}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := opened()
			var got []event.AgentUsed
			for _, result := range test.results {
				got = append(got, only[event.AgentUsed](decode(d, `{`+result+`,"type":"result"}`))...)
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %+v, want %+v", got, test.want)
			}
			for i, want := range test.want {
				a, b := string(event.AppendData(nil, got[i])), string(event.AppendData(nil, want))
				if a != b {
					t.Errorf("got  %s\nwant %s", a, b)
				}
			}
		})
	}
}

// Claude's totals continue across --resume: the first result of the new process holds what was paid
// for before.
func TestResumedSessionCountsNewCosts(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	const sum = `"total_cost_usd":5,"usage":{"input_tokens":7,"output_tokens":2}`
	for name, row := range map[string]struct {
		flags   []string
		results []string
		want    []event.AgentUsed
	}{
		"what was used since is known": {[]string{"--resume", "id"}, []string{
			sum + `,"modelUsage":{"a":{"inputTokens":1000,"outputTokens":0,"costUSD":5}},"model_usage_since_last_result":{"a":{"inputTokens":7,"outputTokens":0,"costUSD":0.25}}`,
		}, []event.AgentUsed{{In: 7, USD: usd(0.25), Model: "a"}}},
		"else the first cost is not, and the second is": {[]string{"--resume=id"}, []string{
			sum + `,"modelUsage":{"a":{"inputTokens":1000,"outputTokens":0,"costUSD":5}}`, `"total_cost_usd":5.5,"modelUsage":{"a":{"inputTokens":1010,"outputTokens":0,"costUSD":5.5}}`,
		}, []event.AgentUsed{{In: 7, Out: 2}, {In: 10, USD: usd(0.5), Model: "a"}}},
		"also without models": {[]string{"--continue"}, []string{sum, `"total_cost_usd":5.5,"usage":{"input_tokens":1,"output_tokens":0}`},
			[]event.AgentUsed{{In: 7, Out: 2}, {In: 1, USD: usd(0.5)}}},
		"nor is what a turn without tokens cost": {[]string{"-c"}, []string{`"total_cost_usd":5,"usage":{}`}, []event.AgentUsed{{}}},
		"a new session begins with nothing":      {[]string{"--session-id", "id"}, []string{sum}, []event.AgentUsed{{In: 7, Out: 2, USD: usd(5)}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(nil)
			if _, err := d.Command(agent.Spec{Command: []string{"claude"}, Flags: row.flags}); err != nil {
				t.Fatal(err)
			}
			d.Open(agent.Prompt{Text: "go", Iteration: 1})
			var got []event.AgentUsed
			for _, result := range row.results {
				got = append(got, only[event.AgentUsed](decode(d, `{`+result+`,"type":"result"}`))...)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Amp reports what each message used, and its documentation has the sum of them in the result.
func TestRepeatedSumCountsNothing(t *testing.T) {
	d := NewAmp()
	if _, err := d.Command(agent.Spec{Command: []string{"amp"}, Prompt: "go"}); err != nil {
		t.Fatal(err)
	}
	d.Open(agent.Prompt{Text: "go", Iteration: 1})
	var got []event.AgentUsed
	for _, line := range []string{
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":10,"output_tokens":1}}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"b"}],"usage":{"input_tokens":20,"output_tokens":2}}}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"b","usage":{"input_tokens":30,"output_tokens":3}}`,
	} {
		got = append(got, only[event.AgentUsed](decode(d, line))...)
	}
	if diff := cmp.Diff([]event.AgentUsed{{In: 10, Out: 1}, {In: 20, Out: 2}}, got); diff != "" {
		t.Error(diff)
	}
}

// Qwen Code reports what each message used as well; only the turn's result counts.
func TestQwenResultCounts(t *testing.T) {
	d := NewQwen()
	if _, err := d.Command(agent.Spec{Command: []string{"qwen"}}); err != nil {
		t.Fatal(err)
	}
	d.Open(agent.Prompt{Text: "go", Iteration: 1})
	var got []event.AgentUsed
	for _, line := range []string{
		`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1000,"output_tokens":50}}}`,
		`{"type":"result","subtype":"success","uuid":"u","is_error":false,"result":"a","usage":{"input_tokens":1000,"output_tokens":50,"cache_read_input_tokens":600,"total_tokens":1050}}`,
		`{"type":"result","subtype":"success","uuid":"u","is_error":false,"result":"a","usage":{"input_tokens":1000,"output_tokens":50,"cache_read_input_tokens":600,"total_tokens":1050}}`,
	} {
		got = append(got, only[event.AgentUsed](decode(d, line))...)
	}
	if diff := cmp.Diff([]event.AgentUsed{{In: 400, Out: 50, CacheRead: 600}}, got); diff != "" {
		t.Error(diff)
	}
}
