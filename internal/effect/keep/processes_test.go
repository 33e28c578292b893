package keep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent waits for the processes of git before each iteration: this number may only fall.
func TestProcessesBeforeAnIteration(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("new", "untracked\n")
	trace := filepath.Join(t.TempDir(), "trace")
	if _, err := BeforeIteration(t.Context(), w.Dir, bundleID, 1, 5, append(os.Environ(), "GIT_TRACE2="+trace)...); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(trace)
	must(t, err)
	if n := strings.Count(string(text), " version "); n != 12 { // one of them keeps the new file
		t.Errorf("%d processes, want 12\n%s", n, text)
	}
}
