//go:build unix

package keep

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// To keep a work tree and to put it back starts no program that the repository names.
func TestUndoStartsNoRepositoryProgram(t *testing.T) {
	t.Parallel()
	leaveToLong(t)
	for name, plant := range testgit.Plants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := born(t)
			w.Write("b", "x\n")
			w.Commit("second")
			program, mark := w.Program("post-index-change")
			plant(w.Tree, program)
			w.Write("a", "one\ntwo\nother\n") // has to be compared
			// Far more than is needed on a busy machine, and far less than the programs take.
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			base, err := WorkTree(ctx, w.Dir, beforeRef)
			must(t, err)
			w.Write("a", "edited\n")
			w.Write("c", "new\n")
			if u, err := base.Undo(ctx, Undo{Ref: foundRef, Message: "undo"}); err != nil || len(u.Files) != 2 {
				t.Errorf("Undo: %+v, %v", u, err)
			}
			if _, err := os.Lstat(mark); err == nil {
				t.Error("the program was run")
			}
		})
	}
}
