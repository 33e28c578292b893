//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// README and the guides show commands in two kinds of blocks. A block "console" is run here, line
// by line, in a scratch project of its page; the output that it shows has to appear. A block "sh"
// is not run: notRun lists it with the reason, and only its verbs and flags are checked.

// notRun maps the first lines of blocks "sh" to reasons.
var notRun = map[string]string{
	"ralph web":              "serves until ctrl-c",
	"ralph list --host farm": "needs another machine",
	"RALPH_SSH_COMMAND='ssh -F ~/work/ssh_config' ralph list --host farm": "needs another machine",
	"ralph service install": "would change the person's services",
	"ralph every 'mon-fri 01:00' -- -a claude -f daily.md --worktree": "would change the person's services",
	"loginctl enable-linger":                          "would change the machine",
	"ralph web --public-url https://mill.example.org": "serves until ctrl-c",
	`printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}' \`: "would list all loops of this machine",
	"ralph report --all --since yesterday -o morning.html":                                            "would read all loops of this machine",
	"ralph plan": "waits for a person at a terminal",
	"make demo":  "builds the program; make demo itself runs it",
	"go install github.com/ralph-loop/ralph/cmd/ralph@latest":                                      "installs from the network",
	"claude mcp add ralph -- ralph mcp":                                                            "would change the settings of Claude Code",
	"go install github.com/ralph-loop/ralph/pool/cmd/ralph-pool@latest":                            "installs from the network",
	"ralph pool serve --listen 0.0.0.0:4222":                                                       "serves until ctrl-c",
	"ralph pool join - --host mill":                                                                "needs a server",
	"codex mcp add ralph -- ralph mcp":                                                             "would change the settings of Codex",
	"npx @modelcontextprotocol/inspector --cli ralph mcp --method tools/list":                      "installs from the network",
	"acpx --agent 'ralph acp' exec 'make the greeting'":                                            "acpx is not installed",
	"git log --notes=ralph":                                                                        "the loop of this page makes no commit",
	"cosign attest-blob --statement demo.intoto.json --key cosign.key --bundle demo.sigstore.json": "needs cosign and a key",
	"ralph replay demo":                                                                            "shows the full screen at a terminal",
	"ralph fence demo --host kiln --epoch 2":                                                       "the loop demo of this page is in no pool",
	"ralph list --watch":                                                                           "waits for a person at a terminal",
	"ralph clean":                                                                                  "asks a person at a terminal",
	"ralph plan --issue 42 --task fix-login.md":                                                    "needs gh, an account and a repository there",
	"ralph start fix-login --resume --follow-pr":                                                   "needs gh, an account and a pull request",
	`git diff "$ref^" "$ref"`:                                                                      "the loop demo of this page has no reviewer that edits",
	"ralph start -a opencode -p 'Make the tests pass. Say <promise>COMPLETE</promise> when they do.'": "needs an account",
	"unzip ralph-ci.zip -d ralph-ci":                                    "needs the artifact of a job",
	"ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite": "only the agent of a loop can ask",
	"ralph plugin install pi":                                           "would change the settings of pi",
	"export OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318":          "needs a collector on that port",
	"ralph journal export demo --otlp --to http://localhost:4318":       "needs a collector on that port",
	"ralph journal export demo --otlp":                                  "needs a collector on that port",
	"ralph run --name ci -a claude -p 'Make the tests pass.' -m 20 --limits.cost 5 --limits.duration 1h || code=$?": "needs an account",
}

func TestPagesRun(t *testing.T) {
	leaveToScript(t)
	for _, page := range pagesWithCommands(t) {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			text := testfile.Read(t, page)
			s := newPageSession(t)
			for _, command := range commandsOf(string(text)) {
				s.run(t, filepath.Base(page), command)
			}
		})
	}
}

func TestPagesNameKnownFlags(t *testing.T) {
	settings := testfile.Read(t, "../../docs/reference/settings.md")
	seen := map[string]bool{}
	for _, page := range pagesWithCommands(t) {
		text := testfile.Read(t, page)
		for _, block := range blocksOf(string(text), "sh") {
			first, _, _ := strings.Cut(block.text, "\n")
			first, _, _ = strings.Cut(first, "   ")
			seen[first] = true
			if notRun[first] == "" {
				t.Errorf("%s:%d: the block of %q is not run and not listed in notRun", page, block.line, first)
			}
			for line := range strings.Lines(block.text) {
				line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
				if problem := unknownWord(t, line, string(settings)); problem != "" {
					t.Errorf("%s:%d: %s", page, block.line, problem)
				}
			}
		}
	}
	for first := range notRun {
		if !seen[first] {
			t.Errorf("no page has the block of %q", first)
		}
	}
}

// The pages that are lists of commands have most of them in their text.
func TestListsOfCommandsNameFlags(t *testing.T) {
	settings := testfile.Read(t, "../../docs/reference/settings.md")
	for page, least := range map[string]int{"one-page": 25, "twenty-questions": 15} {
		text := testfile.Read(t, "../../docs/guide/"+page+".md")
		commands := regexp.MustCompile("`(ralph [^`]+)`").FindAllStringSubmatch(string(text), -1)
		if len(commands) < least {
			t.Errorf("%s has only %d commands", page, len(commands))
		}
		for _, m := range commands {
			if problem := unknownWord(t, m[1], string(settings)); problem != "" {
				t.Errorf("%s: %s", page, problem)
			}
		}
	}
}

// TestPageCheckNoticesMistakes shows that a wrong block would be noticed.
func TestPageCheckNoticesMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		shown, got []string
		same       bool
	}{
		"same":          {[]string{"a", "b"}, []string{"a", "b"}, true},
		"pid and time":  {[]string{"loop x is running (pid 1)", "took 2.5s at 01:02:03"}, []string{"loop x is running (pid 42)", "took 10ms at 11:12:13"}, true},
		"left out":      {[]string{"a", "…", "d"}, []string{"a", "b", "c", "d"}, true},
		"nothing shown": {nil, []string{"a"}, true},
		"another word":  {[]string{"a", "b"}, []string{"a", "c"}, false},
		"one more":      {[]string{"a"}, []string{"a", "b"}, false},
		"one missing":   {[]string{"a", "…", "d"}, []string{"a", "b"}, false},
	} {
		if got := sameOutput(c.shown, c.got); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
	settings := "| `limits.cost` * |"
	for line, wrong := range map[string]bool{
		"ralph start -a x --detach": false, "ralph start --limits.cost 4": false, "make test": false,
		"ralph begin": true, "ralph start --detached": true, "ralph start --limits.price 4": true,
		"ralph every TEXT -- --worktree": false, "ralph every TEXT -- --worktre": true,
	} {
		if got := unknownWord(t, line, settings) != ""; got != wrong {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func pagesWithCommands(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d guides: %v", len(pages), err)
	}
	return append(pages, "../../README.md")
}

type pageBlock struct {
	line int
	text string
}

// blocksOf returns the fenced blocks of a language.
func blocksOf(page, language string) []pageBlock {
	var blocks []pageBlock
	for _, at := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatchIndex(page, -1) {
		blocks = append(blocks, pageBlock{2 + strings.Count(page[:at[0]], "\n"), page[at[2]:at[3]]})
	}
	return blocks
}

type pageCommand struct {
	line  int
	text  string
	shown []string // its output, where "…" means any lines
}

var heredoc = regexp.MustCompile(`<<'?(\w+)'?`)

// commandsOf reads the blocks "console": a command follows "$ ", the text of a here-document "> ".
func commandsOf(page string) []pageCommand {
	var commands []pageCommand
	for _, block := range blocksOf(page, "console") {
		end := "" // of the here-document that is open
		for i, line := range strings.Split(strings.TrimSuffix(block.text, "\n"), "\n") {
			text, isCommand := strings.CutPrefix(line, "$ ")
			switch {
			case end != "":
				text = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
				commands[len(commands)-1].text += "\n" + text
				if text == end {
					end = ""
				}
			case isCommand:
				commands = append(commands, pageCommand{line: block.line + i, text: text})
				if m := heredoc.FindStringSubmatch(text); m != nil {
					end = m[1]
				}
			case len(commands) > 0:
				last := &commands[len(commands)-1]
				last.shown = append(last.shown, line)
			}
		}
	}
	return commands
}

// A pageSession is a shell in a scratch project: a person's home with one repository in it.
type pageSession struct {
	home, dir string
	env       []string
}

func newPageSession(t *testing.T) *pageSession {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stubs, err := filepath.Abs("testdata/stubs")
	if err != nil {
		t.Fatal(err)
	}
	s := &pageSession{home: home, dir: filepath.Join(home, "greeting")}
	s.env = []string{
		"HOME=" + home, "PATH=" + stubs + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "TERM=dumb", "CLAUDE_CODE_OAUTH_TOKEN=made-up",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost",
	}
	t.Cleanup(func() { endRunners(filepath.Join(home, ".ralph")) })
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := s.shell(t, "git init -q -b main . && git commit -q --allow-empty -m Begin"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

// shell runs a command and stays in the folder that it changed to.
func (s *pageSession) shell(t *testing.T, command string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cwd := filepath.Join(s.home, ".cwd")
	cmd := exec.CommandContext(ctx, "sh", "-c", command+"\nstatus=$?; pwd >"+cwd+"; exit $status")
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &out, &out
	err := cmd.Run()
	if dir, err := os.ReadFile(cwd); err == nil {
		s.dir = strings.TrimSpace(string(dir))
	}
	return strings.ReplaceAll(out.String(), s.home, "/home/ada"), err
}

// slowStart matches a line that start prints only if it takes long.
var slowStart = regexp.MustCompile(`(?m)^ralph: loop \S+ is starting …\n`)

func (s *pageSession) run(t *testing.T, page string, c pageCommand) {
	t.Helper()
	out, err := s.shell(t, c.text)
	got := strings.Split(strings.TrimRight(slowStart.ReplaceAllString(out, ""), "\n"), "\n")
	if err != nil {
		t.Fatalf("%s:%d: %s: %v\n%s", page, c.line, c.text, err, out)
	}
	if !sameOutput(c.shown, got) {
		t.Fatalf("%s:%d: %s\nprints\n%s\nand the page shows\n%s", page, c.line, c.text, out, strings.Join(c.shown, "\n"))
	}
}

// placeholders replace what differs from run to run.
var placeholders = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d(:\d\d(\.\d+)?)?\b`), "TIME"},
	{regexp.MustCompile(`\bpid \d+`), "pid N"},
	{regexp.MustCompile(`cli:\S+@[\w.-]+`), "cli:USER@HOST"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`), "DURATION"},
	{regexp.MustCompile(`\b[0-9a-f]{7,64}\b`), "HASH"},
	{regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`), "ULID"},
	{regexp.MustCompile(`\b\d+ bytes`), "N bytes"},
	{regexp.MustCompile(` +`), " "},
}

func sameOutput(shown, got []string) bool {
	if len(shown) == 0 {
		return true
	}
	shown, got = normalized(shown), normalized(got)
	for len(shown) > 0 {
		if shown[0] == "…" {
			if len(shown) == 1 {
				return true
			}
			at := slices.Index(got, shown[1])
			if at < 0 {
				return false
			}
			shown, got = shown[1:], got[at:]
			continue
		}
		if len(got) == 0 || got[0] != shown[0] {
			return false
		}
		shown, got = shown[1:], got[1:]
	}
	return len(got) == 0
}

func normalized(lines []string) []string {
	var out []string
	for _, line := range lines {
		for _, p := range placeholders {
			line = p.pattern.ReplaceAllString(line, p.with)
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

var flagWord = regexp.MustCompile(`--?[a-zA-Z][\w.-]*`)

// unknownWord returns what is wrong with a line that is not run: a verb or flag that does not
// exist.
func unknownWord(t *testing.T, line, settings string) string {
	t.Helper()
	words := strings.Fields(regexp.MustCompile(`'[^']*'`).ReplaceAllString(line, "TEXT"))
	if len(words) < 2 || words[0] != "ralph" || words[1] == "pool" { // another program has its flags
		return ""
	}
	help, err := exec.CommandContext(t.Context(), "ralph", "help", words[1]).CombinedOutput()
	if len(words) > 2 { // such as 'ralph journal export'
		if deeper, missing := exec.CommandContext(t.Context(), "ralph", "help", words[1], words[2]).CombinedOutput(); missing == nil {
			help, err = append(help, deeper...), nil
		}
	}
	if more, short := exec.CommandContext(t.Context(), "ralph", words[1], "--help-all").CombinedOutput(); short == nil {
		help = more
	}
	if err != nil {
		return line + ": " + cmp.Or(strings.TrimSpace(string(help)), err.Error())
	}
	known := flagWord.FindAllString(strings.ReplaceAll(string(help), "--[no-]", "--"), -1)
	for i, word := range words[2:] {
		if word == "--" { // what follows are words of another verb
			return unknownWord(t, "ralph start "+strings.Join(words[i+3:], " "), settings)
		}
		flag, _, _ := strings.Cut(word, "=")
		name := strings.TrimLeft(flag, "-")
		if name != flag && !slices.Contains(known, flag) && !strings.Contains(settings, "`"+name+"`") {
			return line + ": ralph " + words[1] + " has no flag " + flag
		}
	}
	return ""
}
