package main

import (
	"bytes"
	"reflect"
	"testing"
)

// TestOneVerbSpeaksAsAllDo holds the grammar of a single verb to what the whole one says: the same
// help, the same errors.
func TestOneVerbSpeaksAsAllDo(t *testing.T) {
	verbs := 0
	for field := range reflect.TypeFor[cli]().Fields() {
		name := verbName(field)
		if name == "" {
			continue
		}
		verbs++
		for _, args := range [][]string{
			{name}, {name, "--help"}, {name, "--no-such-flag"}, {name, "one", "two", "three"},
		} {
			part := grammar(args)
			if reflect.TypeOf(part) == reflect.TypeFor[*cli]() {
				t.Errorf("%q is read with the whole grammar", args)
			}
			alone, together := said(t, part, args), said(t, new(cli), args)
			if alone != together {
				t.Errorf("%q alone:\n%s\ntogether:\n%s", args, alone, together)
			}
		}
	}
	if verbs < 15 {
		t.Fatalf("only %d verbs were found", verbs)
	}
}

func TestWordsThatAreNoVerbAreReadWithTheWholeGrammar(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"-p", "work"}, {"sttart"}, {""}, {"showversion"}, {"version2"}} {
		if _, ok := grammar(args).(*cli); !ok {
			t.Errorf("%q is read with a part of it", args)
		}
	}
}

// said returns everything that reading a command line comes to: what is printed, the
// command that is chosen, the error and the hint.
func said(t *testing.T, grammar any, args []string) string {
	t.Helper()
	var out bytes.Buffer
	parser, err := newParser(grammar, func(code int) { out.WriteString("exit\n") })
	if err != nil {
		t.Fatal(err)
	}
	parser.Stdout, parser.Stderr = &out, &out
	parsed, err := parser.Parse(args)
	if err != nil {
		report(&out, usage(args, err))
		return out.String()
	}
	out.WriteString(parsed.Command() + "\n")
	for _, flag := range parsed.Flags() {
		out.WriteString(flag.Name + "=" + flag.Target.String() + "\n")
	}
	return out.String()
}

func TestAMistakeOfUsageNamesTheNextStep(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"a word that is no verb":            {[]string{"statsu"}, "ralph: error: there is no verb \"statsu\"\nralph: hint: 'ralph --help' shows the verbs; 'ralph run -p TEXT' runs an agent\n"},
		"one argument too many":             {[]string{"status", "a", "b"}, "ralph: error: unexpected argument b\nralph: hint: see 'ralph status --help'\n"},
		"a flag that no verb has":           {[]string{"logs", "--nosuch"}, "ralph: error: unknown flag --nosuch\nralph: hint: see 'ralph logs --help'\n"},
		"a flag of run without the verb":    {[]string{"--nosuch"}, "ralph: error: unknown flag --nosuch\nralph: hint: see 'ralph --help'\n"},
		"a verb of the journal's own tools": {[]string{"journal", "nosuch"}, "ralph: error: unexpected argument nosuch\nralph: hint: see 'ralph journal --help'\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := said(t, grammar(row.args), row.args); got != row.want {
				t.Errorf("says %q, want %q", got, row.want)
			}
		})
	}
}
