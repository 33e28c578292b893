package mutant

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

var typeBefore = units.Pattern(`([\w<>\[\],.*&?:]+)\s+[*&]?[\w:~]+$`)

// returned returns the statement by which a function returns nothing, or the zero of its type;
// false where the text does not say that.
func (f *file) returned(fn function) (string, bool) {
	switch f.name {
	case "python":
		return "return None", !strings.Contains(fn.text, "__init__") && !strings.Contains(fn.text, "-> NoReturn")
	case "ruby":
		return "return nil", !strings.Contains(fn.text, "initialize")
	case "shell":
		return "return 0", true
	}
	text := strings.TrimSpace(fn.text[:strings.LastIndex(fn.text, "{")])
	open := f.parameters(text)
	end := closing(text, open)
	if end < 0 {
		end = len(text)
	}
	before, after := strings.TrimSpace(text[:open]), strings.TrimSpace(text[end:])
	switch f.name {
	case "javascript":
		return "return;", !strings.HasSuffix(before, "constructor")
	case "typescript":
		return "return undefined as any;", !strings.HasSuffix(before, "constructor") && !strings.Contains(" "+before, " set ")
	case "php":
		return "return null;", !strings.HasSuffix(before, "__construct") && !strings.Contains(after, "void")
	case "go":
		value, ok := goZeros(after)
		return "if true {\n\t" + indentOf(f.lines[fn.body].text) + strings.TrimSpace("return "+value) + "\n" + indentOf(f.lines[fn.body].text) + "}", ok
	case "rust":
		_, kind, found := strings.Cut(after, "->")
		return rustZero(strings.TrimSpace(kind), found)
	case "kotlin":
		_, kind, found := strings.Cut(after, ":")
		return namedZero(strings.TrimSpace(kind), found, "null")
	case "swift":
		_, kind, found := strings.Cut(after, "->")
		return namedZero(strings.TrimSpace(kind), found, "nil")
	case "c", "c++", "java", "c#":
		kind := typeBefore().FindStringSubmatch(before)
		if kind == nil {
			return "", false
		}
		return typedZero(f.name, kind[1], strings.Contains(before, "async"))
	}
	return "", false
}

// goZeros returns the zeros of the results of a function.
func goZeros(results string) (string, bool) {
	results = strings.TrimSpace(results)
	if results == "" {
		return "", true
	}
	if results[0] == '(' {
		if closing(results, 0) != len(results) {
			return "", false
		}
		results = results[1 : len(results)-1]
	}
	var zeros []string
	for _, kind := range splitList(results) {
		if name, rest, ok := strings.Cut(kind, " "); ok && !strings.HasPrefix(kind, "func") && !strings.HasPrefix(kind, "chan") &&
			!strings.HasPrefix(kind, "map") && !strings.HasPrefix(kind, "<-") && !strings.ContainsAny(name, "[*.(") && rest != "" {
			return "", true // named results have their zeros
		}
		zeros = append(zeros, goZero(kind))
	}
	return strings.Join(zeros, ", "), true
}

var goNumber = units.Pattern(`^(?:u?int(?:8|16|32|64|ptr)?|byte|rune|float(?:32|64)|complex(?:64|128))$`)

func goZero(kind string) string {
	switch kind {
	case "string":
		return `""`
	case "bool":
		return "false"
	case "error", "any":
		return "nil"
	}
	if goNumber().MatchString(kind) {
		return "0"
	}
	for _, begin := range []string{"*", "[]", "map[", "chan ", "<-chan ", "func(", "interface{"} {
		if strings.HasPrefix(kind, begin) {
			return "nil"
		}
	}
	return "*new(" + kind + ")"
}

// splitList splits at the commas that are in no bracket.
func splitList(text string) (parts []string) {
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(text[from:]))
}

func rustZero(kind string, found bool) (string, bool) {
	kind, _, _ = strings.Cut(kind, " where ")
	switch {
	case !found || kind == "()":
		return "return;", true
	case strings.HasPrefix(kind, "Option<"):
		return "return None;", true
	case strings.HasPrefix(kind, "Result<"):
		return "return Ok(Default::default());", true
	case kind == "bool":
		return "return false;", true
	case strings.HasPrefix(kind, "impl ") || strings.HasPrefix(kind, "&mut"), kind == "Self":
		return "", false
	}
	return "return Default::default();", true
}

// namedZero is that of Kotlin and Swift.
func namedZero(kind string, found bool, none string) (string, bool) {
	switch {
	case !found || kind == "Unit" || kind == "Void" || kind == "()":
		return "return", true
	case strings.HasSuffix(kind, "?"):
		return "return " + none, true
	}
	zero, ok := map[string]string{
		"Int": "0", "Long": "0L", "Double": "0.0", "Boolean": "false", "Bool": "false", "String": `""`, "Int64": "0", "UInt": "0",
	}[kind]
	return "return " + zero, ok
}

func typedZero(language, kind string, async bool) (string, bool) {
	guard := "if (true) "
	if language == "c" || language == "c++" {
		guard = ""
	}
	isNumber := slices.Contains([]string{"int", "long", "short", "byte", "char", "float", "double", "size_t", "unsigned"}, kind)
	switch {
	case kind == "void", kind == "Task" && async:
		return guard + "return;", true
	case language == "c#":
		return guard + "return default;", true
	case language == "c++":
		return "return {};", true
	case language == "c":
		return "return 0;", isNumber || kind == "bool" || strings.HasSuffix(kind, "*") || strings.HasSuffix(kind, "_t")
	case kind == "boolean":
		return guard + "return false;", true
	case isNumber:
		return guard + "return 0;", true
	case kind == "new" || kind == "public" || kind == "private" || kind == "protected":
		return "", false
	}
	return guard + "return null;", true
}
