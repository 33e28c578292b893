package mutant

import (
	"path"
	"strings"
)

// language is how the text of a language is read.
type language struct {
	name   string
	line   []string  // begin a comment that ends with its line
	block  [2]string // around a comment of several lines
	quotes string    // around strings of one line
	long   []string  // around strings of several lines
	// chars says that ' is around one character, and strings are in other quotes.
	chars bool
	regex bool // has literals such as /a+/
	// braces says that blocks are in braces; indent that they are indented lines.
	braces, indent bool
	words          bool // and, or, not
	// bare says that the condition of an if is not in parentheses.
	bare bool
	// empty is a statement that does nothing; "" where a line can be left out.
	empty string
}

var cLike = language{line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"`, chars: true, braces: true, empty: ";"}

// like returns a language that is read as C is, with differences.
func like(name string, differ func(*language)) *language {
	l := cLike
	l.name = name
	if differ != nil {
		differ(&l)
	}
	return &l
}

var (
	goLanguage = like("go", func(l *language) { l.long, l.bare, l.empty = []string{"`"}, true, "" })
	javascript = like("javascript", func(l *language) {
		l.quotes, l.chars, l.long, l.regex = `"'`, false, []string{"`"}, true
	})
	typescript = like("typescript", func(l *language) {
		l.quotes, l.chars, l.long, l.regex = `"'`, false, []string{"`"}, true
	})
	python = &language{name: "python", line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, indent: true, words: true, bare: true, empty: "pass"}
	shell  = &language{name: "shell", line: []string{"#"}, quotes: `"'`, braces: true, bare: true, empty: ":"}
	ruby   = &language{name: "ruby", line: []string{"#"}, quotes: `"'`, bare: true, words: true, empty: "nil"}
	rust   = like("rust", func(l *language) { l.bare = true })
	swift  = like("swift", func(l *language) { l.bare, l.long, l.empty = true, []string{`"""`}, "" })
	kotlin = like("kotlin", func(l *language) { l.long, l.empty = []string{`"""`}, "" })
	php    = like("php", func(l *language) { l.quotes, l.chars, l.line = `"'`, false, []string{"//", "#"} })
	// generic is that of a file whose extension is not known.
	generic = &language{name: "generic", line: []string{"//", "#"}, quotes: `"'`, bare: true}
)

// languages are those of the extensions of files.
var languages = map[string]*language{
	".go": goLanguage, ".js": javascript, ".jsx": javascript, ".mjs": javascript, ".cjs": javascript,
	".ts": typescript, ".tsx": typescript, ".mts": typescript, ".cts": typescript, ".py": python, ".pyx": python,
	".sh": shell, ".bash": shell, ".zsh": shell, ".rb": ruby, ".rs": rust, ".swift": swift, ".kt": kotlin, ".kts": kotlin, ".php": php,
	".java": like("java", nil), ".cs": like("c#", nil), ".c": like("c", nil), ".h": like("c", nil),
	".cc": like("c++", nil), ".cpp": like("c++", nil), ".cxx": like("c++", nil), ".hpp": like("c++", nil), ".hh": like("c++", nil),
	".scala": like("scala", func(l *language) { l.long, l.empty = []string{`"""`}, "" }), ".dart": like("dart", func(l *language) {
		l.quotes, l.chars = `"'`, false
	}),
	".sql": {name: "sql", line: []string{"--"}, block: cLike.block, quotes: `'`, words: true},
	".lua": {name: "lua", line: []string{"--"}, quotes: `"'`, words: true, bare: true},
}

// languageOf returns that of a file, by its name and its first line.
func languageOf(file, content string) *language {
	if l := languages[strings.ToLower(path.Ext(file))]; l != nil {
		return l
	}
	first, _, _ := strings.Cut(content, "\n")
	switch {
	case !strings.HasPrefix(first, "#!"):
	case strings.Contains(first, "python"):
		return python
	case strings.Contains(first, "node"):
		return javascript
	case strings.Contains(first, "ruby"):
		return ruby
	case strings.HasSuffix(strings.TrimSpace(first), "sh"):
		return shell
	}
	return generic
}
