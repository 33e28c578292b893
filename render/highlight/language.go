package highlight

import (
	"path"
	"strings"
	"sync"
)

// A Language is a row of the table. All methods may be called on nil, which is plain text.
type Language struct {
	names string // the first is the language's name; all may follow a fence
	files string // suffixes such as ".go", and complete names such as "Makefile"

	delimiters []*delimiter
	keywords   string
	types      string // built-in types and constants
	caseless   bool   // of keywords
	calls      bool   // a word before "(" is a function
	upper      bool   // a word that begins with a capital letter is a type
	letters    string // further characters of a word
	key        byte   // what follows a key, as in JSON
	variable   byte   // what begins a variable
	directive  byte   // what begins a keyword, as # in C
	decorator  byte   // what begins a decorator
	special    special

	once    sync.Once
	classes map[string]Class
	begins  [256]bool // the first bytes of delimiters
}

// special is a reader for what the table cannot describe.
type special uint8

const (
	table special = iota // none: the table describes all
	console
	diff
	markdown
	markup
	sections
)

// A delimiter begins and ends a string or a comment.
type delimiter struct {
	open, close string // without close it ends with the line
	class       Class
	escape      byte // what takes the meaning from the next character
	lines       bool // it may continue on the next line
	nested      bool
	apart       bool // it begins only after a blank or at the beginning of the line
	char        bool // it has one character, else the mark means something else
}

// ByName returns the language that a fence names, nil if it is unknown. Only the first word counts,
// as in "go title=main.go".
func ByName(info string) *Language {
	name := info
	if i := strings.IndexAny(name, " \t,{:"); i >= 0 {
		name = name[:i]
	}
	name = strings.ToLower(strings.TrimPrefix(name, "."))
	if name == "" {
		return nil
	}
	for _, l := range languages {
		if listed(l.names, name) {
			return l
		}
	}
	for _, l := range languages {
		if listed(l.files, "."+name) {
			return l
		}
	}
	return nil
}

// ByFile returns the language of a file by its name, nil if it is unknown. Slashes and backslashes
// separate folders.
func ByFile(name string) *Language {
	name = name[strings.LastIndexByte(name, '\\')+1:]
	name = strings.ToLower(path.Base(name))
	ext := path.Ext(name)
	for _, l := range languages {
		if listed(l.files, name) || ext != "" && listed(l.files, ext) {
			return l
		}
	}
	if stem, _, ok := strings.Cut(name, "."); ok && (stem == "dockerfile" || stem == "makefile") {
		return ByFile(stem)
	}
	return nil
}

// Name returns the language's usual name in lower case, and "" for nil.
func (l *Language) Name() string {
	if l == nil {
		return ""
	}
	return l.name()
}

func (l *Language) name() string {
	name, _, _ := strings.Cut(l.names, " ")
	return name
}

// listed reports whether a list of words contains a word.
func listed(list, word string) bool {
	for field := range strings.FieldsSeq(list) {
		if field == word {
			return true
		}
	}
	return false
}

// prepare computes what is derived from a row, once it is needed.
func (l *Language) prepare() {
	l.once.Do(func() {
		l.classes = make(map[string]Class)
		for word := range strings.FieldsSeq(l.types) {
			l.classes[word] = Type
		}
		for word := range strings.FieldsSeq(l.keywords) {
			l.classes[word] = Keyword
		}
		for _, d := range l.delimiters {
			l.begins[d.open[0]] = true
		}
	})
}

// classOf looks a word up.
func (l *Language) classOf(word string) Class {
	if len(word) > 24 {
		return Plain
	}
	l.prepare()
	if l.caseless {
		word = strings.ToLower(word)
	}
	return l.classes[word]
}

// delimiterAt returns the delimiter that begins at a position, nil if none does.
func (l *Language) delimiterAt(line string, at int) *delimiter {
	l.prepare()
	if !l.begins[line[at]] {
		return nil
	}
	for _, d := range l.delimiters {
		switch {
		case !strings.HasPrefix(line[at:], d.open):
		case d.apart && at > 0 && line[at-1] != ' ' && line[at-1] != '\t':
		case d.char && !isChar(line[at+1:]):
		default:
			return d
		}
	}
	return nil
}

// isChar reports whether a character and a quote follow.
func isChar(rest string) bool {
	if strings.HasPrefix(rest, `\`) {
		return strings.IndexByte(rest[1:min(len(rest), 14)], '\'') >= 0
	}
	for i, r := range rest {
		if i > 0 {
			return r == '\''
		}
	}
	return false
}

// inWord reports whether a byte belongs to a word. All of UTF-8 beyond ASCII does.
func (l *Language) inWord(c byte) bool {
	return isLetter(c) || c == '_' || c >= 0x80 || l.letters != "" && strings.IndexByte(l.letters, c) >= 0
}

// wordEnd returns where a word ends.
func (l *Language) wordEnd(line string, at int) int {
	for at < len(line) && (l.inWord(line[at]) || isDigit(line[at])) {
		at++
	}
	return at
}

// keyAfter reports whether the mark of a key follows, with blanks before it or not.
func (l *Language) keyAfter(line string, at int) bool {
	if l.key == 0 {
		return false
	}
	most := min(len(line), at+keyBlanks)
	for at < most && line[at] == ' ' {
		at++
	}
	if at >= most || line[at] != l.key {
		return false
	}
	return l.key != ':' || l.name() == "json" || at+1 == len(line) || line[at+1] == ' '
}

// keyBlanks is how many blanks may separate a key from its mark.
const keyBlanks = 32
