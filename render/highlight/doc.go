// Package highlight splits source code into classified tokens, for terminals and for HTML.
//
//	for _, token := range highlight.ByFile("main.go").Tokens(code) {
//		print(token.Class, token.Text)
//	}
//
// One scanner reads all languages from a table: which marks begin comments and strings, and which
// words are keywords. That colours code well enough to be read, at no cost when a program starts.
// It is not a parser: a regular expression or a nested template may get the wrong class.
//
// # Guarantees
//
// The texts of the tokens, joined, are the code: no byte is lost, added or moved. Time is linear in
// the length of the code, whatever it contains.
//
// # Not here
//
// Colours (package render/theme), and guessing the language of a text that names none.
package highlight
