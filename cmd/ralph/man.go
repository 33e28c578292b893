//go:build !ralph_core

package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/manual"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

type manVerb struct {
	Verb     string `arg:"" optional:"" complete:"verb" help:"The verb; without one, the page of ralph itself."`
	Dir      string `placeholder:"DIR" help:"Write all pages into this folder instead, such as ~/.local/share/man/man1."`
	Markdown bool   `help:"Print all of the manual as one page of Markdown."`
}

// Help shows examples.
func (manVerb) Help() string {
	return "The page is in the format of man(1).\n\n" + cli.Examples("ralph man logs > ralph-logs.1", "ralph man --dir ~/.local/share/man/man1")
}

// Run prints or writes the manual.
func (v *manVerb) Run(e *cli.Env) error {
	parser, err := commands().Parser(nil, func(int) {})
	if err != nil {
		return err
	}
	m := manual.Of(parser.Model)
	switch {
	case v.Markdown:
		_, err = io.WriteString(e.Stdout, m.Markdown())
		return err
	case v.Dir != "":
		return v.write(e, m)
	}
	page, ok := m.Page(v.Verb, cli.BuildVersion(), manualDate(e))
	if !ok {
		return commands().NoVerb(v.Verb)
	}
	_, err = io.WriteString(e.Stdout, page)
	return err
}

// write writes all pages into a folder.
func (v *manVerb) write(e *cli.Env, m manual.Manual) error {
	dir := e.Abs(v.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.Refuse("name a folder that you may write to", "make the folder of the manual: %w", err)
	}
	for _, page := range m.Pages(cli.BuildVersion(), manualDate(e)) {
		if err := safefile.WriteFile(filepath.Join(dir, page.Name), []byte(page.Roff), 0o644); err != nil {
			return cli.Refuse("name a folder that you may write to", "write the manual: %w", err)
		}
	}
	return nil
}

// manualDate is the date of the pages: that of SOURCE_DATE_EPOCH, for builds that can be repeated,
// else today.
func manualDate(e *cli.Env) string {
	at := e.Now()
	if seconds, err := strconv.ParseInt(e.Variable("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		at = time.Unix(seconds, 0).UTC()
	}
	return at.Format(time.DateOnly)
}
