package modelserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// acpHome makes a home for an agent that speaks ACP, and returns its program and the environment
// with nothing of this machine's user.
func acpHome(tb testing.TB, agent string, more ...string) (program, home string, env []string) {
	tb.Helper()
	home = tb.TempDir()
	bin := binOf(tb, agent)
	return filepath.Join(bin, agent), home, append(plainEnvironment(tb, bin, home), more...)
}

// OpencodeHome makes a home for the real opencode (tried with 1.18.33) in which srv is the only
// provider, with two models: [Model] and [OtherModel]. Its config is in the environment. The prices
// are 1, 5 and 0.1 dollars per million tokens of input, output and cache.
func OpencodeHome(tb testing.TB, srv *Server) (program string, env []string) {
	tb.Helper()
	model := object{
		"name": Model, "limit": object{"context": 128000, "output": 8192},
		"cost": object{"input": 1, "output": 5, "cache_read": 0.1},
	}
	config := encoded(tb, object{
		"autoupdate": false, "share": "disabled", "model": "fake/" + Model, "small_model": "fake/" + Model,
		"enabled_providers": []string{"fake"},
		"provider": object{"fake": object{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake",
			"options": object{"baseURL": srv.URL + "/v1", "apiKey": "made-up-key"},
			"models":  object{Model: model, OtherModel: model},
		}},
	})
	program, _, env = acpHome(tb, "opencode", "OPENCODE_CONFIG_CONTENT="+config, "OPENCODE_DISABLE_MODELS_FETCH=1")
	return program, env
}

// OtherModel is one more model of opencode's.
const OtherModel = "scripted-other"

// CopilotHome makes a home for the real GitHub Copilot CLI (tried with 1.0.102), which asks srv for
// chat completions and no other server.
func CopilotHome(tb testing.TB, srv *Server) (program string, env []string) {
	tb.Helper()
	program, _, env = acpHome(tb, "copilot",
		"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_TYPE=openai", "COPILOT_PROVIDER_BASE_URL="+srv.URL+"/v1",
		"COPILOT_PROVIDER_API_KEY=made-up-key", "COPILOT_MODEL="+Model,
	)
	return program, env
}

// QwenHome makes a home for the real Qwen Code (tried with 0.24.4), which asks srv for chat
// completions. It has to be started with --auth-type openai.
func QwenHome(tb testing.TB, srv *Server) (program string, env []string) {
	tb.Helper()
	program, home, env := acpHome(tb, "qwen",
		"OPENAI_API_KEY=made-up-key", "OPENAI_BASE_URL="+srv.URL+"/v1", "OPENAI_MODEL="+Model,
	)
	write(tb, filepath.Join(home, ".qwen", "settings.json"), encoded(tb, object{
		"privacy": object{"usageStatisticsEnabled": false}, "general": object{"enableAutoUpdate": false},
	}))
	return program, env
}

// GeminiHome makes a home for the real Gemini CLI (tried with 0.61.0), for which srv is Google's
// API.
func GeminiHome(tb testing.TB, srv *Server) (program string, env []string) {
	tb.Helper()
	program, home, env := acpHome(tb, "gemini",
		"GEMINI_API_KEY=made-up-key", "GOOGLE_GEMINI_BASE_URL="+srv.URL, "GEMINI_CLI_TRUST_WORKSPACE=true",
	)
	write(tb, filepath.Join(home, ".gemini", "settings.json"), encoded(tb, object{
		"security": object{"auth": object{"selectedType": "gemini-api-key"}},
		"privacy":  object{"usageStatisticsEnabled": false}, "general": object{"enableAutoUpdate": false},
	}))
	return program, env
}

// Bridge is a program that speaks ACP for pi, Claude Code or Codex, such as pi-acp. Its environment
// is that agent's.
func Bridge(tb testing.TB, name string) string {
	tb.Helper()
	return filepath.Join(binOf(tb, name), name)
}

func encoded(tb testing.TB, value object) string {
	tb.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatalf("encode the agent's settings: %v", err)
	}
	return string(text)
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatalf("make the agent's home: %v", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatalf("write the agent's settings: %v", err)
	}
}
