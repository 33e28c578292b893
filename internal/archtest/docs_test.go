package archtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

var update = flag.Bool("update", false, "write the generated pages")

// These pages are generated from the source. A page that is not up to date fails.
func TestDocsAreUpToDate(t *testing.T) {
	for name, page := range map[string]string{
		"docs/reference/events.md":      eventsPage(t),
		"docs/reference/settings.md":    settingsPage(),
		"docs/reference/rehearsing.md":  rehearsingPage(t),
		"docs/concepts/architecture.md": architecturePage(t),
	} {
		path := filepath.Join(root, name)
		if *update {
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != page {
			t.Errorf("%s is not up to date (%v): make docs", name, err)
		}
	}
}

const generated = "<!-- Generated from the source by `make docs`. -->\n\n"

func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n" + generated)
	b.WriteString("Layers, later ones win: built-in, `~/.ralph/settings.json`, `.ralph/settings.json`, " +
		"`.ralph/settings.local.json`, `RALPH_*` variables, flags. Objects merge key by key; lists and scalars replace. " +
		"An agent whose program a later layer replaces takes nothing of the layers below but its `permissions`. An agent in the place " +
		"of another keeps the permissions of that one, unless it has its own ([agents](../guide/agents.md)). " +
		"`ralph doctor` shows each value that is not built in and where it comes from; `ralph doctor --schema` " +
		"prints the JSON schema for editors.\n\n" +
		"Keys marked with * may change while a loop runs: `ralph set KEY=VALUE`.\n\n" +
		"Keys marked with ! run a program, say how it is run, write outside the loop's folder or take a lock away. In a project's " +
		"files they count once you have trusted them: `ralph trust` shows them and asks, and so do `ralph run` and `ralph start` in a " +
		"terminal. So does any key that your own `~/.ralph/settings.json` sets otherwise. A change is asked about again. Elsewhere " +
		"`--trust` or `RALPH_TRUST=1` lets them count once. Your own settings, variables and flags are trusted " +
		"([0027](../decisions/0027-trust.md)).\n\n" +
		"| key | default | variable | value | meaning |\n|---|---|---|---|---|\n")
	for _, key := range config.Keys() {
		name := "`" + key.Name + "`"
		if key.Live {
			name += " *"
		}
		if key.Asked {
			name += " !"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, code(key.Default), code(key.Env), kindOf(key), escape(key.Doc))
	}
	return b.String()
}

// rehearsingPage returns the hand-written part of the page, followed by the generated tables.
func rehearsingPage(t *testing.T) string {
	have, err := os.ReadFile(filepath.Join(root, "docs/reference/rehearsing.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(string(have), generated)
	if !ok {
		t.Fatalf("docs/reference/rehearsing.md has no line %q", strings.TrimSpace(generated))
	}
	var b strings.Builder
	b.WriteString(text + generated + "| step | what it does |\n|---|---|\n")
	for _, s := range player.Steps() {
		fmt.Fprintf(&b, "| %s | %s |\n", code(s.Form), strings.ReplaceAll(s.About, "|", "\\|"))
	}
	b.WriteString("\n## Built in\n\n| scenario | what it shows |\n|---|---|\n")
	for _, s := range player.List() {
		fmt.Fprintf(&b, "| %s | %s |\n", code(s.Name), escape(s.About))
	}
	return b.String()
}

func kindOf(key config.Key) string {
	if len(key.Enum) > 0 {
		words := make([]string, len(key.Enum))
		for i, word := range key.Enum {
			words[i] = code(word)
		}
		return strings.Join(words, " ")
	}
	kind := string(key.Kind)
	switch {
	case key.Min > 0 && key.Max < math.Inf(1):
		kind += fmt.Sprintf(", %g to %g", key.Min, key.Max)
	case key.Min > 0:
		kind += fmt.Sprintf(", at least %g", key.Min)
	case key.Max < math.Inf(1) && key.Max > 0:
		kind += fmt.Sprintf(", at most %g", key.Max)
	}
	if key.None {
		kind += ", or none"
	}
	return kind
}

// escape keeps Markdown from taking text for a tag or the end of a cell.
func escape(text string) string { return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(text) }

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
}

// vocabulary is what the source of package event declares.
type vocabulary struct {
	types   []eventType
	structs map[string]structure
	names   []string // of structs, in the order of the source
	lists   map[string][]value
	about   map[string]string // doc comments of the lists
}

type eventType struct{ name, value string } // LoopStarted, loop.started

type structure struct {
	doc    string
	fields []field
}

type field struct{ key, kind, doc string }

type value struct{ text, doc string }

func eventsPage(t *testing.T) string {
	v := readVocabulary(t)
	examples := readExamples(t)
	var b strings.Builder
	b.WriteString("# Events\n\n" + generated)
	b.WriteString("Every line of a journal is one event; [format.md](format.md) describes the envelope. " +
		"What follows is `data`. A reader keeps types and keys that it does not know.\n")
	group := ""
	payloads := map[string]bool{}
	for _, typ := range v.types {
		if g, _, _ := strings.Cut(typ.value, "."); g != group {
			group = g
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		payloads[typ.name] = true
		s, ok := v.structs[typ.name]
		if !ok {
			t.Fatalf("event type %s has no payload %s", typ.value, typ.name)
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n", typ.value, escape(s.doc))
		b.WriteString(fieldTable(s))
		example, ok := examples[typ.value]
		if !ok {
			t.Errorf("event type %s has no line in testdata/catalogue.jsonl", typ.value)
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n", example)
	}
	b.WriteString("\n## Parts\n\nObjects that several events contain.\n")
	for _, name := range v.names {
		if s := v.structs[name]; !payloads[name] && len(s.fields) > 0 {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n%s", name, escape(s.doc), fieldTable(s))
		}
	}
	b.WriteString("\n## Closed lists\n")
	for _, name := range slices.Sorted(maps.Keys(v.lists)) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", name, v.about[name])
		for _, value := range v.lists[name] {
			fmt.Fprintf(&b, "- `%s`%s\n", value.text, dash(value.doc))
		}
	}
	return b.String()
}

func dash(doc string) string {
	if doc == "" {
		return ""
	}
	return ": " + doc
}

func fieldTable(s structure) string {
	if len(s.fields) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| key | value | |\n|---|---|---|\n")
	for _, f := range s.fields {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.key, f.kind, escape(f.doc))
	}
	return b.String()
}

// readExamples returns the data of the first golden line of each type.
func readExamples(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "journal/event/testdata/catalogue.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{}
	for line := range bytes.Lines(text) {
		var e struct {
			Type string
			Data json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if examples[e.Type] == "" {
			examples[e.Type] = string(e.Data)
		}
	}
	return examples
}

func readVocabulary(t *testing.T) vocabulary {
	t.Helper()
	v := vocabulary{structs: map[string]structure{}, lists: map[string][]value{}, about: map[string]string{}}
	sources, err := filepath.Glob(filepath.Join(root, "journal/event/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, source, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			if g, ok := decl.(*ast.GenDecl); ok {
				v.take(g)
			}
		}
	}
	if len(v.types) < 30 {
		t.Fatalf("only %d event types were found", len(v.types))
	}
	return v
}

func (v *vocabulary) take(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			name := spec.Name.Name
			doc := sentence(g.Doc, name)
			switch kind := spec.Type.(type) {
			case *ast.StructType:
				if s := (structure{doc, fieldsOf(kind)}); spec.Name.IsExported() {
					v.structs[name] = s
					v.names = append(v.names, name)
				}
			case *ast.Ident:
				v.about[name] = doc
			}
		case *ast.ValueSpec:
			v.constant(spec)
		}
	}
}

func (v *vocabulary) constant(spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	if typ.Name == "Type" {
		v.types = append(v.types, eventType{strings.TrimPrefix(spec.Names[0].Name, "Type"), text})
		return
	}
	v.lists[typ.Name] = append(v.lists[typ.Name], value{text, strings.TrimSpace(spec.Comment.Text())})
}

func fieldsOf(s *ast.StructType) []field {
	var fields []field
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if key == "" || key == "-" {
			continue
		}
		if strings.Contains(options, "omit") {
			key += "?"
		}
		doc := f.Comment.Text()
		if doc == "" {
			doc = f.Doc.Text()
		}
		fields = append(fields, field{key, kindName(f.Type), strings.Join(strings.Fields(doc), " ")})
	}
	return fields
}

func kindName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return kindName(e.X)
	case *ast.ArrayType:
		return "list of " + kindName(e.Elt)
	case *ast.MapType:
		return "object of " + kindName(e.Value)
	case *ast.SelectorExpr:
		if e.Sel.Name == "RawMessage" {
			return "any JSON"
		}
		return strings.ToLower(e.Sel.Name)
	case *ast.Ident:
		switch {
		case e.Name == "bool":
			return "true or false"
		case e.Name == "string", e.Name == "Text", e.Name == "BlobRef":
			return "text"
		case strings.HasPrefix(e.Name, "int"), strings.HasPrefix(e.Name, "uint"):
			return "whole number"
		case strings.HasPrefix(e.Name, "float"):
			return "number"
		case e.Name == "Duration":
			return "a duration such as 10m"
		}
		return "[" + e.Name + "](#" + strings.ToLower(e.Name) + ")"
	}
	return ""
}

// sentence returns a doc comment without the name that it begins with.
func sentence(doc *ast.CommentGroup, name string) string {
	text := strings.Join(strings.Fields(doc.Text()), " ")
	if rest, ok := strings.CutPrefix(text, name+": "); ok {
		return strings.ToUpper(rest[:1]) + rest[1:]
	}
	return text
}
