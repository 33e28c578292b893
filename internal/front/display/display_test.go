package display_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/render/terminal"
)

// The person's settings say what a terminal shows; settings that cannot be read change nothing.
func TestProgramFollowsSettings(t *testing.T) {
	all := terminal.Show{Title: true, Progress: true, Status: true, Notify: true}
	quiet := all
	quiet.Notify, quiet.Title = false, false
	for text, want := range map[string]terminal.Show{
		`{}`: all,
		`{"terminal": {"notify": false, "title": false}}`: quiet,
		`{"terminal": {"notify": `:                        all,
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e := &cli.Env{Home: home, Cwd: t.TempDir()}
		if got := display.Options(e).Show; got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
