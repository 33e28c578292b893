package config

import (
	"fmt"
	"slices"
	"strings"
)

// ResolvedProtocol returns the protocol of the settings. If there is none, it is inferred from the
// name of the program after any launcher (npx, node, env …). An unknown program with an argument
// acp or --acp has acp, any other has text.
func (a Agent) ResolvedProtocol() string {
	if a.Protocol != "" {
		return a.Protocol
	}
	argv, err := a.Argv()
	if err != nil {
		return ProtocolText
	}
	program, rest := target(argv)
	name := agentName(program)
	if name == "ralph" && len(rest) > 0 && rest[0] == "rehearse" {
		return ProtocolRehearsal
	}
	if known, ok := KnownProgram(name); ok {
		return known.Protocol
	}
	if strings.HasSuffix(name, "-acp") || slices.Contains(rest, "acp") || slices.Contains(rest, "--acp") {
		return ProtocolACP
	}
	return ProtocolText
}

// Program returns the name of the agent's own program, without its path, its package's scope and
// any launcher: for "npx opencode-ai@latest" it is "opencode-ai". It is "" if the command
// cannot be read.
func (a Agent) Program() string {
	argv, err := a.Argv()
	if err != nil {
		return ""
	}
	program, _ := target(argv)
	return agentName(program)
}

// Start returns the words of the command up to the agent's own program, any launcher included,
// without the program's arguments: those of a loop are not those of a conversation.
func (a Agent) Start() ([]string, error) {
	argv, err := commandWords(a.Command)
	if err != nil {
		return nil, fmt.Errorf("agent command %s: %w", shorten(a.Command), err)
	}
	_, rest := target(argv)
	return argv[:len(argv)-len(rest)], nil
}

// launcher is a program that only starts another.
type launcher struct {
	name        string
	subcommands []string // come before the other program: npm exec, bun x
	valued      []string // options that take the next word
}

var launchers = [...]launcher{
	{"npx", nil, []string{"-p", "--package", "--prefix", "-w", "--workspace"}},
	{"bunx", nil, []string{"-p", "--package"}},
	{"npm", []string{"exec", "x"}, []string{"-p", "--package", "--prefix", "-w", "--workspace"}},
	{"pnpm", []string{"dlx", "exec"}, []string{"--package", "-C", "--dir"}},
	{"pnpx", nil, []string{"--package"}},
	{"yarn", []string{"dlx", "exec", "run"}, []string{"-p", "--package"}},
	{"node", nil, []string{"-r", "--require", "--import", "-C", "--conditions", "--env-file"}},
	{"bun", []string{"x", "run"}, []string{"--cwd", "-r", "--preload"}},
	{"deno", []string{"run"}, []string{"--config", "-c", "--import-map"}},
	{"env", nil, []string{"-u", "--unset", "-C", "--chdir"}},
	{"nice", nil, []string{"-n", "--adjustment"}},
	{"uvx", nil, []string{"--from", "--with", "-p", "--python"}},
	{"mise", []string{"exec", "x"}, nil},
}

// target returns the program that a command line starts in the end, and its arguments.
func target(words []string) (program string, rest []string) {
	// A launcher may start a launcher (env X=1 npx claude). Each round removes at least one word.
	for len(words) > 0 {
		name := baseName(words[0])
		at := slices.IndexFunc(launchers[:], func(l launcher) bool { return l.name == name })
		if at < 0 {
			return words[0], words[1:]
		}
		words = launchers[at].skip(words[1:])
	}
	return "", nil
}

// skip drops a launcher's own subcommand, options and variables in front of the program it starts.
func (l launcher) skip(words []string) []string {
	for len(words) > 0 {
		word := words[0]
		switch {
		case slices.Contains(l.valued, word) && len(words) > 1:
			words = words[2:]
		case strings.HasPrefix(word, "-"), slices.Contains(l.subcommands, word), l.name == "env" && strings.Contains(word, "="):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// generic are the parts of a path that do not name an agent.
var generic = [...]string{"cli", "index", "main", "bin", "dist", "bundle", "lib", "build", "out", "src", "package", ".bin"}

// agentName finds the name in a program's path or package: claude in /usr/bin/claude, pi in
// /opt/pi/dist/cli.js, gemini-cli in @google/gemini-cli@latest, ampcode in @ampcode/cli.
func agentName(program string) string {
	parts := strings.FieldsFunc(program, func(r rune) bool { return r == '/' || r == '\\' })
	for _, part := range slices.Backward(parts) {
		name := strings.TrimPrefix(baseName(part), "@")
		if !slices.Contains(generic[:], name) {
			return name
		}
	}
	return ""
}

// baseName is the last part of a path in lower case, without what the system, a package or a
// script's language adds: .exe, .js, @version, .sh. The script claude.sh counts as a wrapper that
// passes its arguments to claude; claude-wrapper.sh does not.
func baseName(path string) string {
	name := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	for _, suffix := range [...]string{".exe", ".cmd", ".bat", ".ps1", ".js", ".mjs", ".cjs", ".ts", ".sh", ".bash", ".zsh", ".py", ".rb"} {
		if trimmed, ok := strings.CutSuffix(name, suffix); ok {
			return trimmed
		}
	}
	return name
}
