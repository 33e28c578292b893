//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkHook measures a hook as an agent starts it, in a session with a transcript of 500 MB,
// against 'ralph version', which only starts and prints. In the usual case a hook has nothing to
// say.
func BenchmarkHook(b *testing.B) {
	p := newBinary(b)
	transcript := filepath.Join(b.TempDir(), "transcript.jsonl")
	line := `{"type":"user","message":{"content":"` + strings.Repeat("x", 2000) + `"}}` + "\n"
	tail := strings.Repeat(line, 50) + `{"type":"assistant","message":{"model":"m","usage":{"input_tokens":50000}}}` + "\n" + strings.Repeat(line, 20)
	f, err := os.Create(transcript)
	if err == nil {
		_, err = f.WriteAt([]byte("\n"+tail), 500<<20) // the rest is a hole
	}
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	for kind, event := range map[string]string{"stop": "Stop", "post-tool-use": "PostToolUse", "pre-tool-use": "PreToolUse", "session-start": "SessionStart"} {
		stdin := fmt.Sprintf(`{"session_id":"S","hook_event_name":%q,"transcript_path":%q,"cwd":%q,"tool_name":"Bash","tool_input":{"command":"go test ./... | tail -5"}}`, event, transcript, p.project)
		b.Run(kind, func(b *testing.B) {
			ratios(b, map[string]func() time.Duration{
				"": func() time.Duration {
					hook := p.command("hook", kind)
					hook.Stdin = strings.NewReader(stdin)
					return timed(b, hook)
				},
				"version": func() time.Duration { return timed(b, p.command("version")) },
			}, programRounds)
		})
	}
}
