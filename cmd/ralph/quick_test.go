package main

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

// TestThePlainLinesMeanWhatTheGrammarSays reads lines of every verb both ways.
func TestThePlainLinesMeanWhatTheGrammarSays(t *testing.T) {
	plain := 0
	for field := range reflect.TypeFor[cli]().Fields() {
		name := verbName(field)
		if name == "" {
			continue
		}
		for _, line := range linesOf(field.Type) {
			if agrees(t, append([]string{name}, line...)) {
				plain++
			}
		}
	}
	if plain < 150 {
		t.Errorf("only %d lines were plain", plain)
	}
}

func TestTheLinesThatPeopleTypeArePlain(t *testing.T) {
	for _, line := range []string{
		"runner", "list", "list --all", "list -A --json", "attach", "attach night", "attach night --json", "status night",
		"start night -d", "start night --detach --agent claude --protocol text --prompt work", "start -f PROMPT.md -m 20",
		"run -p work", "stop night", "stop --now", "kill night", "logs night --follow", "version", "doctor",
	} {
		if !agrees(t, strings.Fields(line)) {
			t.Errorf("%q is read by kong", line)
		}
	}
}

func TestWhatIsNotPlainIsLeftToTheGrammar(t *testing.T) {
	for _, line := range [][]string{
		nil, {""}, {"--help"}, {"-p", "work"}, {"start", "--help"}, {"start", "-h"}, {"start", "-dV"}, {"start", "-pwork"},
		{"start", "--"}, {"start", "-"}, {"start", ""}, {"start", "a", "b"}, {"start", "-p"}, {"start", "-p", "-"},
		{"start", "-p", "--detach"}, {"start", "--prompt="}, {"start", "-p", ""}, {"start", "--detach=false"},
		{"start", "-p", "a", "--prompt", "b"}, {"start", "--no-stream-agent-output"}, {"start", "--set", "a=b"},
		{"start", "-m", "x"}, {"start", "-m", "007"}, {"start", "-m", "0x10"}, {"start", "--prompt-file"}, {"start", "-v"},
		{"list", "--version"}, {"list", "--al"}, {"list", "---all"}, {"steer", "a", "word"}, {"journal", "verify"},
		{"logs", "-t", "a,b"}, {"set"}, {"sttart"}, {"showversion"}, {"runner", "x", "y"},
	} {
		if v, ok := quickly(line); ok {
			t.Errorf("%q is read as %+v", line, v)
		}
	}
}

func FuzzPlainLines(f *testing.F) {
	f.Add("start\x00night\x00-d\x00--prompt=a b")
	f.Add("run\x00-p\x00work\x00-m\x0012")
	f.Add("stop\x00--wait=3s\x00a")
	f.Add("logs\x00-n\x003\x00-f")
	f.Add("run\x00-a\x00\xff")
	f.Fuzz(func(t *testing.T, line string) { agrees(t, strings.Split(line, "\x00")) })
}

// linesOf makes lines of a verb: every flag in every way of writing it, alone, together with an argument, and
// with another flag before it.
func linesOf(typ reflect.Type) [][]string {
	lines := [][]string{nil, {"night"}, {"night", "work"}, {"--no-such-flag"}}
	before := []string{}
	for _, words := range flagsOf(typ) {
		for _, value := range []string{"", "7", "1500ms", "some words", "k=v", "true", "a,b", "é"} {
			ways := [][]string{{words[0]}, {words[0] + "=" + value}, {words[0], value}}
			if words[1] != "" {
				ways = append(ways, []string{words[1]}, []string{words[1], value}, []string{words[1] + value})
			}
			for _, way := range ways {
				lines = append(lines, way, append([]string{"night"}, way...), append(way[:len(way):len(way)], "night"), append(before[:len(before):len(before)], way...))
			}
		}
		before = []string{words[0]}
	}
	return lines
}

// flagsOf returns the long and the short name of each flag.
func flagsOf(typ reflect.Type) [][2]string {
	var all [][2]string
	for field := range typ.Fields() {
		if field.Anonymous {
			all = append(all, flagsOf(field.Type)...)
			continue
		}
		words := [2]string{"--" + flagName(field.Name)}
		if name := field.Tag.Get("name"); name != "" {
			words[0] = "--" + name
		}
		if short := field.Tag.Get("short"); short != "" {
			words[1] = "-" + short
		}
		all = append(all, words)
	}
	return all
}

// agrees holds what a plain line comes to against what kong makes of it, and says whether the line is one.
func agrees(t *testing.T, args []string) bool {
	t.Helper()
	got, ok := quickly(args)
	if !ok {
		return false
	}
	parser, err := newParser(grammar(args), func(int) { t.Errorf("%q: kong has printed something and is done", args) })
	if err != nil {
		t.Fatal(err)
	}
	parser.Stdout, parser.Stderr = io.Discard, io.Discard
	parsed, err := parser.Parse(args)
	if err != nil {
		t.Errorf("%q: kong says: %v", args, err)
		return true
	}
	want := parsed.Selected().Target.Addr().Interface()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as\n%+v, and by kong as\n%+v", args, got, want)
	}
	return true
}
