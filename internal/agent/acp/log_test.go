package acp

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// streamError is what opencode 1.18.33 logs when a request fails.
const streamError = `timestamp=2026-11-21T21:54:06.671Z level=ERROR run=ef850feb message="stream error" providerID=fake modelID=scripted session.id=s1 small=false agent=build mode=primary error.error="AI_APICallError: `

func TestLoggedFailures(t *testing.T) {
	const gemini = "[2026-11-21T22:04:10.841Z] "
	tests := []struct {
		name, program string
		lines         []string
		want          string // the facts, divided by ", "
	}{
		{"a rate limit", "opencode", []string{streamError + `Rate limit reached for requests"`}, "limited rate, retried 1 0 rate"},
		{
			"a server that is full, twice", "opencode",
			[]string{streamError + `Overloaded"`, streamError + `Overloaded"`},
			"limited overload, retried 1 0 overload, retried 2 0 overload",
		},
		{"a connection that was cut", "opencode", []string{streamError + `Cannot connect to API: The socket connection was closed unexpectedly."`}, "limited network, retried 1 0 network"},
		{"an account that has nothing left", "opencode", []string{streamError + `You exceeded your current quota"`}, "limited quota, retried 1 0 quota"},
		{"an unknown fault, until it is tried again", "opencode", []string{streamError + `Provider returned error"`, streamError + `Provider returned error"`}, "limited overload, retried 2 0 overload"},
		{"a login is not tried again", "opencode", []string{streamError + `Incorrect API key provided"`}, ""},
		{"the sixth failure is the last", "opencode", slicesOf(6, streamError+`Overloaded"`), "limited overload, retried 1 0 overload, retried 2 0 overload, retried 3 0 overload, retried 4 0 overload, retried 5 0 overload"},
		{"the title of a session may fail", "opencode", []string{strings.Replace(streamError, "small=false", "small=true", 1) + `Overloaded"`}, "agent.unparsed"},
		{"another error", "opencode", []string{`timestamp=x level=ERROR message=process error="429 Too Many Requests"`}, "agent.unparsed"},
		{"words that hold such a line", "opencode", []string{`timestamp=x level=ERROR message=process error="message=\"stream error\" small=false error.error=\"429\""`}, "agent.unparsed"},
		{"words before such a line", "opencode", []string{`the tool said: ` + streamError + `429 Too Many Requests"`}, "agent.unparsed"},

		{
			"a status", "gemini",
			[]string{gemini + `[WARN] Attempt 2 failed with status 503. Retrying with backoff... _ApiError: {"error":{"code":503,"message":"down","status":"UNAVAILABLE"}}`, "    at throwErrorIfNotOK (file:///chunk.js:1:2)", "  status: 503", "}"},
			"limited overload, retried 2 0 overload",
		},
		{"a network that is down", "gemini", []string{gemini + `[WARN] Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request`}, "limited network, retried 1 0 network"},
		{"a wait that is stated", "gemini", []string{gemini + `[WARN] Attempt 1 failed: Too fast. Retrying after 5320ms...`}, "limited rate, retried 1 5320 rate"},
		{
			"a wait that is stated on the next line", "gemini",
			[]string{gemini + `[WARN] Attempt 1 failed: You exceeded your current quota, please check your plan and billing details.`, `Suggested retry after 4s.. Retrying after 5320ms...`},
			"agent.unparsed, limited rate, retried 1 5320 rate",
		},
		{"the last attempt", "gemini", []string{gemini + `[WARN] Attempt 10 failed: Too fast. Max attempts reached`}, "agent.unparsed"},
		{
			"the last attempt, on the next line", "gemini",
			[]string{gemini + `[WARN] Attempt 10 failed: You exceeded your current quota.`, `Suggested retry after 4s.. Max attempts reached`},
			"agent.unparsed, agent.unparsed",
		},
		{"a warning of another kind", "gemini", []string{gemini + `[WARN] Ripgrep is not available.`}, "agent.unparsed"},
		{"what the log holds besides", "gemini", []string{gemini + `[DEBUG] Attempt 1 failed with status 429. Retrying with backoff...`, `  experimentIds: [],`, `}`}, ""},
		{"such a line without its beginning, as it is printed again in the end", "gemini", []string{`Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {}`}, "agent.unparsed"},
		{"a number that is none", "gemini", []string{gemini + `[WARN] Attempt one failed with status 429. Retrying with backoff...`}, "agent.unparsed"},

		{"an agent whose log is not read", "qwen", []string{streamError + `Overloaded"`, gemini + `[WARN] Attempt 1 failed with status 429. Retrying with backoff...`}, "agent.unparsed, agent.unparsed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := begun(t, test.program)
			for _, line := range test.lines {
				k.print(line, agent.Stderr)
			}
			if got := strings.Join(k.facts, ", "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func slicesOf(n int, line string) (lines []string) {
	for range n {
		lines = append(lines, line)
	}
	return lines
}

// What came of a request that failed is forgotten with the model's next word.
func TestAnswerEndsFault(t *testing.T) {
	k := begun(t, "opencode")
	k.print(streamError+`Overloaded"`, agent.Stderr)
	k.chunk("on it")
	k.print(streamError+`Overloaded"`, agent.Stderr)
	k.expect("facts", k.facts, "limited overload", "retried 1 0 overload", "said on it", "limited overload", "retried 1 0 overload")
}

func TestLogOutsideTurn(t *testing.T) {
	k := newTalk(t, "opencode", agent.Spec{})
	k.print(streamError+`Overloaded"`, agent.Stderr)
	k.open("go")
	k.print(streamError+`Overloaded"`, agent.Stderr)
	k.expect("facts", k.facts, "agent.unparsed", "agent.unparsed")
}

func TestCopilotRetries(t *testing.T) {
	const (
		asks    = `"sessionUpdate":"usage_update","used":9,"size":10`
		info    = "Info: Request failed due to a transient API error. Retrying..."
		cutOff  = "Info: Response was interrupted due to a server error. Retrying..."
		failure = "Error: 429 Too Many Requests"
	)
	const used = `"usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}`
	tests := []struct {
		name string
		play func(k *talk)
		want string
	}{
		{"with words", func(k *talk) {
			k.update(asks)
			k.chunk(info)
			k.update(asks)
			k.chunk(cutOff)
			k.update(asks)
			k.chunk("here")
		}, "limited overload, retried 1 0 overload, limited network, retried 2 0 network, said here"},
		{"without", func(k *talk) {
			k.update(asks)
			k.update(asks)
			k.chunk("here")
			k.update(asks)
		}, "retried 1 0, said here"},
		{"after a tool it asks for the first time", func(k *talk) {
			k.update(asks)
			k.tool("t", "in_progress")
			k.tool("t", "completed")
			k.update(asks)
		}, "called tool, returned"},
		{"a model that quotes its words continues", func(k *talk) {
			k.update(asks)
			k.chunk(info)
			k.chunk(" is what it says")
			k.say(`"id":3,"result":{"stopReason":"end_turn",` + used + `}`)
		}, "said " + info + ", said  is what it says, used 5 2 unknown, finished ok"},
		{"also before a tool", func(k *talk) {
			k.update(asks)
			k.chunk(info)
			k.tool("t", "in_progress")
		}, "said " + info + ", called tool"},
		{"and at its end", func(k *talk) {
			k.update(asks)
			k.chunk(info)
			k.say(`"id":3,"result":{"stopReason":"end_turn",` + used + `}`)
		}, "said " + info + ", used 5 2 unknown, finished ok"},
		{"an error where nothing was counted", func(k *talk) {
			k.update(asks)
			k.chunk(failure)
			k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
		}, "said " + failure + ", used 0 0 unknown, limited rate, finished error 429 Too Many Requests"},
		{"an error after it asked again", func(k *talk) {
			k.update(asks)
			k.update(asks)
			k.chunk(failure)
			k.say(`"id":3,"result":{"stopReason":"end_turn",` + used + `}`)
		}, "retried 1 0, said " + failure + ", used 5 2 unknown, limited rate, finished error 429 Too Many Requests"},
		{"a model that quotes an error", func(k *talk) {
			k.update(asks)
			k.chunk(failure)
			k.say(`"id":3,"result":{"stopReason":"end_turn",` + used + `}`)
		}, "said " + failure + ", used 5 2 unknown, finished ok"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := begun(t, "copilot")
			test.play(k)
			if got := strings.Join(k.facts, ", "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCodexRetries(t *testing.T) {
	k := begun(t, "codex-acp")
	failed := func(info, details, again string) {
		k.update(`"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting... 1/5","codexErrorInfo":%s,"additionalDetails":%q,"willRetry":%s}}}`, info, details, again)
	}
	failed(`{"responseStreamDisconnected":{"httpStatusCode":429}}`, "exceeded retry limit, last status: 429 Too Many Requests", "true")
	failed(`{"responseStreamDisconnected":{"httpStatusCode":null}}`, "stream closed before response.completed", "true")
	failed(`"serverOverloaded"`, "at capacity", "true")
	failed(`"other"`, "it is over", "false")
	k.update(`"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"idle"}}}`)
	k.expect("facts", k.facts, "limited rate", "retried 1 0 rate", "limited network", "retried 2 0 network", "limited overload", "retried 3 0 overload")
}

func TestCodexGivesUp(t *testing.T) {
	for name, row := range map[string]struct{ status, want string }{
		"its thread is in error":         {"systemError", "limited rate, finished error last status: 429 Too Many Requests"},
		"the same words without its say": {"idle", "finished ok"},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, "codex-acp")
			k.update(`"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":%q}}}`, row.status)
			k.chunk("last status: 429 Too Many Requests")
			k.say(`"id":3,"result":{"stopReason":"end_turn","usage":null}`)
			if got, want := strings.Join(k.facts, ", "), "said last status: 429 Too Many Requests, used 0 0 unknown, "+row.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// pi-acp drops pi's errors, and says in the model's place what it is and that it tries again.
func TestPiAsides(t *testing.T) {
	k := begun(t, "pi-acp")
	k.chunk("pi v0.87.1\n---\n")
	k.chunk("Retrying (attempt 1/3, waiting 2s)...")
	k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
	k.expect("facts", k.facts, "used 0 0 unknown", "finished ok")
}
