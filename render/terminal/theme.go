package terminal

import "github.com/ralph-loop/ralph/render/theme"

// The theme that a program gets is that of package theme.
type (
	Theme  = theme.Theme
	Code   = theme.Code
	Style  = theme.Style
	Colors = theme.Colors
)

// ColorsOf returns what the environment says about a terminal, as [theme.ColorsOf].
func ColorsOf(environ []string) Colors { return theme.ColorsOf(environ) }

// NewTheme returns the theme for a dark or light background and so many colours, as [theme.New].
func NewTheme(dark bool, colors Colors) Theme { return theme.New(dark, colors) }
