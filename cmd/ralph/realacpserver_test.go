//go:build realagents && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
)

// A client that is not ours: the official TypeScript library validates each message of 'ralph acp'
// with the schema of its version of the protocol. tools/agents/acp/install.sh installs it.
func TestRealAcpClient(t *testing.T) {
	installed := filepath.Dir(modelserver.AgentBin(t))
	node, libraries := filepath.Join(installed, "node_modules", "node", "bin", "node"), filepath.Join(installed, "acp", "node_modules")
	if _, err := os.Stat(filepath.Join(libraries, "@agentclientprotocol", "sdk", "schema", "v2")); err != nil {
		t.Skip("the library is not installed: run tools/agents/acp/install.sh")
	}
	for version, asked := range map[string]string{"1": `{"permission":`, "2": `{"permission":`, "1+forms": `{"form":`, "2+forms": `{"form":`} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(os.Symlink(libraries, filepath.Join(p.home, "node_modules")))
			source, err := os.ReadFile("testdata/acp-client.mjs")
			p.must(err)
			script := filepath.Join(p.home, "client.mjs")
			p.must(os.WriteFile(script, source, 0o600))
			flags := p.plays("iteration *\n  think hm\n  say I write.\n  plan - [~] write\n  write hello.txt hello\n" +
				`  run printf '{"kind":"ask","from":"agent","text":"Which one?","choices":["postgres","sqlite"]}' > '{loop}/inbox/ask.json'` +
				"\n  sleep 1s\n  use in=1200 out=300 usd=0.01\n  promise\n")
			ralph, err := exec.LookPath("ralph")
			p.must(err)
			cmd := p.command()
			cmd.Path, cmd.Args = node, append([]string{node, script, version, p.dir, ralph, "acp"}, flags...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, stderr.String())
			}
			live, again, _ := strings.Cut(string(out), `{"replay":true}`)
			for _, want := range []string{`{"stopReason":"end_turn"}`, `{"sessions":[true]}`, `"usage_update"`, `"amount":0.01`, asked} {
				if !strings.Contains(live, want) {
					t.Errorf("%s is not in\n%s", want, live)
				}
			}
			if answered := p.fine("logs", "mill", "--json", "--type", "question.answered"); !strings.Contains(answered, "sqlite") {
				t.Errorf("the answers are %q", answered)
			}
			for _, want := range []string{"make the greeting", "I write.", "hello.txt", `"content":"write"`, "completed"} {
				if !strings.Contains(again, want) {
					t.Errorf("%s is not in the replay\n%s", want, again)
				}
			}
		})
	}
}
