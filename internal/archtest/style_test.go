package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const mostWords = 5 // of a test's name, after Test

func TestNamesOfTestsAreShort(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	eachText(t, func(name, text string) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, m := range declared.FindAllStringSubmatchIndex(text, -1) {
			test := text[m[2]:m[3]]
			if n := camelWords(strings.TrimPrefix(test, "Test")); n > mostWords {
				t.Errorf("%s:%d: %s has %d words, at most %d: the names of subtests carry the rest",
					name, 1+strings.Count(text[:m[0]], "\n"), test, n, mostWords)
			}
		}
	})
}

func TestCamelWords(t *testing.T) {
	for name, want := range map[string]int{
		"": 0, "Next": 1, "StartWaitsForUnregisteredHolder": 5, "ACPAgent": 2, "ReadsJSON": 2, "Version1Reads": 2, "Run_Stops": 2,
	} {
		if got := camelWords(name); got != want {
			t.Errorf("%s has %d words, want %d", name, got, want)
		}
	}
}

// camelWords counts words. Initials, as in ACPAgent, are one word.
func camelWords(name string) int {
	runes := []rune(name)
	count := 0
	for i, r := range runes {
		if !unicode.IsUpper(r) {
			continue
		}
		afterLower := i == 0 || !unicode.IsUpper(runes[i-1])
		beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if afterLower || beforeLower {
			count++
		}
	}
	return count
}

// A test that draws its inputs must draw the same ones each time, and one that runs git must not
// meet a person's repository.
func TestTestsAreApart(t *testing.T) {
	for _, row := range []struct {
		uses    *regexp.Regexp
		imports string
		least   int // packages that do
		why     string
	}{
		{regexp.MustCompile(`"pgregory.net/rapid"`), "internal/testkit/testseed", 10, "draws other inputs in each run"},
		{regexp.MustCompile(`exec\.Command(Context)?\((\w+(\.Context\(\))?, )?"git"`), "internal/testkit/testgit", 4, "runs git in a repository that the environment may name"},
	} {
		users, apart := map[string]string{}, map[string]bool{}
		eachText(t, func(name, text string) {
			if strings.HasSuffix(name, "_test.go") && row.uses.MatchString(text) {
				users[filepath.Dir(name)] = name
			}
			if strings.Contains(text, `_ "`+module+row.imports+`"`) {
				apart[filepath.Dir(name)] = true
			}
		})
		delete(users, "internal/archtest") // this file
		if len(users) < row.least {
			t.Errorf("%d packages were found that %s", len(users), row.why)
		}
		for folder, name := range users {
			if !apart[folder] {
				t.Errorf("%s %s: import _ %q", name, row.why, module+row.imports)
			}
		}
	}
}

const mostVerbLines = 120 // of a file in cmd/ralph: flags, help and wiring

func TestVerbFilesAreShort(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "cmd/ralph/*.go"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > mostVerbLines {
			t.Errorf("%s has %d lines, at most %d: what a verb does, besides its flags and help, belongs to a package", filepath.Base(path), n, mostVerbLines)
		}
	}
}

const widest = 100 // columns of a comment; a tab counts as four

func TestCommentsWrap(t *testing.T) {
	eachText(t, func(name, text string) {
		if !strings.HasSuffix(name, ".go") {
			return
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			if columns := tooWide(line); columns > 0 {
				t.Errorf("%s:%d: this comment has %d columns, at most %d", name, number, columns, widest)
			}
		}
	})
}

func TestTooWide(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for line, want := range map[string]bool{
		"// " + long[:97]:                     false,
		"\t// " + long[:94]:                   true,
		"\t\tcall() // " + long:               false, // code
		"//go:generate " + long:               false,
		"// see https://example.org/" + long:  false,
		"//\tcode " + long:                    false,
		"// " + strings.Repeat("word", 40):    false, // cannot be wrapped
		"/" + "/ ünïcödé " + long[:88] + "\n": false,
	} {
		if got := tooWide(line) > 0; got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// tooWide returns the columns of a line that is a comment, is too wide and could be wrapped.
func tooWide(line string) int {
	line = strings.TrimRight(line, "\r\n ")
	comment, ok := strings.CutPrefix(strings.TrimLeft(line, "\t "), "// ")
	if !ok || strings.HasPrefix(comment, "   ") || strings.Contains(comment, "://") || !strings.Contains(comment, " ") {
		return 0 // code, a directive, an example, an address, or a single word
	}
	if columns := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); columns > widest {
		return columns
	}
	return 0
}

// Bounds of what a person reads at once. A line that a long text makes wide is no trouble, since
// the text is read as one.
const (
	widestCode  = 160 // columns; a tab counts as four
	longText    = 60  // bytes of a literal
	mostOfAFunc = 80  // lines
)

// early finds a regular expression that is compiled when the program starts: every command would
// wait for it.
var early = regexp.MustCompile(`(?m)^(?:var .*|\t(?:\w+ +=|\{|[^\s/(]*:) .*)regexp\.MustCompile\(`)

func TestPatternsAreCompiledLater(t *testing.T) {
	eachText(t, func(name, text string) {
		if !isProduct(name) || strings.HasPrefix(name, "pool/") { // a module of its own: units is not public
			return
		}
		if found := early.FindString(text); found != "" {
			t.Errorf("%s: %s: each command would wait for it to be compiled; units.Pattern compiles it later", name, found)
		}
	})
	for text, want := range map[string]bool{
		"var word = regexp.MustCompile(`x`)":                    true,
		"var (\n\tword = regexp.MustCompile(`x`)\n)":            true,
		"\t\".go\": {header: regexp.MustCompile(`x`)},":         true,
		"\treturn regexp.MustCompile(name)":                     false,
		"\tword := regexp.MustCompile(name)":                    false,
		"var word = units.Pattern(`x`)":                         false,
		"\t\tif regexp.MustCompile(target).MatchString(text) {": false,
	} {
		if early.MatchString(text) != want {
			t.Errorf("%q is found: %t", text, !want)
		}
	}
}

func TestCodeIsReadable(t *testing.T) {
	eachText(t, func(name, text string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
			return
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[int]bool{}
		for n := range ast.Preorder(tree) {
			switch n := n.(type) {
			case *ast.BasicLit:
				texts[set.Position(n.Pos()).Line] = texts[set.Position(n.Pos()).Line] || len(n.Value) > longText
			case *ast.FuncDecl:
				if lines := set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1; lines > mostOfAFunc {
					t.Errorf("%s: %s has %d lines, at most %d", name, n.Name.Name, lines, mostOfAFunc)
				}
			}
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			columns := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    "))
			if columns > widestCode && !texts[number] && !strings.HasPrefix(strings.TrimSpace(line), "//") {
				t.Errorf("%s:%d: this line has %d columns, at most %d", name, number, columns, widestCode)
			}
		}
	})
}
