package event

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// parsers are the functions that read a word of a closed list, by the name of its type.
var parsers = map[string]func(string) (string, error){
	"CommandKind": words(ParseCommandKind),
	"FaultKind":   words(ParseFaultKind),
	"Outcome":     words(ParseOutcome),
	"Reason":      words(ParseReason),
	"Status":      words(ParseStatus),
	"TurnOutcome": words(ParseTurnOutcome),
	"Wait":        words(ParseWait),
}

func words[T ~string](parse func(string) (T, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		word, err := parse(text)
		return string(word), err
	}
}

// A constant that its parser does not know would be refused by the programs that use it.
func TestParseKnowsEachConstant(t *testing.T) {
	parsed := map[string]int{}
	for typ, list := range constants(t) {
		parse := parsers[typ]
		if parse == nil {
			continue
		}
		for _, word := range list {
			if word == string(StatusUnknown) {
				continue // no loop has it
			}
			parsed[typ]++
			if got, err := parse(word); got != word || err != nil {
				t.Errorf("%s %q: %q, %v", typ, word, got, err)
			}
		}
	}
	for typ, parse := range parsers {
		if parsed[typ] < 2 {
			t.Errorf("%s: %d constants", typ, parsed[typ])
		}
		for _, wrong := range []string{"", "nonsense", "Completed "} {
			if got, err := parse(wrong); err == nil {
				t.Errorf("%s %q is read as %q", typ, wrong, got)
			}
		}
	}
}

// constants returns the string constants of this package by the name of their type.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	collect := func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		typ, ok := spec.Type.(*ast.Ident)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				word, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				all[typ.Name] = append(all[typ.Name], word)
			}
		}
		return true
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := goparser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, collect)
	}
	return all
}

func TestIDsReadBack(t *testing.T) {
	const sum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	if ref, err := ParseBlobRef(sum); err != nil || string(ref) != sum {
		t.Errorf("%q, %v", ref, err)
	}
	for _, wrong := range []string{"", sum[:62], sum + "00", "../" + sum[3:], sum[:63] + "g", strings.ToUpper(sum)} {
		if ref, err := ParseBlobRef(wrong); err == nil {
			t.Errorf("%q is read as %q", wrong, ref)
		}
	}
	if seq, err := ParseSeq(Seq(18446744073709551615).String()); err != nil || seq != 18446744073709551615 {
		t.Errorf("%d, %v", seq, err)
	}
	for _, wrong := range []string{"", "0", "-1", "1.0", "18446744073709551616"} {
		if seq, err := ParseSeq(wrong); err == nil {
			t.Errorf("%q is read as %d", wrong, seq)
		}
	}
}
