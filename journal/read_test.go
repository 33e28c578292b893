package journal_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/journal"
)

// A reader may come upon the last segment while its writer is in the middle of a line, and the
// writer may finish that line at any moment, even between two reads of it.
func TestReadDuringWrite(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	add(t, w, notices(1, 3)...)
	segment := w.Position().Segment
	info, err := os.Stat(filepath.Join(dir, "journal", segment))
	if err != nil {
		t.Fatal(err)
	}
	for cut := int64(1); cut < 60; cut++ {
		lines, err := read(dir, journal.ReadOptions{FS: growing{size: info.Size() - cut}})
		if err != nil || len(lines) != 3 {
			t.Fatalf("without its last %d bytes at first: %d lines, %v", cut, len(lines), err)
		}
	}
}

// growing is a file system whose files end at size for the first reader, and then have the rest as
// well.
type growing struct{ size int64 }

func (g growing) OpenFolder(path string) (journalfs.Folder, error) {
	folder, err := journal.OSFolder(path)
	return growingFolder{folder, g}, err
}

type growingFolder struct {
	journalfs.Folder
	growing
}

func (g growingFolder) Open(name string) (journalfs.File, error) {
	f, err := g.Folder.Open(name)
	return &growingFile{File: f, size: g.size}, err
}

type growingFile struct {
	journalfs.File
	size int64 // 0 once the end was read
}

func (g *growingFile) ReadAt(p []byte, at int64) (int, error) {
	if g.size > at && at+int64(len(p)) > g.size {
		n, err := g.File.ReadAt(p[:g.size-at], at)
		g.size = 0
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	return g.File.ReadAt(p, at)
}
