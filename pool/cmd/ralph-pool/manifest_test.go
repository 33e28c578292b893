package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestManifestIsOfOneKind(t *testing.T) {
	for args, valid := range map[string]bool{
		"":                      true,
		"--workers 2 -n 1":      true,
		"--loop L --json":       true,
		"--loop L --workers 2":  false,
		"--namespace a --label": false,
	} {
		parser, err := kong.New(&commands{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(append([]string{"manifest"}, strings.Fields(args)...)); err == nil != valid {
			t.Errorf("%q: %v", args, err)
		}
	}
}
