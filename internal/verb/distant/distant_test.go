package distant

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// The verbs of these tests, with the shapes of all others.
type (
	nameVerb struct {
		Name   string   `arg:"" optional:"" complete:"loop"`
		Rest   []string `arg:"" optional:""`
		Output string   `short:"o" placeholder:"FILE"`
		Task   string   `placeholder:"FILE"`
		Force  bool
		Lines  int  `short:"n"`
		Follow bool `short:"f"`
	}
	textVerb struct {
		Loop string   `short:"l" complete:"loop"`
		Text []string `arg:"" complete:"loop"`
	}
	manyVerb struct {
		Names []string `arg:"" optional:"" complete:"loops"`
	}
	whyVerb struct {
		Why []string `arg:"" complete:"loop"`
	}
	setVerb struct {
		Setting []string `arg:"" complete:"live,loop"`
	}
	fileVerb struct {
		Source string `arg:"" optional:"" complete:"loop,file"`
	}
)

var verbs = cli.Commands{
	{Name: "name", Verb: func() any { return new(nameVerb) }},
	{Name: "text", Verb: func() any { return new(textVerb) }},
	{Name: "many", Verb: func() any { return new(manyVerb) }},
	{Name: "why", Verb: func() any { return new(whyVerb) }},
	{Name: "set", Verb: func() any { return new(setVerb) }},
	{Name: "file", Verb: func() any { return new(fileVerb) }},
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "farm:lines"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &cli.Env{Cwd: dir}
	for line, want := range map[string]string{
		"name farm:demo":                 "farm|name demo||",
		"name farm:shop/demo -n 5":       "farm|name shop/demo -n 5||",
		"name -fn 5 farm:demo":           "farm|name -fn 5 demo||",
		"name -fn5 farm:demo a:b":        "farm|name -fn5 demo a:b||",
		"name -n 5 farm:demo":            "farm|name -n 5 demo||",
		"name farm:demo -o out":          "farm|name demo -o -|out|",
		"name farm:demo --output=out":    "farm|name demo --output=-|out|",
		"name farm:demo -oout --force":   "farm|name demo -o-|out|true",
		"name farm:demo -o -":            "farm|name demo -o -||",
		"name farm:demo --task task.md":  "error: --task task.md is a file here, and the loop is on farm",
		"name demo farm:demo":            "",
		"name -- farm:demo":              "farm|name -- demo||",
		"name -- -oX:demo":               `error: "-oX" cannot be the name of a host`,
		"name farm:-h":                   `error: loop name "-h" must begin with a-z or 0-9`,
		"name C:/demo":                   "",
		"text farm:demo be quick":        "farm|text --loop=demo be quick||",
		"text -- farm:demo be quick":     "farm|text --loop=demo -- be quick||",
		"text farm:demo farm:demo is it": "farm|text --loop=demo farm:demo is it||",
		"text farm:demo":                 "",
		"text main.go:12 is wrong":       "",
		"text see https://example.org":   "",
		"text https://example.org it":    "",
		"text --loop farm:demo a:b c":    "farm|text --loop demo a:b c||",
		"text --loop demo farm:a c":      "",
		"text --loop=farm:demo text":     "farm|text --loop=demo text||",
		"text -l farm:demo text":         "farm|text -l demo text||",
		"text -lfarm:demo text":          "farm|text -ldemo text||",
		"many farm:a farm:b":             "farm|many a b||",
		"many farm:a mill:b":             "error: farm and mill are two hosts",
		"many a farm:b":                  "error: a is a loop here, and farm:b one of another host",
		"why farm:demo is slow":          "",
		"set completion.promise=a:b":     "",
		"set farm:demo limits.cost=4":    "farm|set demo limits.cost=4||",
		"file farm:lines":                "",
		"file farm:other":                "farm|file other||",
		"nosuch farm:demo":               "",
	} {
		c, err := Find(e, verbs, strings.Fields(line))
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case c != nil:
			got = c.Host + "|" + strings.Join(c.Args, " ") + "|" + c.Output + "|"
			if c.Force {
				got += "true"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	args := strings.Fields("name farm:demo")
	if _, err := Find(e, verbs, args); err != nil || !slices.Equal(args, []string{"name", "farm:demo"}) {
		t.Errorf("the words became %q, %v", args, err)
	}
}
