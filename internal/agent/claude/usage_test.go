package claude

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// TestUnreadableUsageIsUnknown: what is not readable never counts as nothing. Each row is the
// results of one process.
func TestUnreadableUsageIsUnknown(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	const model = `{"inputTokens":100,"outputTokens":20,"cacheReadInputTokens":50,"cacheCreationInputTokens":5,"costUSD":0.25}`
	read := event.AgentUsed{In: 100, Out: 20, CacheRead: 50, CacheWrite: 5, USD: usd(0.25), Model: "m"}
	plain := event.AgentUsed{In: 100, Out: 20, USD: usd(0.25)}
	for name, row := range map[string]struct {
		results []string
		want    []event.AgentUsed
		unread  int // notices
	}{
		"whole numbers however they are spelled": {[]string{
			`"model_usage_since_last_result":{"m":{"inputTokens":100.0,"outputTokens":2e1,"cacheReadInputTokens":5.0E+1,"cacheCreationInputTokens":5,"costUSD":2.5e-1}}`,
		}, []event.AgentUsed{read}, 0},
		"renamed keys, and the total cost": {[]string{
			`"total_cost_usd":0.25,"usage":{"prompt":100,"completion":20},"modelUsage":{"m":{"prompt":100,"usd":0.25}},"model_usage_since_last_result":{"m":{"prompt":100,"usd":0.25}}`,
		}, []event.AgentUsed{{USD: usd(0.25), Model: "m"}}, 1},
		"renamed keys, and no cost": {[]string{
			`"usage":{"prompt":100},"modelUsage":{"m":{"prompt":100}},"model_usage_since_last_result":{"m":{"prompt":100}}`,
		}, []event.AgentUsed{{}}, 1},
		"renamed by model, but not in the usage": {[]string{
			`"total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":20},"modelUsage":{"m":{"prompt":100}}`,
		}, []event.AgentUsed{plain}, 0},
		"one renamed key of four": {[]string{
			`"total_cost_usd":0.25,"model_usage_since_last_result":{"m":{"inputTokens":100,"completionTokens":20,"costUSD":0.25}}`,
		}, []event.AgentUsed{{In: 100, USD: usd(0.25), Model: "m"}}, 1},
		"empty objects": {[]string{
			`"total_cost_usd":0.25,"usage":{},"modelUsage":{},"model_usage_since_last_result":{}`,
		}, []event.AgentUsed{{USD: usd(0.25)}}, 1},
		"an empty object for a model": {[]string{
			`"total_cost_usd":0.25,"modelUsage":{"m":{}},"model_usage_since_last_result":{"m":{}}`,
		}, []event.AgentUsed{{USD: usd(0.25), Model: "m"}}, 1},
		"empty objects without a cost": {[]string{
			`"usage":{},"modelUsage":{},"model_usage_since_last_result":{}`,
		}, []event.AgentUsed{{}}, 1},
		"texts": {[]string{
			`"total_cost_usd":0.25,"model_usage_since_last_result":{"m":{"inputTokens":"100","outputTokens":20,"costUSD":"0.25"}}`,
		}, []event.AgentUsed{{Out: 20, USD: usd(0.25), Model: "m"}}, 1},
		"negative numbers": {[]string{
			`"total_cost_usd":-1,"model_usage_since_last_result":{"m":{"inputTokens":-100,"outputTokens":20,"costUSD":-0.25}}`,
		}, []event.AgentUsed{{Out: 20, Model: "m"}}, 1},
		"fractions": {[]string{
			`"total_cost_usd":0.25,"usage":{"input_tokens":0.5,"output_tokens":20}`,
		}, []event.AgentUsed{{Out: 20, USD: usd(0.25)}}, 1},
		"more than there can be": {[]string{
			`"total_cost_usd":1e300,"usage":{"input_tokens":9223372036854775807,"output_tokens":20}`,
		}, []event.AgentUsed{{Out: 20}}, 1},
		"a price alone that cannot be read": {[]string{
			`"total_cost_usd":0.25,"model_usage_since_last_result":{"m":{"inputTokens":100,"outputTokens":20,"costUSD":"0.25"}}`,
		}, []event.AgentUsed{{In: 100, Out: 20, USD: usd(0.25), Model: "m"}}, 0},
		"one price of two: the total is of both": {[]string{
			`"total_cost_usd":0.75,"model_usage_since_last_result":{"a":{"inputTokens":1,"outputTokens":2,"costUSD":0.5},"b":{"inputTokens":3,"outputTokens":4}}`,
		}, []event.AgentUsed{{In: 4, Out: 6, USD: usd(0.75)}}, 0},
		"tokens alone that cannot be read: the price can": {[]string{
			`"model_usage_since_last_result":{"m":{"inputTokens":"100","outputTokens":20,"costUSD":0.25}}`,
		}, []event.AgentUsed{{Out: 20, USD: usd(0.25), Model: "m"}}, 1},
		"a guessed price stays a guess": {[]string{
			`"total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":20},"model_usage_since_last_result":{"m":{"inputTokens":"100","costUSD":0.25,"costBasis":"unknown"}}`,
		}, []event.AgentUsed{{In: 100, Out: 20}}, 0},
		"null is a count that is not reported": {[]string{
			`"model_usage_since_last_result":{"m":{"inputTokens":100,"outputTokens":20,"cacheReadInputTokens":null,"costUSD":0.25}}`,
		}, []event.AgentUsed{{In: 100, Out: 20, USD: usd(0.25), Model: "m"}}, 0},
		"totals replace what was used since": {[]string{
			`"total_cost_usd":0.25,"modelUsage":{"m":` + model + `},"model_usage_since_last_result":{"m":{}}`,
		}, []event.AgentUsed{read}, 0},
		"a result between two that can be read is counted once": {[]string{
			`"total_cost_usd":0.25,"modelUsage":{"m":` + model + `},"model_usage_since_last_result":{"m":` + model + `}`,
			`"total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3},"modelUsage":{"m":{"prompt":1}},"model_usage_since_last_result":{"m":{"prompt":1}}`,
			`"total_cost_usd":0.75,"modelUsage":{"m":{"inputTokens":300,"outputTokens":60,"cacheReadInputTokens":150,"cacheCreationInputTokens":15,"costUSD":0.75}},"usage":{"input_tokens":100,"output_tokens":20}`,
			`"total_cost_usd":1,"modelUsage":{"m":{"inputTokens":400,"outputTokens":80,"cacheReadInputTokens":200,"cacheCreationInputTokens":20,"costUSD":1}}`,
		}, []event.AgentUsed{read, {In: 7, Out: 3, USD: usd(0.25)}, plain, read}, 0},
		"a total that cannot be read is made up for by the next": {[]string{
			`"total_cost_usd":"0.25","usage":{"input_tokens":100,"output_tokens":20}`,
			`"total_cost_usd":0.5,"usage":{"input_tokens":100,"output_tokens":20}`,
		}, []event.AgentUsed{{In: 100, Out: 20}, {In: 100, Out: 20, USD: usd(0.5)}}, 0},
		"and is not where the price was known all the same": {[]string{
			`"total_cost_usd":"0.25","model_usage_since_last_result":{"m":` + model + `}`,
			`"total_cost_usd":0.5,"usage":{"input_tokens":100,"output_tokens":20}`,
		}, []event.AgentUsed{read, plain}, 0},
		"nothing reported is unknown, and nothing to notice": {[]string{`"subtype":"success"`}, []event.AgentUsed{{}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := opened()
			var facts []event.Payload
			for _, result := range row.results {
				facts = append(facts, decode(d, `{`+result+`,"type":"result"}`)...)
			}
			if diff := cmp.Diff(row.want, only[event.AgentUsed](facts)); diff != "" {
				t.Error(diff)
			}
			notices := 0
			for _, fact := range only[event.AgentNoticed](facts) {
				if fact.What == event.NoticeUnreadUsage {
					notices++
				}
			}
			if notices != row.unread {
				t.Errorf("%d notices, want %d", notices, row.unread)
			}
		})
	}
}

// Whatever the results of a process leave out, the money that is known is never more than its
// total, and never counted twice.
func TestCostsAddUpToTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		d := opened()
		var total, known, last float64
		var tokens, most int64
		var unknown bool
		var story []string
		for range 1 + r.IntN(5) {
			n := int64(r.IntN(1000))
			cost := float64(r.IntN(1000)) / 1000
			total, most = total+cost, most+2*n
			line := resultWithGaps(r, n, cost, most/2, total)
			facts := decode(d, line)
			story = append(story, line)
			for _, used := range only[event.AgentUsed](facts) {
				tokens += used.In + used.Out
				if used.USD == nil {
					unknown = true
					continue
				}
				known += *used.USD
			}
			last = total
		}
		if known > last+1e-9 || !unknown && known < last-1e-9 {
			t.Fatalf("%g of %g dollars, unknown %t\n%s", known, last, unknown, strings.Join(story, "\n"))
		}
		if tokens > most {
			t.Fatalf("%d of %d tokens\n%s", tokens, most, strings.Join(story, "\n"))
		}
	}
}

// resultWithGaps reports n tokens in and n out, each number in its place or not to be read.
func resultWithGaps(r *rand.Rand, n int64, cost float64, sum int64, total float64) string {
	number := func(v any) string {
		return []string{fmt.Sprint(v), fmt.Sprint(v), fmt.Sprint(v), `"x"`, `-1`, `{}`}[r.IntN(6)]
	}
	key := func(name string) string {
		if r.IntN(8) == 0 {
			return `"renamed"`
		}
		return `"` + name + `"`
	}
	var all []string
	add := func(format string, args ...any) {
		if r.IntN(4) > 0 {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(`%s:%s`, key("total_cost_usd"), number(total))
	add(`"usage":{%s:%s,%s:%s}`, key("input_tokens"), number(n), key("output_tokens"), number(n))
	add(`"modelUsage":{"m":{%s:%s,%s:%s,%s:%s}}`, key("inputTokens"), number(sum), key("outputTokens"), number(sum), key("costUSD"), number(total))
	add(`"model_usage_since_last_result":{"m":{%s:%s,%s:%s,%s:%s}}`, key("inputTokens"), number(n), key("outputTokens"), number(n), key("costUSD"), number(cost))
	return `{` + strings.Join(append(all, `"type":"result"`), ",") + `}`
}

// TestTurnWithoutResultKeepsTokens: the usage in the events of a killed turn counts, at
// a price that is not known.
func TestTurnWithoutResultKeepsTokens(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	const (
		first  = `{"type":"assistant","message":{"id":"a","model":"m","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":100,"output_tokens":1,"cache_read_input_tokens":50}},"parent_tool_use_id":null}`
		second = `{"type":"assistant","message":{"id":"b","model":"m","content":[{"type":"text","text":"y"}],"usage":{"input_tokens":10,"output_tokens":2}},"parent_tool_use_id":null}`
		other  = `{"type":"assistant","message":{"id":"c","model":"n","content":[{"type":"text","text":"z"}],"usage":{"input_tokens":1000,"output_tokens":3}},"parent_tool_use_id":"toolu_1"}`
		result = `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","total_cost_usd":0.5,"usage":{"input_tokens":110,"output_tokens":30}}`
	)
	for name, row := range map[string]struct {
		lines []string
		want  event.AgentUsed // all together
	}{
		"each message counts once, however many lines it has": {[]string{first, first, second, second},
			event.AgentUsed{In: 110, Out: 3, CacheRead: 50}},
		"subagents count": {[]string{first, other, second}, event.AgentUsed{In: 1110, Out: 6, CacheRead: 50}},
		"what is streamed counts once, and its end says more": {[]string{
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","model":"m","usage":{"input_tokens":100,"output_tokens":1,"cache_read_input_tokens":50}}},"parent_tool_use_id":null}`,
			first,
			`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":20}},"parent_tool_use_id":null}`,
			first,
		}, event.AgentUsed{In: 100, Out: 20, CacheRead: 50}},
		"what a result has counted is not lost": {[]string{first, result}, event.AgentUsed{In: 110, Out: 30, CacheRead: 50, USD: usd(0.5)}},
		"what came after it is":                 {[]string{first, result, second}, event.AgentUsed{In: 120, Out: 32, CacheRead: 50}},
		"nothing reported, nothing lost":        {[]string{`{"type":"system","subtype":"init"}`}, event.AgentUsed{USD: usd(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			d := opened()
			facts := decode(d, row.lines...)
			var out agent.Decoded
			d.End(-1, &out)
			if diff := cmp.Diff(row.want, together(only[event.AgentUsed](append(facts, out.Facts...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// together adds usage up as a budget does: a price that has not come is unknown.
func together(facts []event.AgentUsed) event.AgentUsed {
	var all event.AgentUsed
	known, sum := true, 0.0
	for _, u := range facts {
		all.In, all.Out, all.CacheRead, all.CacheWrite = all.In+u.In, all.Out+u.Out, all.CacheRead+u.CacheRead, all.CacheWrite+u.CacheWrite
		all.Unpriced = u.Unpriced
		if u.USD != nil {
			sum += *u.USD
		}
		known = known && (u.USD != nil || u.Unpriced)
	}
	if known && !all.Unpriced {
		all.USD = &sum
	}
	all.Unpriced = false
	return all
}

// TestUsageComesWithEachRequest: limits of one iteration act while it goes on. The sum stays that
// of the result.
func TestUsageComesWithEachRequest(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	const (
		begin    = `{"type":"system","subtype":"init","claude_code_version":"2.1.332"}`
		start    = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"%s","model":"m","usage":{"input_tokens":1000,"output_tokens":1}}},"parent_tool_use_id":%s}`
		block    = `{"type":"assistant","message":{"id":"%s","model":"m","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":1000,"output_tokens":1}},"parent_tool_use_id":%s}`
		delta    = `{"type":"stream_event","event":{"type":"message_delta","usage":{"input_tokens":1000,"output_tokens":20}},"parent_tool_use_id":%[2]s}`
		returned = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%s","content":"x"}]},"parent_tool_use_id":%s}`
		answer   = `{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"session":{"total_cost_usd":%[2]s,"model_usage":{"m[1m]":{"inputTokens":%[3]d,"outputTokens":%[4]d,"costUSD":%[2]s}}}}}}`
		refusal  = `{"type":"control_response","response":{"subtype":"error","request_id":"%s","error":"Unsupported control request subtype: get_usage"}}`
		result   = `{"type":"result","subtype":"success","terminal_reason":"completed","model_usage_since_last_result":{"m[1m]":{"inputTokens":2000,"outputTokens":40,"costUSD":0.02}}}`
	)
	line := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
	request := func(id, parent string) []string {
		return []string{line(start, id, parent), line(block, id, parent), line(delta, id, parent)}
	}
	hidden := func(id, parent string) []string { return []string{line(block, id, parent), line(returned, id, parent)} }
	all := event.AgentUsed{In: 2000, Out: 40, USD: usd(0.02)}
	for name, row := range map[string]struct {
		lines []string
		asked int
		early event.AgentUsed // before the result
		whole event.AgentUsed
	}{
		"each message says what it used": {slices.Concat(request("a", "null"), request("b", "null")),
			0, event.AgentUsed{In: 2000, Out: 40}, all},
		"a subagent's too": {slices.Concat(request("a", "null"), request("b", `"toolu_1"`)),
			0, event.AgentUsed{In: 2000, Out: 40}, all},
		"Claude knows the price": {slices.Concat([]string{begin}, request("a", "null"), []string{line(answer, "ralph-1", "0.01", 1000, 20)}),
			1, event.AgentUsed{In: 1000, Out: 20, USD: usd(0.01)}, all},
		"and what a subagent used that is not streamed": {
			slices.Concat([]string{begin}, hidden("b", `"toolu_1"`), []string{line(answer, "ralph-1", "0.01", 1000, 20)}),
			1, event.AgentUsed{In: 1000, Out: 20, USD: usd(0.01)}, all},
		"what came after the question has no price yet": {
			slices.Concat([]string{begin}, request("a", "null"), request("b", "null"), []string{line(answer, "ralph-1", "0.01", 1000, 20)}),
			2, event.AgentUsed{In: 2000, Out: 40}, all},
		"who refuses is not asked again": {
			slices.Concat([]string{begin}, request("a", "null"), []string{line(refusal, "ralph-1")}, request("b", "null")),
			1, event.AgentUsed{In: 2000, Out: 40}, all},
	} {
		t.Run(name, func(t *testing.T) {
			d := opened()
			var facts []event.Payload
			asked := 0
			hear := func(line string) {
				var out agent.Decoded
				d.Decode([]byte(line), agent.Stdout, &out)
				facts, asked = append(facts, out.Facts...), asked+len(out.Reply)
			}
			for _, line := range row.lines {
				hear(line)
			}
			if diff := cmp.Diff(row.early, together(only[event.AgentUsed](facts))); diff != "" {
				t.Errorf("before the result: %s", diff)
			}
			hear(result)
			if diff := cmp.Diff(row.whole, together(only[event.AgentUsed](facts))); diff != "" {
				t.Errorf("with the result: %s", diff)
			}
			if asked != row.asked {
				t.Errorf("asked %d times, want %d", asked, row.asked)
			}
		})
	}
}

// TestEarlierSessionIsNotCounted: the totals of a session that is continued begin at what it had
// used before.
func TestEarlierSessionIsNotCounted(t *testing.T) {
	usd := func(x float64) *float64 { return &x }
	d := New(nil)
	if _, err := d.Command(agent.Spec{Command: []string{"claude"}, Resume: "s"}); err != nil {
		t.Fatal(err)
	}
	d.Open(agent.Prompt{Text: "go", Iteration: 1})
	totals := func(id, cost string, in int) string {
		return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"session":{"total_cost_usd":%[2]s,"model_usage":{"m":{"inputTokens":%[3]d,"outputTokens":7,"costUSD":%[2]s}}}}}}`, id, cost, in)
	}
	facts := decode(d,
		`{"type":"system","subtype":"init","claude_code_version":"2.1.332"}`, totals("ralph-1", "1.5", 9000),
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","model":"m","usage":{"input_tokens":1000,"output_tokens":0}}},"parent_tool_use_id":null}`,
		`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":0}},"parent_tool_use_id":null}`,
		totals("ralph-2", "2", 10000),
	)
	if diff := cmp.Diff(event.AgentUsed{In: 1000, USD: usd(0.5)}, together(only[event.AgentUsed](facts))); diff != "" {
		t.Error(diff)
	}
}
