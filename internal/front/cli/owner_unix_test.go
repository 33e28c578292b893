//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOwnFolder(t *testing.T) {
	folder := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if must(os.Chmod(folder, 0o775)); !ownFolder(folder, "") { //nolint:gosec // a group of one's own is usual
		t.Error("a folder of one's own is not")
	}
	link := filepath.Join(folder, "link")
	if must(os.Symlink(folder, link)); !ownFolder(link, "") {
		t.Error("a link of one's own is not")
	}
	if must(os.Chmod(folder, 0o1777)); ownFolder(folder, "") { //nolint:gosec // that is the point
		t.Error("a folder that anybody may write to is one's own")
	}
	must(os.Chmod(folder, 0o700)) //nolint:gosec // a folder
	if ownFolder(filepath.Join(folder, "none"), "") {
		t.Error("a folder that is not there is one's own")
	}
	if os.Geteuid() != 0 {
		if ownFolder("/", "") {
			t.Error("the root folder is this person's")
		}
		return
	}
	if must(os.Chown(folder, 1, -1)); ownFolder(folder, "") {
		t.Error("another's folder is root's own")
	}
}
