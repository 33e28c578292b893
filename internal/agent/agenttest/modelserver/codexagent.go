package modelserver

import (
	"fmt"
	"path/filepath"
	"testing"
)

// CodexProvider is the name by which Codex knows the server. Settings of it may be given with
// -c model_providers.scripted.…
const CodexProvider = "scripted"

// CodexHome makes a home for the real Codex (tried with 0.169.0) in which srv is the only provider.
// It returns the program, which is the wrapper that npm installs, and the complete environment for
// the process. With it a run sends nothing but responses requests.
//
// The model is one that Codex knows and gives plain tools: it warns of others, and of the newest it
// wants programs instead of calls.
func CodexHome(tb testing.TB, srv *Server) (program string, env []string) {
	tb.Helper()
	home := tb.TempDir()
	config := fmt.Sprintf(`model = "gpt-5.5"
model_provider = %[1]q
check_for_update_on_startup = false

[model_providers.%[1]s]
name = %[1]q
base_url = %[2]q
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false
`, CodexProvider, srv.URL+"/v1")
	folder := filepath.Join(home, ".codex")
	write(tb, filepath.Join(folder, "config.toml"), config)
	bin := binOf(tb, "codex")
	return filepath.Join(bin, "codex"), append(plainEnvironment(tb, bin, home), "CODEX_HOME="+folder, "SCRIPTED_KEY=made-up-key")
}

// OldCodex is the wrapper of Codex 0.44.0, whose app-server speaks another protocol. It runs in the
// home that CodexHome makes.
func OldCodex(tb testing.TB) string {
	tb.Helper()
	const program = "old/codex"
	return filepath.Join(binOf(tb, program), program)
}
