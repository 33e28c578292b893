package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

// said returns what parsing a command line prints, or the error and its hint.
func said(t *testing.T, args []string) string {
	t.Helper()
	var out bytes.Buffer
	parser, err := commands().Parser(args, func(code int) { out.WriteString("exit\n") })
	if err != nil {
		t.Fatal(err)
	}
	parser.Stdout, parser.Stderr = &out, &out
	if _, err := parser.Parse(args); err != nil {
		cli.Report(&out, commands().Usage(parser.Model.Node, args, err))
		return out.String()
	}
	return out.String()
}

func TestUsageErrorNamesNextStep(t *testing.T) {
	for line, want := range map[string]string{
		"statsu":                    "there is no verb \"statsu\"\nralph: hint: did you mean 'ralph status'? 'ralph help' shows the verbs",
		"stat":                      "there is no verb \"stat\"\nralph: hint: did you mean 'ralph status'? 'ralph help' shows the verbs",
		"frobnicate":                "there is no verb \"frobnicate\"\nralph: hint: 'ralph help' shows the verbs; 'ralph run -p TEXT' runs an agent",
		"status a b":                "status takes no more words, and there is \"b\"\nralph: hint: put words that belong together in quotes; see 'ralph status --help'",
		"logs --folow":              "logs has no flag --folow\nralph: hint: did you mean --follow? see 'ralph logs --help'",
		"start --max-iteratons 3":   "start has no flag --max-iteratons\nralph: hint: did you mean --max-iterations? see 'ralph start --help'",
		"logs --nosuch":             "logs has no flag --nosuch\nralph: hint: see 'ralph logs --help'",
		"logs -x":                   "logs has no flag -x\nralph: hint: see 'ralph logs --help'",
		"--nosuch":                  "ralph has no flag --nosuch\nralph: hint: see 'ralph help'",
		"--promt x":                 "ralph has no flag --promt\nralph: hint: did you mean --prompt? see 'ralph help'",
		"-m":                        "--maximum-iterations needs a value: --maximum-iterations N\nralph: hint: see 'ralph help'",
		"start -m":                  "--maximum-iterations needs a value: --maximum-iterations N\nralph: hint: see 'ralph start --help'",
		"run --lines=-2":            "--lines is \"-2\", and needs a whole number from 0 to 65535\nralph: hint: see 'ralph run --help'",
		"replay --lines=70000":      "--lines is \"70000\", and needs a whole number from 0 to 65535\nralph: hint: see 'ralph replay --help'",
		"start -m many":             "--maximum-iterations is \"many\", and needs a whole number\nralph: hint: see 'ralph start --help'",
		"start -p -m 3":             "--prompt needs a value, and \"-m\" is a flag\nralph: hint: write it as --prompt=-m where it is the value",
		"start --detach=maybe":      "--detach is \"maybe\", and needs no value, or true or false\nralph: hint: see 'ralph start --help'",
		"start --set limits.idle":   "--set is \"limits.idle\", and needs KEY=VALUE\nralph: hint: see 'ralph start --help'",
		"kill --wait soon":          "--wait is \"soon\", and needs a duration such as 30s or 5m\nralph: hint: see 'ralph kill --help'",
		"rehearse --speed fast":     "--speed is \"fast\", and needs a number\nralph: hint: see 'ralph rehearse --help'",
		"set":                       "set needs KEY=VALUE\nralph: hint: as in: ralph set limits.cost=40; see 'ralph set --help'",
		"journal":                   "journal needs one of its verbs: verify, repair, rebuild, export, redecode, conformance\nralph: hint: see 'ralph journal --help'",
		"journal nosuch":            "journal has no verb \"nosuch\"\nralph: hint: see 'ralph journal --help'",
		"journal verfy":             "journal has no verb \"verfy\"\nralph: hint: did you mean 'ralph journal verify'? see 'ralph journal --help'",
		"journal verify --agains x": "journal verify has no flag --agains\nralph: hint: did you mean --against? see 'ralph journal verify --help'",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if got := said(t, args); got != "ralph: error: "+want+"\n" {
				t.Errorf("says %q, want %q", got, want)
			}
		})
	}
}

// TestParserMessagesAreTranslated makes every mistake that there is with each verb and
// each of its flags.
func TestParserMessagesAreTranslated(t *testing.T) {
	raw := regexp.MustCompile(`EOL|[Uu]nexpected|unknown flag|expect|missing|<|\bmust be\b|\bint\b|\bbit\b|token`)
	mistakes := 0
	for _, node := range nodes(t) {
		verb := strings.Fields(node.Path())
		lines := [][]string{{}, {"--no-such-flag"}, {"-\u00fc"}, {"a", "b", "c", "d"}, {"--json=perhaps"}}
		for _, group := range node.AllFlags(false) {
			for _, f := range group {
				name := "--" + f.Name
				lines = append(lines, []string{name}, []string{name, "-m"}, []string{name, "--"}, []string{name + "=\u00e4"}, []string{name, ""}, []string{name + "="})
			}
		}
		for _, line := range lines {
			args := append(verb[:len(verb):len(verb)], line...)
			var out bytes.Buffer
			parser, err := commands().Parser(args, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			parser.Stdout, parser.Stderr = &out, &out
			if _, err := parser.Parse(args); err != nil {
				mistakes++
				if says := commands().Usage(parser.Model.Node, args, err).Error(); raw.MatchString(says) {
					t.Errorf("%q is answered with %q", args, says)
				}
			}
		}
	}
	if mistakes < 100 {
		t.Errorf("only %d lines were mistakes", mistakes)
	}
}

// nodes returns all verbs that people can type, verbs of verbs included.
func nodes(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := commands().Parser(nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var all []*kong.Node
	for _, node := range parser.Model.Leaves(true) {
		if node.Type == kong.CommandNode {
			all = append(all, node)
		}
	}
	return all
}

// A field of a verb that is no flag would become one, without help.
func TestEachFlagHasHelp(t *testing.T) {
	for _, node := range nodes(t) {
		for _, flag := range node.Flags {
			if flag.Help == "" {
				t.Errorf("%s: --%s", node.Path(), flag.Name)
			}
		}
		for _, argument := range node.Positional {
			if argument.Help == "" {
				t.Errorf("%s: <%s>", node.Path(), argument.Name)
			}
		}
	}
}

func TestEachVerbHasExamples(t *testing.T) {
	for _, node := range nodes(t) {
		name := node.Path()
		_, lines, ok := strings.Cut(node.Detail, "Examples:\n\n  ")
		if !ok {
			t.Errorf("%s has no example", name)
		}
		for line := range strings.SplitSeq(lines, "\n  ") {
			typed, _, _ := strings.Cut(line, " > ") // without the shell's redirection
			typed, _, _ = strings.Cut(typed, " < ")
			args, err := config.Agent{Command: typed}.Argv()
			if err != nil || args[0] != "ralph" {
				t.Errorf("%s: %q, %v", name, line, err)
				continue
			}
			args = cli.SettingFlags(args[1:])
			parser, err := commands().Parser(args, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := parser.Parse(args)
			if err != nil {
				t.Errorf("%s: %q: %v", name, line, err)
			} else if got := parsed.Selected().Path(); got != name {
				t.Errorf("%q is an example of %s, and shown for %s", line, got, name)
			}
		}
	}
}
