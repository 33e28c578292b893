package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/plan"
)

// uses appends a request that filled the context window with these tokens.
func (w *world) uses(tokens int) {
	w.t.Helper()
	if w.codex {
		w.append("transcript.jsonl", fmt.Sprintf(`{"timestamp":"2026-11-21T01:34:45.470Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":9999999},"last_token_usage":{"input_tokens":%d,"cached_input_tokens":10,"output_tokens":100,"total_tokens":%d},"model_context_window":200000}}}`+"\n", tokens-100, tokens))
		return
	}
	w.append("transcript.jsonl", fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-21T01:34:45.470Z","message":{"model":"claude-haiku","content":[],"usage":{"input_tokens":1,"cache_read_input_tokens":%d,"cache_creation_input_tokens":2,"output_tokens":3}}}`+"\n", tokens-6))
}

// alert calls the hook after a tool, and returns what the agent reads.
func (w *world) alert(more map[string]any) string {
	w.t.Helper()
	all := map[string]any{"transcript_path": filepath.Join(w.home, "transcript.jsonl"), "tool_name": "Bash"}
	for key, value := range more {
		all[key] = value
	}
	got, err := w.answer(PostToolUse, w.input("PostToolUse", all))
	if err != nil {
		w.t.Fatal(err)
	}
	if text := got.HookSpecificOutput.AdditionalContext; text != "" && got.HookSpecificOutput.HookEventName != "PostToolUse" {
		w.t.Errorf("the answer is for %q", got.HookSpecificOutput.HookEventName)
	}
	if got.Decision != "" {
		w.t.Errorf("it blocks: %+v", got)
	}
	return got.HookSpecificOutput.AdditionalContext
}

func checkAlert(t *testing.T, got, want string) {
	t.Helper()
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("alert %q, want %q", got, want)
	}
}

func TestEachThresholdAlertsOnce(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			tokens int
			want   string
		}{
			{20_000, ""}, {99_000, ""}, {100_000, "NOTICE: your context window is 50% full"}, {101_000, ""}, {119_000, ""},
			{121_000, "NOTICE: your context window is 60%"}, {140_000, "WARNING: your context window is 70%"}, {141_000, ""},
			{165_000, "WARNING: your context window is 82%"}, {180_000, "CRITICAL: your context window is 90%"}, {199_000, ""},
		} {
			w.uses(c.tokens)
			checkAlert(t, w.alert(nil), c.want)
		}
	})
}

// The agent calls tools in parallel, and so their hooks.
func TestParallelToolsAlertOnce(t *testing.T) {
	w := newWorld(t)
	w.uses(150_000)
	stdin := w.input("PostToolUse", map[string]any{"transcript_path": filepath.Join(w.home, "transcript.jsonl")})
	var alerts atomic.Int32
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			got, err := w.answer(PostToolUse, stdin)
			if err != nil {
				t.Error(err)
			}
			if got.HookSpecificOutput.AdditionalContext != "" {
				alerts.Add(1)
			}
		})
	}
	calls.Wait()
	if alerts.Load() != 1 {
		t.Errorf("%d alerts", alerts.Load())
	}
}

func TestThresholdsAreSkippedTogether(t *testing.T) {
	w := newWorld(t)
	w.uses(170_000)
	checkAlert(t, w.alert(nil), "WARNING: your context window is 85%")
	checkAlert(t, w.alert(nil), "")
	w.uses(179_999)
	checkAlert(t, w.alert(nil), "")
	w.uses(180_000)
	checkAlert(t, w.alert(nil), "CRITICAL")
	other := w.session
	w.session = "S-2"
	checkAlert(t, w.alert(nil), "CRITICAL")
	w.session = other
	checkAlert(t, w.alert(nil), "")
}

func TestAdviceDependsOnReader(t *testing.T) {
	w := newWorld(t)
	w.uses(185_000)
	checkAlert(t, w.alert(nil), "commit all changes, and stop")
	w.live()
	w.session = "S-2"
	checkAlert(t, w.alert(nil), "task file")
	w.mark(plan.Marker{})
	w.session = "S-3"
	got := w.alert(nil)
	for _, want := range []string{"ralph/tasks.json", "ralph/progress.txt", "Commit", "Stop"} {
		checkAlert(t, got, want)
	}
}

func TestSubagentsDoNotAlert(t *testing.T) {
	w := newWorld(t)
	w.uses(150_000)
	checkAlert(t, w.alert(map[string]any{"agent_id": "sub"}), "")
	w.append("transcript.jsonl", `{"type":"assistant","isSidechain":true,"message":{"usage":{"input_tokens":199000}}}`+"\n")
	checkAlert(t, w.alert(nil), "75%")
}

func TestSizeIsUsedWithoutUsage(t *testing.T) {
	w := newWorld(t)
	w.append("transcript.jsonl", `{"type":"user","message":{"content":"`+strings.Repeat("x", 4*110_000)+`"}}`+"\n")
	checkAlert(t, w.alert(nil), "55% full (by the size of the transcript)")
}

func TestWindowOfContext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    map[string]string
		model  string
		tokens int
		want   string
	}{
		"usual":               {nil, "claude-haiku", 110_000, "55%"},
		"by the variable":     {map[string]string{"CLAUDE_CONTEXT_WINDOW": "120000"}, "claude-haiku", 110_000, "91%"},
		"a bad variable":      {map[string]string{"CLAUDE_CONTEXT_WINDOW": "-5"}, "claude-haiku", 110_000, "55%"},
		"marked as large":     {nil, "claude-sonnet[1m]", 110_000, ""},
		"large by ANTHROPIC…": {map[string]string{"ANTHROPIC_MODEL": "sonnet[1m]"}, "claude-sonnet", 110_000, ""},
		"large, half full":    {nil, "claude-sonnet[1m]", 510_000, "51%"},
		"large by its model":  {nil, "claude-opus-5-5", 110_000, ""},
		"more than the usual": {nil, "claude-haiku", 250_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.env = map[string]string{}
			for key, value := range c.env {
				w.env[key] = value
			}
			w.append("transcript.jsonl", fmt.Sprintf(`{"type":"assistant","message":{"model":%q,"usage":{"input_tokens":%d}}}`+"\n", c.model, c.tokens))
			checkAlert(t, w.alert(nil), c.want)
		})
	}
}

func TestCompactionRearms(t *testing.T) {
	for name, boundary := range map[string]string{
		"claude": `{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":150000}}`,
		"codex":  `{"timestamp":"2026-11-21T01:34:45.470Z","type":"compacted","payload":{"message":"m"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.codex = name == "codex"
			w.uses(150_000)
			checkAlert(t, w.alert(nil), "75%")
			w.append("transcript.jsonl", boundary+"\n")
			checkAlert(t, w.alert(nil), "") // the next request will say how full it is
			w.uses(151_000)                 // as full again
			checkAlert(t, w.alert(nil), "75%")
			checkAlert(t, w.alert(nil), "")
		})
	}
}

func TestFallingUsageRearms(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		tokens int
		want   string
	}{{105_000, "52%"}, {99_000, ""}, {105_000, ""}, {60_000, ""}, {105_000, "52%"}} {
		w.uses(c.tokens)
		checkAlert(t, w.alert(nil), c.want)
	}
}

func TestSessionStartRearms(t *testing.T) {
	for _, source := range []string{"startup", "resume", "compact", "clear"} {
		bothAgents(t, func(t *testing.T, w *world) {
			w.uses(150_000)
			checkAlert(t, w.alert(nil), "75%")
			checkAlert(t, w.alert(nil), "")
			if _, err := w.answer(SessionStart, w.input("SessionStart", map[string]any{"source": source})); err != nil {
				t.Fatal(err)
			}
			checkAlert(t, w.alert(nil), "75%")
		})
	}
}

func TestTextAboutCompactionIsNone(t *testing.T) {
	w := newWorld(t)
	w.uses(150_000)
	checkAlert(t, w.alert(nil), "75%")
	w.append("transcript.jsonl", `{"type":"user","message":{"content":"\"compact_boundary\" {\"type\":\"compacted\"}"}}`+"\n")
	checkAlert(t, w.alert(nil), "")
}

// Before the tools of its first answer run, Codex has written the tokens of the request and, apart
// from them, the window.
func TestCodexRecordsItsRequest(t *testing.T) {
	w := newWorld(t)
	w.codex = true
	w.append("transcript.jsonl", `{"type":"event_msg","payload":{"type":"task_started","model_context_window":258400}}
{"type":"token_usage_record","payload":{"usage":{"input_tokens":180880,"cached_input_tokens":9,"output_tokens":10,"total_tokens":180890}}}
{"type":"event_msg","payload":{"type":"item_completed"}}
`)
	checkAlert(t, w.alert(nil), "70% full (of 258k tokens)")
}

// In a transcript of any size, only its end is read.
func TestHugeTranscriptIsQuick(t *testing.T) {
	w := newWorld(t)
	path := w.append("transcript.jsonl", "")
	if err := os.Truncate(path, 500<<20); err != nil { // a hole: it takes no space
		t.Fatal(err)
	}
	w.append("transcript.jsonl", "\n")
	w.uses(150_000)
	checkAlert(t, w.alert(nil), "75%")
	transcript, err := openTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer transcript.Close()
	if allocated := testing.AllocsPerRun(1, func() { _, _ = transcript.fill() }); allocated > 1000 {
		t.Errorf("%v allocations", allocated)
	}
	if data, _, err := transcript.tail(tails[0]); err != nil || int64(len(data)) > tails[0] {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestOldRecordsAreRemoved(t *testing.T) {
	w := newWorld(t)
	w.uses(150_000)
	checkAlert(t, w.alert(nil), "75%")
	foreign := filepath.Join(w.home, recordFolder, "notes.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		entries, err := os.ReadDir(filepath.Join(w.home, recordFolder))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if count() != 3 { // the record, its lock, and what is not ours
		t.Fatalf("%d files", count())
	}
	for _, later := range []time.Duration{recordLife - time.Hour, recordLife + time.Hour} {
		w.now = time.Now().Add(later)
		w.session = "another"
		if _, err := w.answer(SessionStart, w.input("SessionStart", nil)); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 3, false: 1}[later < recordLife]; count() != want {
			t.Errorf("after %v: %d files, want %d", later, count(), want)
		}
	}
}

func TestRecordsArePrivate(t *testing.T) {
	w := newWorld(t)
	w.uses(150_000)
	checkAlert(t, w.alert(nil), "75%")
	info, err := os.Stat(filepath.Join(w.home, recordFolder))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}
