package keep

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is kept of a loop has names: refs, and files in its folder.
func TestKeptThingsHaveNames(t *testing.T) {
	w := born(t)
	dir := t.TempDir()
	if refs, files, err := Kept(t.Context(), w.Dir, bundleID, dir); err != nil || len(refs)+len(files) > 0 {
		t.Errorf("%q, %q, %v", refs, files, err)
	}
	base, err := WorkTree(t.Context(), w.Dir, LoopRefs(bundleID)+"review-3")
	must(t, err)
	_, err = BeforeIteration(t.Context(), w.Dir, bundleID, 1, 3)
	must(t, err)
	name, err := CopyFound(dir, "sub/check.sh", []byte("#!/bin/sh\n"))
	must(t, err)
	again, err := CopyFound(dir, "check.sh", []byte("#!/bin/sh\n"))
	must(t, err)
	refs, files, err := Kept(t.Context(), w.Dir, bundleID, dir)
	if err != nil || !slices.Equal(refs, []string{base.Ref}) || again != name || !slices.Equal(files, []string{name}) {
		t.Errorf("%q, %q, %v", refs, files, err)
	}
}

// A link is put in the place of a file by a rename, and what is in the place of a folder is set
// aside.
func TestPutFileFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(dir, "sub")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("a person's"), 0o600))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	aside, err := PutFile(root, "sub/check.sh", &Content{Text: []byte("#!/bin/sh\n"), Mode: 0o755})
	if err != nil || !slices.Equal(aside, []string{"sub" + Aside}) {
		t.Errorf("%q, %v", aside, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside of the folder: %v, %v", entries, err)
	}
	must(t, putFile(root, "file", Content{Text: []byte("sub"), Mode: fs.ModeSymlink}))
	if target, err := os.Readlink(filepath.Join(dir, "file")); err != nil || target != "sub" {
		t.Errorf("%q, %v", target, err)
	}
	if aside, err = PutFile(root, "file", nil); err != nil || !slices.Equal(aside, []string{"file" + Aside}) {
		t.Errorf("%q, %v", aside, err)
	}
}

// TestLongNamesAreKept keeps files whose names have all the bytes that a file system allows.
func TestLongNamesAreKept(t *testing.T) {
	dir, long := t.TempDir(), strings.Repeat("a", 255)
	name, err := CopyFound(dir, long, []byte("copied"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, long), []byte("moved"), 0o600))
	to, err := MoveFound(filepath.Join(dir, "aside"), filepath.Join(dir, long))
	must(t, err)
	for path, want := range map[string]string{filepath.Join(dir, name): "copied", to: "moved"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%.40q is kept as %q, %v", long, text, err)
		}
	}
}
