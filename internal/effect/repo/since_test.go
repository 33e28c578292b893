package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSinceInEachHashKind(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := unborn(t, "--object-format="+format)
			since := func(old string, want int) {
				t.Helper()
				if got, err := Since(t.Context(), w.Dir, old); got != want || err != nil {
					t.Errorf("%d commits, want %d: %v", got, want, err)
				}
			}
			since("", 0)
			w.Write("a", "one\ntwo\n")
			first := w.Commit("begin")
			since("", 1)
			since(first, 0)

			w.Git("mv", "a", "b")
			w.Commit("move")
			w.Write("b", "one\nzwei\ndrei\n")
			third := w.Commit("translate\n\nwith a body")
			since(first, 2)

			w.Git("commit", "-q", "--amend", "-m", "said better")
			since(third, 1)
			w.Git("reset", "-q", "--hard", first)
			since(third, 0)
			w.Git("checkout", "-q", "--orphan", "fresh")
			since(first, 0)
		})
	}
}

func TestSinceAMerge(t *testing.T) {
	t.Parallel()
	w := born(t)
	begin := w.Head()
	w.Git("checkout", "-q", "-b", "other")
	w.Write("b", "1\n")
	w.Commit("on the other branch")
	w.Git("checkout", "-q", "main")
	w.Write("c", "1\n")
	w.Commit("on this one")
	w.Git("merge", "-q", "--no-edit", "other")
	if got, err := Since(t.Context(), w.Dir, begin); err != nil || got != 3 {
		t.Fatalf("%d commits, %v", got, err)
	}
}

func TestSignaturesAreNotRead(t *testing.T) {
	t.Parallel()
	w := born(t)
	begin := w.Head()
	signer := filepath.Join(w.Dir, ".git/signer")
	must(t, os.WriteFile(signer, []byte("#!/bin/sh\ncat > /dev/null\necho 'good signature' >&2\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\necho '-----BEGIN PGP SIGNATURE-----'\n"), 0o755))
	w.Git("config", "gpg.program", signer)
	w.Git("config", "log.showSignature", "true")
	w.Write("a", "x\n")
	r, err := w.run(Config{Message: "Sign it", Tasks: []string{"commit --gpg-sign"}})
	if err != nil || r.Message != "Sign it" {
		t.Errorf("%+v, %v", r, err)
	}
	if shown := w.Git("log", "-1", "--format=%s"); !strings.Contains(shown, "good signature") {
		t.Fatalf("git shows no signature, so this test proves nothing: %q", shown)
	}
	if got, err := Since(t.Context(), w.Dir, begin); err != nil || got != 1 {
		t.Errorf("%d commits, %v", got, err)
	}
}

func TestSinceUnknownCommit(t *testing.T) {
	t.Parallel()
	w := born(t)
	blob := w.Git("rev-parse", "HEAD:a")
	for _, old := range []string{strings.Repeat("1", 40), blob, "main", "--all", "1", strings.Repeat("z", 40)} {
		if _, err := Since(t.Context(), w.Dir, old); !errors.Is(err, ErrUnknownCommit) || Absent(err) {
			t.Errorf("%s: %v", old, err)
		}
	}
}

func TestShowOneCommit(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("config", "diff.external", "false")
	w.Write("b", "one\n")
	sha := w.Commit("add b")
	text, err := Show(t.Context(), w.Dir, sha)
	if err != nil || !strings.Contains(text, "add b") || !strings.Contains(text, "+one\n") || !strings.Contains(text, "1 file changed") {
		t.Errorf("%s, %v", text, err)
	}
	for _, name := range []string{"", "--output=stolen", "HEAD", strings.Repeat("0", 40)} {
		if text, err := Show(t.Context(), w.Dir, name); !errors.Is(err, ErrUnknownCommit) {
			t.Errorf("%q: %s, %v", name, text, err)
		}
	}
}
