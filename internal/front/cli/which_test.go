package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/registry"
)

// TestFirstWordIsLoop sends words to loops, of this project unless a slash names another one. Those
// with an exclamation mark run.
func TestFirstWordIsLoop(t *testing.T) {
	for name, c := range map[string]struct {
		loops, words string
		loop, hint   string // the loop that gets the words, or what the refusal suggests
	}{
		"a loop's name":                           {"quiet! other", "quiet go on", "quiet", ""},
		"the name of one that has ended":          {"quiet other!", "quiet go on", "quiet", ""},
		"text for the only loop":                  {"quiet!", "use tabs", "", ""},
		"text beside ended loops":                 {"quiet! parser docs", "use tabs", "", ""},
		"text beside loops elsewhere":             {"quiet! shop/use shop/tabs!", "use tabs", "", ""},
		"a mistyped name":                         {"quiet!", "quite go on", "", "did you mean quiet? else 'ralph list --all' shows the loops; where it is text, put all of it in quotes: 'quite go on'"},
		"a mistyped name of one that has ended":   {"quiet other!", "quite go on", "", "did you mean quiet?"},
		"a mistyped name of one elsewhere":        {"other! shop/quiet!", "quite go on", "", "did you mean quiet?"},
		"like one that has ended elsewhere":       {"other! shop/quiet", "quite go on", "", ""},
		"a mistyped name in quotes":               {"quiet!", "'quite go on'", "", ""},
		"a mistyped name alone":                   {"quiet!", "quite", "", ""},
		"the beginning of a name":                 {"fix-login!", "fix the tests", "", ""},
		"a name with a number":                    {"quiet!", "l3 hi", "", "put all of it in quotes: 'l3 hi'"},
		"a number":                                {"quiet!", "3 tests fail", "", ""},
		"a sentence":                              {"quiet!", "Quite so", "", ""},
		"any word where several loops run":        {"quiet! parser!", "use tabs", "", "begin with the name at the beginning of its line"},
		"text in quotes where several loops run":  {"quiet! parser!", "'use tabs'", "", ""},
		"any word where several run on a machine": {"shop/quiet! shop/parser!", "use tabs", "", "begin with the name at the beginning of its line"},
		"text where no loop runs":                 {"quiet", "use tabs", "", ""},
		"a name of another project":               {"quiet! shop/parser", "shop/parser go on", "shop/parser", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := withLoops(t, strings.Fields(c.loops)...)
			words := strings.Fields(c.words)
			if text, quoted := strings.CutPrefix(c.words, "'"); quoted {
				words = []string{strings.TrimSuffix(text, "'")}
			}
			loop, rest, err := e.SplitLoopName(words)
			hint := ""
			if refused, ok := errors.AsType[*Failure](err); ok {
				hint = refused.NextStep
			}
			if loop != c.loop || !strings.Contains(hint, c.hint) || (err != nil) != (c.hint != "") {
				t.Fatalf("loop %q, error %v, hint %q", loop, err, hint)
			}
			if want := len(words) - min(len(loop), 1); err == nil && len(rest) != want {
				t.Errorf("the text is %q", rest)
			}
			if err != nil && !strings.Contains(err.Error(), words[0]) {
				t.Errorf("the error does not name the word: %v", err)
			}
		})
	}
}

// withLoops returns a project with loops, and others beside it.
func withLoops(t *testing.T, names ...string) *Env {
	t.Helper()
	top := WithoutLinks(t.TempDir())
	e := &Env{Home: filepath.Join(top, "home"), Cwd: filepath.Join(top, "here"), Project: filepath.Join(top, "here"), Now: time.Now}
	for i, name := range names {
		name, runs := strings.CutSuffix(name, "!")
		project := "here"
		if before, after, found := strings.Cut(name, "/"); found {
			project, name = before, after
		}
		project = filepath.Join(top, project)
		entry := registry.Entry{Name: name, ID: name, Project: project, Dir: filepath.Join(project, RalphFolder, name), Started: time.Unix(int64(i), 0)}
		if err := errors.Join(os.MkdirAll(filepath.Join(entry.Dir, "journal"), 0o700), registry.Put(e.Home, entry)); err != nil {
			t.Fatal(err)
		}
		if runs {
			lock, err := registration.Acquire(entry.Dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = lock.Release() })
		}
	}
	return e
}
