package hook

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// A fill says how full a context window is. Unknown numbers are 0.
type fill struct {
	used   int64  // tokens
	window int64  // tokens, if the transcript says it
	model  string // if the transcript says it
	// compacted is where the transcript was last compacted, in bytes from its beginning; 0 if that
	// is not in the part that was read.
	compacted int64
	guessed   bool // used is computed from the size of the transcript
}

// percent returns how full the window is, in whole percent.
func (f fill) percent() int {
	if f.window <= 0 {
		return 0
	}
	return int(min(999, f.used*100/f.window))
}

// tails are how many bytes of a transcript are read, until one of them has what is searched.
var tails = []int64{256 << 10, 2 << 20, 16 << 20}

// bytesPerToken is for a transcript that does not say how many tokens were used.
const bytesPerToken = 4

// fill returns how full the context window was at the last request.
func (t *transcript) fill() (fill, error) {
	for _, n := range tails {
		data, offset, err := t.tail(n)
		if err != nil {
			return fill{}, err
		}
		f, known := scanFill(data, offset)
		if known {
			return f, nil
		}
		if f.compacted > 0 || offset == 0 || n == tails[len(tails)-1] {
			f.used, f.guessed = (t.size-f.compacted)/bytesPerToken, true
			return f, nil
		}
	}
	return fill{}, nil
}

// scanFill searches from the end for the last request and the last compaction.
func scanFill(data []byte, offset int64) (f fill, known bool) {
	var doc jsonscan.Document
	codex := false
	for at, line := range backward(data) {
		words := []string{`"compact`, `"usage"`, `"model_context_window"`}
		if known && codex && f.window == 0 {
			words = []string{`"compact`, `"model_context_window"`}
		} else if known {
			words = words[:1]
		}
		v, ok := parsed(&doc, line, words...)
		if !ok || v.Get("isSidechain").IsTrue() {
			continue // a subagent has a window of its own
		}
		if after, ok := compaction(v); ok {
			if f.compacted == 0 {
				f.compacted = offset + int64(at) + 1 // one in the first line is one too
			}
			if !known && after == 0 {
				return f, false
			}
			if !known {
				f.used, known = after, true
			}
			continue
		}
		got := requestOf(v)
		if f.window == 0 {
			f.window = got.window
		}
		if !known && got.used > 0 {
			f.used, f.model, known = got.used, got.model, true
			codex = !v.Get("type").Is("assistant")
		}
	}
	return f, known
}

// compaction reports whether the line records a compaction, and how many tokens it left, if it says
// so.
func compaction(v jsonscan.Value) (after int64, ok bool) {
	switch {
	case v.Get("type").Is("system") && v.Get("subtype").Is("compact_boundary"):
		after, _ = v.Get("compactMetadata", "postTokens").Int()
		if after == 0 {
			after, _ = v.Get("compact_metadata", "post_tokens").Int()
		}
		return after, true
	case v.Get("type").Is("compacted"): // Codex
		return 0, true
	}
	return 0, false
}

// requestOf returns the tokens of one request to the model, with its answer.
func requestOf(v jsonscan.Value) (f fill) {
	switch {
	case v.Get("type").Is("assistant"):
		message := v.Get("message")
		f.model = message.Get("model").Text()
		f.used = tokens(message.Get("usage"), "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
	// Codex writes the first of these before the tools of the answer run, the second after them.
	// Its input_tokens contain the cached ones.
	case v.Get("type").Is("token_usage_record"):
		f.used = codexUsed(v.Get("payload", "usage"))
	case v.Get("payload", "type").Is("token_count"):
		info := v.Get("payload", "info")
		f.used = codexUsed(info.Get("last_token_usage"))
		f.window = tokens(info, "model_context_window")
	case v.Get("payload", "type").Is("task_started"):
		f.window = tokens(v.Get("payload"), "model_context_window")
	}
	return f // an error of the API has no tokens
}

func codexUsed(usage jsonscan.Value) int64 {
	return cmp.Or(tokens(usage, "total_tokens"), tokens(usage, "input_tokens", "output_tokens"))
}

// mostTokens is more than any model has. A larger number is none, so that no sum overflows.
const mostTokens = 1 << 40

// tokens adds the numbers of an object that have these names.
func tokens(v jsonscan.Value, keys ...string) (sum int64) {
	for _, key := range keys {
		if n, ok := v.Get(key).Int(); ok && n > 0 && n < mostTokens {
			sum += n
		}
	}
	return sum
}

const (
	usualWindow = 200_000   // tokens of Claude's models
	largeWindow = 1_000_000 // of those that have more
)

// largeModels are models that Claude Code 2.1.329 reports with the large window.
var largeModels = []string{"claude-opus-5-5"}

// windowOf returns the size of the context window: what the person says, else what the transcript
// says, else by the model.
func windowOf(e Env, f fill) int64 {
	if n, err := strconv.ParseInt(strings.TrimSpace(e.Variable("CLAUDE_CONTEXT_WINDOW")), 10, 64); err == nil && n > 0 {
		return n
	}
	large := f.used > usualWindow && !f.guessed || strings.Contains(f.model+e.Variable("ANTHROPIC_MODEL"), "[1m]")
	for _, model := range largeModels {
		large = large || strings.HasPrefix(f.model, model)
	}
	switch {
	case f.window > 0:
		return f.window
	case large:
		return largeWindow
	}
	return usualWindow
}
