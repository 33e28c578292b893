package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/filewatch"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// lay writes files below a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path string) string { t.Helper(); return string(testfile.Read(t, path)) }

const (
	oldLogin = `{"claudeAiOauth":{"accessToken":"one","refreshToken":"r1","expiresAt":1,"scopes":["a"]}}`
	newLogin = `{"claudeAiOauth":{"accessToken":"two","refreshToken":"r2","expiresAt":2,"scopes":["a"]}}`
)

// withClaude is a sandbox for Claude Code with the files of a person who uses it.
func withClaude(t *testing.T, mode Mode, sessions ...string) (b *Box, home string) {
	t.Helper()
	b = box(t, mode, func(p *Policy) {
		home = filepath.Join(filepath.Dir(p.Dir), "home")
		lay(t, home, map[string]string{
			".claude/.credentials.json":       oldLogin,
			".claude/settings.json":           "SETTINGS",
			".claude/plugins/one/plugin.json": "PLUGIN",
			".claude/projects/other/1.jsonl":  "OTHER",
			".claude/projects/mine/2.jsonl":   "MINE",
			".claude.json":                    `{"mcpServers":{}}`,
		})
		t.Setenv("HOME", home)
		t.Setenv("CLAUDE_CONFIG_DIR", "")
		p.HideHome(home)
		p.States = StatesOf("claude", home, nil, sessions...)
	})
	return b, home
}

// TestAgentHasItsOwnCopy shows that an agent reads a person's settings and changes none of them,
// and that what it keeps is there in its next turn.
func TestAgentHasItsOwnCopy(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			b, home := withClaude(t, mode, "2")
			out, err := b.runs(t, `cd "$CLAUDE_CONFIG_DIR" && cat settings.json plugins/one/plugin.json .credentials.json projects/mine/2.jsonl && grep -c mcpServers .claude.json`)
			if err != nil || out != "SETTINGS"+"PLUGIN"+oldLogin+"MINE1\n" {
				t.Errorf("%v: %s", err, out)
			}
			if out, err := b.runs(t, `cat "$CLAUDE_CONFIG_DIR"/projects/other/* "$HOME"/.claude/projects/other/*`); err == nil || strings.Contains(out, "OTHER") {
				t.Errorf("it reads a session of another project: %s", out)
			}
			out, err = b.runs(t, `
for dir in "$HOME/.claude" "$CLAUDE_CONFIG_DIR"; do
	for name in settings.json settings.local.json .claude.json commands/x.md hooks/x agents/x.md plugins/one/plugin.json plugins/two; do
		mkdir -p "$(dirname "$dir/$name")"; echo PLANTED > "$dir/$name"; echo PLANTED > "$dir/new"; mv -f "$dir/new" "$dir/$name"
	done
done 2>/dev/null
echo PLANTED > "$HOME/.claude.json"; echo kept > "$CLAUDE_CONFIG_DIR/kept"`)
			if _, err2 := b.PutBack(); err2 != nil {
				t.Fatal(err, out, err2)
			}
			_ = filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
				if err == nil && info.Mode().IsRegular() && strings.Contains(read(t, path), "PLANTED") {
					t.Errorf("%s is the agent's", path)
				}
				return nil
			})
			if out, err := b.runs(t, `cd "$CLAUDE_CONFIG_DIR" && cat kept settings.json`); err != nil || out != "kept\nSETTINGS" {
				t.Errorf("in the next turn: %v: %s", err, out)
			}
		})
	}
}

// TestLoginComesBack shows what returns of an agent's login, and that a person's newer one stays.
func TestLoginComesBack(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			b, home := withClaude(t, mode)
			mine := filepath.Join(home, ".claude", ".credentials.json")
			turn := func(theirs string) string {
				t.Helper()
				if out, err := b.runs(t, `printf %s '`+theirs+`' > "$CLAUDE_CONFIG_DIR/.new" && mv "$CLAUDE_CONFIG_DIR/.new" "$CLAUDE_CONFIG_DIR/.credentials.json"`); err != nil {
					t.Fatal(err, out)
				}
				notes, err := b.PutBack()
				if err != nil {
					t.Fatal(err)
				}
				return strings.Join(notes, "\n")
			}
			if note := turn(newLogin); !strings.Contains(note, "took over the login") || !strings.Contains(read(t, mine), `"two"`) {
				t.Errorf("%q: %s", note, read(t, mine))
			}
			if info, err := os.Stat(mine); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			before := read(t, mine)
			for what, theirs := range map[string]string{
				"a further key":   strings.Replace(newLogin, `"scopes"`, `"apiKeyHelper":"evil","scopes"`, 1),
				"no JSON":         "evil",
				"another account": strings.Replace(newLogin, `["a"]`, `["b"]`, 1),
			} {
				if note := turn(theirs); !strings.Contains(note, "as it is") || read(t, mine) != before {
					t.Errorf("%s: %q: %s", what, note, read(t, mine))
				}
			}
			lay(t, home, map[string]string{".claude/.credentials.json": oldLogin})
			if out, err := b.runs(t, `cat "$CLAUDE_CONFIG_DIR/.credentials.json"`); err != nil || out != oldLogin {
				t.Errorf("a new login of the person's: %v: %s", err, out)
			}
		})
	}
}

// TestLoginsDuringTurn shows that a login reaches the person, and one of the person's the agent,
// while the agent works.
func TestLoginsDuringTurn(t *testing.T) {
	mode := Local()[len(Local())-1]
	b, home := withClaude(t, mode)
	mine := filepath.Join(home, ".claude", ".credentials.json")
	watch, err := filewatch.New(filepath.Dir(mine))
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	done := make(chan error, 1)
	go func() {
		out, err := b.runs(t, `printf %s '`+newLogin+`' > "$CLAUDE_CONFIG_DIR/.credentials.json"
until grep -q three "$CLAUDE_CONFIG_DIR/.credentials.json"; do sleep 0.05; done`)
		if err != nil {
			err = errors.New(err.Error() + ": " + out)
		}
		done <- err
	}()
	for !strings.Contains(read(t, mine), `"two"`) {
		if _, err := watch.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lay(t, home, map[string]string{".claude/.credentials.json": strings.ReplaceAll(newLogin, "two", "three")})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRefreshedLogin(t *testing.T) {
	for _, row := range []struct {
		name, mine, theirs string
		want               bool
	}{
		{"tokens and a time differ", `{"tokens":{"access_token":"a","account_id":"i"},"last_refresh":"2026-01-01T00:00:00Z"}`, `{"tokens":{"access_token":"b","account_id":"i"},"last_refresh":"2026-01-02T00:00:00Z"}`, true},
		{"another order of keys", `{"access":"a","expires":1}`, `{"expires":2,"access":"b"}`, true},
		{"another account", `{"tokens":{"access_token":"a","account_id":"i"}}`, `{"tokens":{"access_token":"b","account_id":"j"}}`, false},
		{"a key that names a program", `{"p":{"type":"api_key","key":"k"}}`, `{"p":{"type":"api_key","key":"!evil"}}`, false},
		{"another server", `{"resource_url":"a.example","access_token":"a"}`, `{"resource_url":"b.example","access_token":"b"}`, false},
		{"a key more", `{"access":"a"}`, `{"access":"b","key":"!evil"}`, false},
		{"a key less", `{"access":"a","refresh":"r"}`, `{"access":"b"}`, false},
		{"another type", `{"access":"a"}`, `{"access":{"key":"!evil"}}`, false},
		{"null becomes a text", `{"OPENAI_API_KEY":null,"access":"a"}`, `{"OPENAI_API_KEY":"k","access":"a"}`, false},
		{"a token of several lines", `{"access":"a"}`, `{"access":"b\nevil"}`, false},
		{"a token without end", `{"access":"a"}`, `{"access":"` + strings.Repeat("b", maxField+1) + `"}`, false},
		{"text after it", `{"access":"a"}`, `{"access":"b"} evil`, false},
		{"a list instead", `{"access":"a"}`, `["access"]`, false},
		{"nothing", `{"access":"a"}`, ``, false},
		{"it was no JSON before", `x`, `{"access":"b"}`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := refreshedLogin([]byte(row.mine), []byte(row.theirs))
			if (err == nil) != row.want {
				t.Errorf("%s: %v", got, err)
			}
		})
	}
}

// TestResumedLogins shows which of two logins stays when a runner begins again.
func TestResumedLogins(t *testing.T) {
	for name, theirsLast := range map[string]bool{"the agent's is newer": true, "the person's is newer": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{"mine": oldLogin, "temp/copy": newLogin})
			older := filepath.Join(dir, "temp", "copy")
			if theirsLast {
				older = filepath.Join(dir, "mine")
			}
			info, err := os.Stat(older)
			if err == nil {
				err = os.Chtimes(older, info.ModTime().AddDate(0, 0, -1), info.ModTime().AddDate(0, 0, -1))
			}
			if err != nil {
				t.Fatal(err)
			}
			b := &Box{Policy: Policy{Temp: filepath.Join(dir, "temp")}, logins: []*login{{mine: filepath.Join(dir, "mine"), copy: "copy"}}}
			if err := b.matchLogins(false); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"mine", "temp/copy"} {
				if got := strings.Contains(read(t, filepath.Join(dir, file)), `"two"`); got != theirsLast {
					t.Errorf("%s: %s", file, read(t, filepath.Join(dir, file)))
				}
			}
		})
	}
}

func TestStatesOf(t *testing.T) {
	for _, row := range []struct {
		name, program string
		env           []string
		want          []string // variables and folders
	}{
		{"Claude Code", "claude", nil, []string{"CLAUDE_CONFIG_DIR=/home/ada/.claude"}},
		{"a folder of its own", "/opt/bin/claude", []string{"CLAUDE_CONFIG_DIR=/c"}, []string{"CLAUDE_CONFIG_DIR=/c"}},
		{"a bridge", "codex-acp", nil, []string{"CODEX_HOME=/home/ada/.codex"}},
		{"the bridge of Claude Code", "claude-agent-acp", nil, []string{"CLAUDE_CONFIG_DIR=/home/ada/.claude"}},
		{"Gemini", "gemini", nil, []string{"GEMINI_CLI_HOME=/home/ada"}},
		{"an unknown program", "agent.sh", nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, s := range StatesOf(row.program, "/home/ada", row.env) {
				got = append(got, s.Variable+"="+s.From)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%q", got)
			}
		})
	}
	b := &Box{Policy: Policy{Temp: "/t", States: append(StatesOf("claude", "/home/ada", nil), StatesOf("claude", "/home/ada", []string{"CLAUDE_CONFIG_DIR=/c"})...)}}
	for at, want := range map[string]string{"": b.States[0].Name, "/home/ada/.claude/": b.States[0].Name, "/c": b.States[1].Name} {
		if got := b.leads([]string{"CLAUDE_CONFIG_DIR=" + at}); !slices.Equal(got, []string{"CLAUDE_CONFIG_DIR=" + filepath.Join("/t", want)}) {
			t.Errorf("%s: %q", at, got)
		}
	}
}

// TestLargeState shows that a copy has a bound, and that its error says so.
func TestLargeState(t *testing.T) {
	b, home := withClaude(t, Local()[0])
	if err := os.Truncate(filepath.Join(home, ".claude.json"), maxOwn+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Wrap([]string{"sh"}, os.Environ()); err == nil || !strings.Contains(err.Error(), ".claude.json") || !strings.Contains(err.Error(), "for the agent") {
		t.Errorf("%v", err)
	}
}
