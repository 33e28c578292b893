package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

type helpVerb struct {
	Verb []string `arg:"" optional:"" help:"The verb; without one, all of them."`
}

// Run prints what --help prints.
func (v *helpVerb) Run(e *env) error {
	if len(v.Verb) > 0 && !isVerb(v.Verb[0]) {
		return noVerb(v.Verb[0])
	}
	printed := false
	parser, err := newParser(grammar(v.Verb), func(int) { printed = true })
	if err != nil {
		return err
	}
	parser.Stdout = e.stdout
	_, err = parser.Parse(append(v.Verb[:len(v.Verb):len(v.Verb)], "--help"))
	if printed {
		return nil
	}
	return usage(v.Verb, err)
}

// examples are what the help of each verb shows: lines that can be typed as they stand.
var examples = map[string][]string{
	"init":  {"ralph init"},
	"trust": {"ralph trust", "ralph trust --list"},
	"run": {
		"ralph run -a claude -p 'Make the tests pass.'",
		"ralph run -f task.md -m 20 --set limits.cost=5",
		"ralph -f task.md",
	},
	"start": {
		"ralph start -a claude -p 'Make the tests of ./parser pass.'",
		"ralph start night --task task.md -m 30 --limits.cost 20 --detach",
		"ralph start night --resume",
	},
	"attach":          {"ralph attach", "ralph attach night --time"},
	"steer":           {"ralph steer 'Leave the parser alone.'", "ralph steer --loop night - < words.txt"},
	"follow-up":       {"ralph follow-up 'Then write the changelog.'"},
	"stop":            {"ralph stop", "ralph stop night --now", "ralph stop --all"},
	"pause":           {"ralph pause night"},
	"resume":          {"ralph resume night"},
	"wait":            {"ralph wait 'Log in to the registry, then resume me.'"},
	"blocked":         {"ralph blocked 'The API has no such endpoint.'"},
	"set":             {"ralph set limits.cost=40", "ralph set maximumIterations=30"},
	"kill":            {"ralph kill night", "ralph kill night --wait 1s"},
	"list":            {"ralph list", "ralph list --all --running", "ralph list --all --watch"},
	"clean":           {"ralph clean --dry-run", "ralph clean night --yes", "ralph clean --older-than 30d --status completed"},
	"status":          {"ralph status", "ralph status night --json"},
	"logs":            {"ralph logs --follow", "ralph logs night -i 3 -t tool.", "ralph logs --since 10m"},
	"replay":          {"ralph replay night", "ralph replay night -i 2..4 --speed max --time", "ralph replay night --verify"},
	"journal verify":  {"ralph journal verify night"},
	"journal repair":  {"ralph journal repair night"},
	"journal rebuild": {"ralph journal rebuild night --check"},

	"journal redecode": {"ralph journal redecode night", "ralph journal redecode night --json --all"},

	"doctor":   {"ralph doctor", "ralph doctor --schema > settings.schema.json"},
	"rehearse": {"ralph rehearse --list", "ralph rehearse demo --speed 10"},
	"version":  {"ralph version --json"},
	"help":     {"ralph help", "ralph help start"},
}

// withExamples adds the examples to the help of each verb.
func withExamples(node *kong.Node, name string) {
	for _, child := range node.Children {
		full := strings.TrimSpace(name + " " + child.Name)
		withExamples(child, full)
		lines := examples[full]
		if len(lines) == 0 {
			continue
		}
		text := "Examples:\n\n  " + strings.Join(lines, "\n  ")
		if child.Detail != "" {
			text = child.Detail + "\n\n" + text
		}
		child.Detail = text
	}
}
