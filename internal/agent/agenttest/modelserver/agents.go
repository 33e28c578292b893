package modelserver

import (
	"os"
	"path/filepath"
	"testing"
)

// AgentsEnv names the environment variable with the folder that tools/agents/install.sh has filled.
// Without it the folder is .agents at the root of the repository.
const AgentsEnv = "RALPH_TEST_AGENTS"

// AgentBin is the folder with the real agents `pi` and `claude`, to be put first on PATH. It fails
// the test, with what to do about it, when they are not installed.
func AgentBin(tb testing.TB) string {
	tb.Helper()
	return binOf(tb, "pi", "claude")
}

// binOf is that folder, with these programs in it.
func binOf(tb testing.TB, agents ...string) string {
	tb.Helper()
	folder := os.Getenv(AgentsEnv)
	if folder == "" {
		folder = filepath.Join(repositoryRoot(tb), ".agents")
	}
	bin, err := filepath.Abs(filepath.Join(folder, "bin"))
	if err != nil {
		tb.Fatalf("find the agents: %v", err)
	}
	for _, agent := range agents {
		if info, err := os.Stat(filepath.Join(bin, agent)); err != nil || info.IsDir() {
			tb.Fatalf("the real agents are not installed: no %s in %s\nrun tools/agents/install.sh, or set %s to the folder it has filled",
				agent, bin, AgentsEnv)
		}
	}
	return bin
}

func repositoryRoot(tb testing.TB) string {
	tb.Helper()
	folder, err := os.Getwd()
	if err != nil {
		tb.Fatalf("find the repository: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			tb.Fatal("find the repository: no go.mod above the working directory")
		}
		folder = parent
	}
}

// PiHome makes a home for the real pi (tried with 0.87.1) in which srv is the only model, in three
// wire formats. It returns the complete environment for the process, which inherits nothing of this
// machine's user, and the flags that choose the model: chat completions. For another format give pi
// `--model` with [PiModel] instead.
//
// The flags name no mode: add `--mode rpc` or `--mode json`.
func PiHome(tb testing.TB, srv *Server) (env, flags []string) {
	tb.Helper()
	home := tb.TempDir()
	agentDir := filepath.Join(home, ".pi", "agent")
	models := object{"providers": object{
		string(Chat):      piProvider("openai-completions", srv.URL+"/v1"),
		string(Responses): piProvider("openai-responses", srv.URL+"/v1"),
		string(Messages):  piProvider("anthropic-messages", srv.URL),
	}}
	write(tb, filepath.Join(agentDir, "models.json"), encoded(tb, models))
	env = append(environment(tb, home),
		"PI_CODING_AGENT_DIR="+agentDir,
		"PI_OFFLINE=1",
		"PI_TELEMETRY=0",
	)
	return env, []string{"--no-session", "--model", PiModel(Chat)}
}

// PiModel is the name by which pi knows the server's model in a wire format.
func PiModel(f Format) string { return string(f) + "/" + Model }

// piProvider has prices, so that pi reports a cost: 1, 2, 0.1 and 1.25 dollars per million tokens.
func piProvider(api, url string) object {
	return object{
		"api": api, "baseUrl": url, "apiKey": "made-up-key", // pi refuses a prompt without a key
		"models": []object{{
			"id": Model, "name": Model, "reasoning": false, "input": []string{"text"},
			"contextWindow": 128000, "maxTokens": 8192,
			"cost": object{"input": 1.0, "output": 2.0, "cacheRead": 0.1, "cacheWrite": 1.25},
		}},
	}
}

// ClaudeHome makes a home for the real Claude Code (tried with 2.1.329) in which srv is the
// Anthropic API. It returns the complete environment for the process, which inherits nothing of
// this machine's user: with it a run sends nothing but messages requests, works as root, and
// neither remembers nor leaves work in the background.
func ClaudeHome(tb testing.TB, srv *Server) (env []string) {
	tb.Helper()
	return append(environment(tb, tb.TempDir()),
		"ANTHROPIC_BASE_URL="+srv.URL,
		"ANTHROPIC_API_KEY=made-up-key",
		"ANTHROPIC_MODEL=claude-opus-5-5", // a name it knows: it complains of others, and guesses their cost
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1", // exactly 1: without it root may not skip permissions
	)
}

func environment(tb testing.TB, home string) []string {
	tb.Helper()
	return plainEnvironment(tb, AgentBin(tb), home)
}

func plainEnvironment(tb testing.TB, bin, home string) []string {
	tb.Helper()
	return []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home,
		"TMPDIR=" + tb.TempDir(),
		"TERM=dumb",
		"LANG=C.UTF-8",
	}
}
