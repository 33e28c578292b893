package archtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// carried are modules that the program is meant to be built on, on each system: code of our own for
// what they do is not written again.
var carried = []string{"github.com/alecthomas/kong", "github.com/fsnotify/fsnotify", "github.com/natefinch/atomic", "github.com/oklog/ulid/v2"}

func TestProgramLinksItsModules(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", module+"cmd/ralph")
		list.Env, list.Stderr = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", system, err)
		}
		linked := strings.Fields(string(out))
		for _, path := range carried {
			if !slices.Contains(linked, path) {
				t.Errorf("the program for %s does not link %s", system, path)
			}
		}
	}
}
