package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSinceInEachKindOfHash(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := unborn(t, "--object-format="+format)
			since := func(old string, want Commits) {
				t.Helper()
				got, err := Since(t.Context(), w.dir, old)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
			since("", Commits{})
			w.write("a", "one\ntwo\n")
			first := w.commit("begin")
			since("", Commits{Head: first, Count: 1, Subjects: []string{"begin"}, Stat: Stat{Files: 1, Insertions: 2}})
			since(first, Commits{Head: first})

			w.git("mv", "a", "b")
			w.commit("move")
			w.write("b", "one\nzwei\ndrei\n")
			w.write(".ralph/x", "not counted\n")
			third := w.commit("translate\n\nwith a body")
			since(first, Commits{Head: third, Count: 2, Subjects: []string{"translate", "move"}, Stat: Stat{Files: 2, Insertions: 3, Deletions: 2}})

			w.git("commit", "-q", "--amend", "-m", "said better")
			since(third, Commits{Head: w.head(), Count: 1, Subjects: []string{"said better"}, Rewritten: true})
			w.git("reset", "-q", "--hard", first)
			since(third, Commits{Head: first, Rewritten: true, Stat: Stat{Files: 2, Insertions: 2, Deletions: 3}})
			w.git("checkout", "-q", "--orphan", "fresh")
			since(first, Commits{Rewritten: true})
		})
	}
}

func TestSinceAMerge(t *testing.T) {
	t.Parallel()
	w := born(t)
	begin := w.head()
	w.git("checkout", "-q", "-b", "other")
	w.write("b", "1\n")
	w.commit("on the other branch")
	w.git("checkout", "-q", "main")
	w.write("c", "1\n")
	w.commit("on this one")
	w.git("merge", "-q", "--no-edit", "other")
	got, err := Since(t.Context(), w.dir, begin)
	if err != nil || got.Count != 3 || got.Rewritten || got.Stat != (Stat{Files: 2, Insertions: 2}) || len(got.Subjects) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestSubjectsAreBounded(t *testing.T) {
	t.Parallel()
	w := born(t)
	begin := w.head()
	for i := range maxSubjects + 2 {
		w.git("commit", "-q", "--allow-empty", "-m", fmt.Sprintf("%d \x1b[31mred\x1b[0m\x07 %s", i, strings.Repeat("é", 300)))
	}
	got, err := Since(t.Context(), w.dir, begin)
	if err != nil || got.Count != maxSubjects+2 || len(got.Subjects) != maxSubjects {
		t.Fatalf("%d commits, %d subjects, %v", got.Count, len(got.Subjects), err)
	}
	if s := []rune(got.Subjects[0]); len(s) != maxShown || !strings.HasPrefix(string(s), "21 red ééé") {
		t.Errorf("%d characters: %s", len(s), string(s))
	}
	w.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	if got, err := Since(t.Context(), w.dir, begin); err != nil || got.Subjects[0] != "" || len(got.Subjects) != maxSubjects {
		t.Errorf("a commit without message: %q, %v", got.Subjects, err)
	}
}

func TestSignaturesAreNotRead(t *testing.T) {
	t.Parallel()
	w := born(t)
	begin := w.head()
	signer := filepath.Join(w.dir, ".git/signer")
	must(t, os.WriteFile(signer, []byte("#!/bin/sh\ncat > /dev/null\necho 'good signature' >&2\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\necho '-----BEGIN PGP SIGNATURE-----'\n"), 0o755))
	w.git("config", "gpg.program", signer)
	w.git("config", "log.showSignature", "true")
	w.write("a", "x\n")
	r, err := w.run(Config{Message: "Sign it", Tasks: []string{"commit --gpg-sign"}})
	if err != nil || r.Message != "Sign it" {
		t.Errorf("%+v, %v", r, err)
	}
	if shown := w.git("log", "-1", "--format=%s"); !strings.Contains(shown, "good signature") {
		t.Fatalf("git shows no signature, so this test proves nothing: %q", shown)
	}
	if got, err := Since(t.Context(), w.dir, begin); err != nil || got.Subjects[0] != "Sign it" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSinceACommitThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := born(t)
	blob := w.git("rev-parse", "HEAD:a")
	for _, old := range []string{strings.Repeat("1", 40), blob, "main", "--all", "1", strings.Repeat("z", 40)} {
		if _, err := Since(t.Context(), w.dir, old); !errors.Is(err, ErrUnknownCommit) || Absent(err) {
			t.Errorf("%s: %v", old, err)
		}
	}
}
