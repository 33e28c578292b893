package theme

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// Theme is how the things that a program shows look. Each is readable on the background that the
// theme is for, and what they mean is also said in words. A Theme is a value; two are equal if all
// their styles are.
type Theme struct {
	Dark  bool // the background is dark
	Color bool // there are colours

	Text    Style // the terminal's own
	Dim     Style // what matters less
	Bold    Style
	Italic  Style
	Thought Style // what the agent thinks
	Accent  Style // names, headings, keys
	Good    Style
	Warning Style
	Failure Style
	Added   Style // lines of a change
	Removed Style
	Border  Style // lines between parts of the screen
	Person  Style // what a person wrote
	// Selected marks the chosen row of a list, Match what a search found, Current the match that
	// the search is at, Bar a row that frames the screen.
	Selected Style
	Match    Style
	Current  Style
	Bar      Style

	Code Code
}

// Code is how the classes of tokens in source text look.
type Code struct {
	Keyword  Style
	Type     Style
	Function Style
	Text     Style // string literals
	Number   Style
	Comment  Style
	Constant Style // literals that are words: true, nil
	Operator Style
	Name     Style // attributes, keys, variables
	Inline   Style // code within a sentence
	Link     Style
}

// Colors says how many colours a terminal has.
type Colors = colorprofile.Profile

// ColorsOf returns what the environment says about a terminal: NO_COLOR with any value turns
// colours off, CLICOLOR_FORCE turns them on, and a dumb terminal has none. It starts no program.
func ColorsOf(environ []string) Colors {
	found := colorprofile.Env(environ)
	off := false // by the last one, if it is there twice
	for _, assignment := range environ {
		if value, ok := strings.CutPrefix(assignment, "NO_COLOR="); ok {
			off = value != ""
		}
	}
	if off && found > colorprofile.ASCII {
		return colorprofile.ASCII
	}
	return found
}

// A look is a style before it is known what the terminal can show.
type look struct {
	dark, light int    // of the 256 colours; 0 is the terminal's own
	basic       int    // of the 16 colours, as in SGR: 31 is red; 0 is the terminal's own
	always      string // SGR parameters that every terminal gets
	plain       string // SGR parameters for a terminal without colours, besides
	background  bool   // dark and light are the background, of a black text
}

// looks are the styles of a theme, in one table so that they can be compared.
var looks = map[string]look{
	"dim":      {dark: 245, light: 243, basic: 90, plain: "2"},
	"bold":     {always: "1"},
	"italic":   {always: "3"},
	"thought":  {dark: 245, light: 243, basic: 90, always: "3", plain: "2"},
	"accent":   {dark: 75, light: 25, basic: 36, plain: "1"},
	"good":     {dark: 114, light: 28, basic: 32},
	"warning":  {dark: 221, light: 130, basic: 33, plain: "1"},
	"failure":  {dark: 210, light: 160, basic: 31, plain: "1"},
	"added":    {dark: 114, light: 28, basic: 32},
	"removed":  {dark: 210, light: 160, basic: 31, plain: "2"},
	"border":   {dark: 240, light: 249, basic: 90, plain: "2"},
	"person":   {dark: 183, light: 91, basic: 35, always: "1"},
	"selected": {always: "7"},
	"match":    {dark: 229, light: 229, basic: 43, plain: "4", background: true},
	"current":  {dark: 215, light: 215, basic: 46, plain: "7", background: true},
	"bar":      {dark: 252, light: 236, always: "1"},

	"keyword":  {dark: 176, light: 91, basic: 35, plain: "1"},
	"type":     {dark: 80, light: 30, basic: 36},
	"function": {dark: 75, light: 25, basic: 34},
	"string":   {dark: 150, light: 28, basic: 32},
	"number":   {dark: 216, light: 130, basic: 33},
	"comment":  {dark: 245, light: 243, basic: 90, always: "3", plain: "2"},
	"constant": {dark: 216, light: 130, basic: 33},
	"operator": {dark: 250, light: 240},
	"name":     {dark: 117, light: 24, basic: 36},
	"inline":   {dark: 216, light: 125, basic: 33, plain: "1"},
	"link":     {dark: 75, light: 25, basic: 34, always: "4"},
}

// New returns the theme for a dark or light background and so many colours. Without any, not
// even bold, its styles are all the terminal's own.
func New(dark bool, colors Colors) Theme {
	t := Theme{Dark: dark, Color: colors > colorprofile.ASCII}
	for name, at := range map[string]*Style{
		"dim": &t.Dim, "bold": &t.Bold, "italic": &t.Italic, "thought": &t.Thought, "accent": &t.Accent,
		"good": &t.Good, "warning": &t.Warning, "failure": &t.Failure, "added": &t.Added, "removed": &t.Removed,
		"border": &t.Border, "person": &t.Person, "selected": &t.Selected, "match": &t.Match, "current": &t.Current, "bar": &t.Bar,
		"keyword": &t.Code.Keyword, "type": &t.Code.Type, "function": &t.Code.Function, "string": &t.Code.Text,
		"number": &t.Code.Number, "comment": &t.Code.Comment, "constant": &t.Code.Constant, "operator": &t.Code.Operator,
		"name": &t.Code.Name, "inline": &t.Code.Inline, "link": &t.Code.Link,
	} {
		*at = looks[name].style(dark, colors)
	}
	return t
}

// style is the look on a background with so many colours.
func (l look) style(dark bool, colors Colors) Style {
	var parameters []string
	add := func(text string) {
		if text != "" {
			parameters = append(parameters, text)
		}
	}
	if colors < colorprofile.ASCII {
		return Style{}
	}
	add(l.always)
	index := l.light
	if dark {
		index = l.dark
	}
	switch {
	case colors == colorprofile.ASCII:
		add(l.plain)
	case colors == colorprofile.ANSI && l.basic > 0:
		if l.background {
			add("30")
		}
		add(fmt.Sprint(l.basic))
	case colors > colorprofile.ANSI && index > 0 && l.background:
		add(fmt.Sprintf("38;5;16;48;5;%d", index))
	case colors > colorprofile.ANSI && index > 0:
		add(fmt.Sprintf("38;5;%d", index))
	}
	if len(parameters) == 0 {
		return Style{}
	}
	return Style{"\x1b[" + strings.Join(parameters, ";") + "m"}
}
