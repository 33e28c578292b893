package tree_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/parts"
	"github.com/ralph-loop/ralph/pool/tree"
)

// Anyone who can write into the store can put any archive in the place of a tree.
func TestHostileTreesStayInside(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n, entry := range []tar.Header{
		{Name: "../outside"},
		{Name: "/outside"},
		{Name: "loop/../../outside"},
		{Name: "loop/link", Typeflag: tar.TypeSymlink, Linkname: ".."},
		{Name: "loop/pipe", Typeflag: tar.TypeFifo},
		{Name: "loop/journal/000001-i0001.jsonl"},
		{Name: "loop/blobs/x"},
		{Name: "outside"},
	} {
		var archive bytes.Buffer
		z, err := zstd.NewWriter(&archive)
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(z)
		for _, h := range []tar.Header{{Name: "manifest.json", Size: 2}, entry} {
			h.Mode = 0o600
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte("{}")[:h.Size]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := parts.Put(t.Context(), s, keys.Tree("L", uint64(n)), &archive); err != nil {
			t.Fatal(err)
		}
		around := t.TempDir()
		into := filepath.Join(around, "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Get(t.Context(), s, "L", uint64(n), into); err == nil {
			t.Errorf("%s is unpacked", entry.Name)
		}
		if names, err := os.ReadDir(around); err != nil || len(names) != 1 {
			t.Errorf("%s: %d names beside the folder: %v", entry.Name, len(names), err)
		}
	}
}
