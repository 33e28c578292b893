package highlight

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
)

func TestTokensOfEachLanguage(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".in")
		t.Run(name, func(t *testing.T) {
			code := read(t, file)
			l := ByName(name)
			if l == nil {
				t.Fatalf("no language %q", name)
			}
			var got strings.Builder
			for _, token := range l.Tokens(code) {
				fmt.Fprintf(&got, "%-8s %q\n", token.Class, token.Text)
			}
			golden.Check(t, strings.TrimSuffix(file, ".in")+".golden", got.String())
		})
	}
}

func read(t *testing.T, name string) string { t.Helper(); return string(testfile.Read(t, name)) }

func TestLanguageByName(t *testing.T) {
	for info, want := range map[string]string{
		"go": "go", "Go title=main.go": "go", "ts,ignore": "typescript", "py": "python", "rs": "rust", "c++": "cpp", "C#": "csharp",
		"sh": "shell", ".rs": "rust", "kts": "kotlin", "tf": "hcl", "": "", "no-such": "", "jsonl": "json", "yml": "yaml",
	} {
		if got := ByName(info).Name(); got != want {
			t.Errorf("ByName(%q) = %q, want %q", info, got, want)
		}
	}
	for file, want := range map[string]string{
		"a/b/main.go": "go", `C:\x\Main.java`: "java", "Dockerfile": "dockerfile", "Dockerfile.dev": "dockerfile", "Makefile": "make",
		"x.TSX": "typescript", "README": "", "a.unknown": "", "": "", "go": "", ".bashrc": "shell", "x.patch": "diff",
	} {
		if got := ByFile(file).Name(); got != want {
			t.Errorf("ByFile(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, l := range languages {
		for _, word := range strings.Fields(l.names + " " + l.files) {
			if other, ok := seen[word]; ok && other != l.name() {
				t.Errorf("%q belongs to %s and %s", word, other, l.name())
			}
			seen[word] = l.name()
		}
	}
}

// check reports tokens that do not add up to the code, and neighbours of one class.
func check(t interface{ Fatalf(string, ...any) }, l *Language, code string) {
	var joined strings.Builder
	last := Class(255)
	for _, token := range l.Tokens(code) {
		if token.Class == last || token.Text == "" {
			t.Fatalf("%s %q: token %q of class %s after one of the same, or empty", l.Name(), code, token.Text, token.Class)
		}
		last = token.Class
		joined.WriteString(token.Text)
	}
	if joined.String() != code {
		t.Fatalf("%s: tokens of %q add up to %q", l.Name(), code, joined.String())
	}
}

func TestTokensKeepEachByte(t *testing.T) {
	pieces := []string{"\"", "'", "`", "/*", "*/", "//", "#", "<script>", "</script>", "<style", ">", "<!--", "-->", "```go\n", "```", "\n", "\\", " ", "a", "9", "func", "é", "世", "\xff",
		"r#\"", "\"#", "${", "}", "$(", "$", "@", ":", "=", "[", "+", "- ", "--[[", "]]", "{-", "-}", "\"\"\"", "if", "(", "X"}
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(append([]*Language{nil}, languages...)).Draw(t, "language")
		code := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "code"), "")
		check(t, l, code)
	})
}

func FuzzTokens(f *testing.F) {
	for i := range languages {
		f.Add(i, "func a() { return \"x\\\"\" } /* b\n */ # <script>`c`</script>\n```go\nx\n```")
	}
	f.Fuzz(func(t *testing.T, i int, code string) {
		check(t, languages[uint(i)%uint(len(languages))], code)
	})
}

// Text that makes a careless scanner look ahead from each byte again.
func hostile(n int) map[string]string {
	texts := map[string]string{}
	for _, piece := range []string{"${", "$(", "\"", "'", "'\\", "a ", "a:", "/*", "<", "<script>", "<script></script>", "a\n", "/*\n", "`", "r#", "x:            ", "[[", "</", "<!-", "0", "$a", "@a", "- `"} {
		texts[piece] = strings.Repeat(piece, n/len(piece))
	}
	return texts
}

func BenchmarkTokens(b *testing.B) {
	code := strings.Repeat("func add(tokens []Token, text string) []Token { // joins\n\treturn append(tokens, Token{\"a\\n\", 12, text})\n}\n", 100)
	l := ByName("go")
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		l.Tokens(code)
	}
}

func BenchmarkHostile(b *testing.B) {
	texts := hostile(64 << 10)
	b.SetBytes(int64(64 << 10 * len(texts) * len(languages)))
	for b.Loop() {
		for _, l := range languages {
			for _, code := range texts {
				l.Tokens(code)
			}
		}
	}
}
