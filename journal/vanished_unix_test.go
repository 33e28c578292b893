//go:build unix

package journal_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
)

// Each call that makes events durable reports a removed segment, also if nothing is left to sync,
// and writes nothing in its place.
func TestVanishedSegmentFailsWriter(t *testing.T) {
	calls := map[string]func(w *journal.Writer) error{
		"sync": func(w *journal.Writer) error { return w.Sync() },
		"sync of what was appended since": func(w *journal.Writer) error {
			if _, err := w.Append(notices(9, 1)); err != nil {
				return err
			}
			return w.Sync()
		},
		"rotate": func(w *journal.Writer) error { _, err := w.Rotate(2, nil); return err },
		"close":  func(w *journal.Writer) error { return w.Close() },
	}
	take := map[string]func(dir, segment string) error{
		"segment removed":  func(_, segment string) error { return os.Remove(segment) },
		"journal removed":  func(dir, _ string) error { return os.RemoveAll(filepath.Join(dir, "journal")) },
		"folder removed":   removeFolder,
		"folder moved":     func(dir, _ string) error { return os.Rename(dir, dir+".moved") },
		"segment replaced": func(_, segment string) error { return replaceByCopy(segment) },
		"folder replaced by a file": func(dir, _ string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		},
	}
	for how, take := range take {
		for what, call := range calls {
			t.Run(how+", "+what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "loop")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				w, _ := begin(t, dir, options())
				add(t, w, notices(1, 2)...)
				if err := w.Sync(); err != nil {
					t.Fatal(err)
				}
				segment := segmentPath(dir, w.Position().Segment)
				if err := take(dir, segment); err != nil {
					t.Fatal(err)
				}
				before := names(dir)
				err := call(w)
				vanished, ok := errors.AsType[*journal.VanishedError](err)
				if !ok || vanished.Path != segment || !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%v", err)
				}
				if _, err := w.Append(notices(3, 1)); err == nil {
					t.Error("an append succeeds after that")
				}
				if got := names(dir); len(got) != len(before) {
					t.Errorf("files were made: %q, before %q", got, before)
				}
			})
		}
	}
}

func removeFolder(dir, _ string) error { return os.RemoveAll(dir) }

func replaceByCopy(name string) error {
	content, err := os.ReadFile(name)
	return errors.Join(err, os.Remove(name), os.WriteFile(name, content, 0o600))
}

// names are all paths below a folder; none where it is gone.
func names(dir string) (found []string) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// The goroutine that syncs finds a removed segment without a call.
func TestSyncerFindsVanishedSegment(t *testing.T) {
	dir := t.TempDir()
	opt := options()
	opt.SyncEvery = time.Millisecond
	w, _ := begin(t, dir, opt)
	if err := os.RemoveAll(filepath.Join(dir, "journal")); err != nil {
		t.Fatal(err)
	}
	var err error
	for deadline := time.Now().Add(2 * time.Minute); err == nil && time.Now().Before(deadline); {
		_, err = w.Append(notices(1, 1))
	}
	if _, ok := errors.AsType[*journal.VanishedError](err); !ok {
		t.Errorf("after two minutes of appending: %v", err)
	}
}

// A folder of blobs that was removed is not made again.
func TestVanishedBlobsFailTheWriter(t *testing.T) {
	for what, earlier := range map[string]bool{"of this writer": false, "of an earlier one": true} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			opt := options()
			opt.InlineBytes = 1
			w, _ := begin(t, dir, opt)
			if _, err := w.PutBlob([]byte("one")); err != nil {
				t.Fatal(err)
			}
			if earlier {
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				w, _ = begin(t, dir, opt)
			}
			if err := os.RemoveAll(filepath.Join(dir, "blobs")); err != nil {
				t.Fatal(err)
			}
			_, err := w.PutBlob([]byte("two"))
			if _, ok := errors.AsType[*journal.VanishedError](err); !ok {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "blobs")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder was made again: %v", err)
			}
		})
	}
}

// A cut segment is damage, whatever is appended to it later. The events before the cut can be read.
func TestACutSegmentIsDamage(t *testing.T) {
	calls := map[string]func(w *journal.Writer) error{
		"sync": func(w *journal.Writer) error { return w.Sync() },
		"sync of what was appended since": func(w *journal.Writer) error {
			if _, err := w.Append(notices(9, 1)); err != nil {
				return err
			}
			return w.Sync()
		},
		"rotate": func(w *journal.Writer) error { _, err := w.Rotate(2, nil); return err },
		"close":  func(w *journal.Writer) error { return w.Close() },
	}
	for what, call := range calls {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			w, _ := begin(t, dir, options())
			add(t, w, notices(1, 5)...)
			at := w.Position()
			// To the end of a line, so that what is left looks like a journal.
			if err := os.Truncate(segmentPath(dir, at.Segment), firstLine(t, segmentPath(dir, at.Segment))); err != nil {
				t.Fatal(err)
			}
			err := call(w)
			if damage, ok := errors.AsType[*journal.CorruptError](err); !ok || damage.Segment != at.Segment {
				t.Errorf("%v", err)
			}
			lines, err := read(dir, journal.ReadOptions{})
			if len(lines) != 1 {
				t.Errorf("%d events can be read, want the one before the cut: %v", len(lines), err)
			}
		})
	}
}

// A follower that has read beyond the cut gets an error instead of waiting without end.
func TestCutSegmentFailsFollowers(t *testing.T) {
	dir := t.TempDir()
	opt := options()
	opt.Notify = true
	w, _ := begin(t, dir, opt)
	add(t, w, notices(1, 5)...)
	name := segmentPath(dir, w.Position().Segment)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cut := false
	lines, err := follow(ctx, dir, journal.FollowOptions{Idle: func(journal.Position) {
		if !cut {
			cut = true
			if err := os.Truncate(name, firstLine(t, name)); err != nil {
				t.Error(err)
			}
			add(t, w, notices(6, 1)...)
		}
	}})
	if _, ok := errors.AsType[*journal.CorruptError](err); !ok || len(lines) != 6 {
		t.Errorf("after %d events: %v (%v)", len(lines), err, ctx.Err())
	}
}

func firstLine(t *testing.T, name string) int64 {
	t.Helper()
	text := testfile.Read(t, name)
	for i, c := range text {
		if c == '\n' {
			return int64(i + 1)
		}
	}
	t.Fatalf("%s has no whole line", name)
	return 0
}

// A journal that a writer has open cannot be repaired or written by another one, and any number may
// read it.
func TestJournalHasOneWriter(t *testing.T) {
	dir := t.TempDir()
	w, rec := begin(t, dir, options())
	add(t, w, notices(1, 3)...)
	name := segmentPath(dir, w.Position().Segment)
	whole := testfile.Read(t, name)
	if _, err := journal.Recover(dir, options()); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("recover: %v", err)
	}
	if _, _, err := journal.Create(dir, rec, 1, nil, options()); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("create: %v", err)
	}
	if lines := mustRead(t, dir, journal.ReadOptions{}); len(lines) != 4 {
		t.Errorf("%d events can be read, want 4", len(lines))
	}
	if now, err := os.ReadFile(name); err != nil || string(now) != string(whole) {
		t.Errorf("the segment was touched: %v", err)
	}
	add(t, w, notices(4, 1)...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Recover(dir, options()); err != nil {
		t.Errorf("recover after the writer has closed: %v", err)
	}
}

func TestVerifyWithoutSegmentFails(t *testing.T) {
	dir := t.TempDir()
	if err := journal.Verify(dir, nil); !errors.Is(err, journal.ErrNoSegment) {
		t.Errorf("a folder without a journal: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "journal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := journal.Verify(dir, nil); !errors.Is(err, journal.ErrNoSegment) {
		t.Errorf("an empty journal: %v", err)
	}
}
