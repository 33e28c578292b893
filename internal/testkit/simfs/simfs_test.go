package simfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

func newDisk(seed uint64) *simfs.FS { return simfs.New(rand.New(rand.NewPCG(seed, 0))) }

func open(t *testing.T, disk *simfs.FS) journalfs.Folder {
	t.Helper()
	folder, err := disk.OpenFolder(".")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, disk *simfs.FS, name string) string {
	t.Helper()
	text, err := disk.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	must(t, err)
	return string(text)
}

// outcomes runs a story on many seeds and returns what the file is afterwards.
func outcomes(t *testing.T, how simfs.Loss, name string, story func(t *testing.T, disk *simfs.FS)) []string {
	t.Helper()
	seen := map[string]bool{}
	for seed := range uint64(200) {
		disk := newDisk(seed)
		story(t, disk)
		seen[content(t, disk.Crash(how), name)] = true
	}
	var all []string
	for text := range seen {
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

func TestKillKeepsWrites(t *testing.T) {
	got := outcomes(t, simfs.Killed, "a", func(t *testing.T, disk *simfs.FS) {
		f, err := open(t, disk).Create("a")
		must(t, err)
		f.Write([]byte("ab"))
		f.Write([]byte("cd"))
	})
	if !slices.Equal(got, []string{"abcd"}) {
		t.Errorf("a file is left as one of %q", got)
	}
}

func TestKillCutsCurrentWrite(t *testing.T) {
	got := outcomes(t, simfs.Killed, "a", func(t *testing.T, disk *simfs.FS) {
		f, err := open(t, disk).Create("a")
		must(t, err)
		f.Write([]byte("ab"))
		disk.Plan(simfs.Plan{CrashAt: disk.Changes() + 1})
		if _, err := f.Write([]byte("cd")); !errors.Is(err, simfs.ErrCrashed) {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("ef")); !errors.Is(err, simfs.ErrCrashed) {
			t.Fatal("the dead can write")
		}
	})
	if !slices.Equal(got, []string{"ab", "abc", "abcd"}) {
		t.Errorf("a file is left as one of %q", got)
	}
}

func TestPowerLossKeepsSynced(t *testing.T) {
	story := func(syncFile, syncFolder bool) func(t *testing.T, disk *simfs.FS) {
		return func(t *testing.T, disk *simfs.FS) {
			folder := open(t, disk)
			f, err := folder.Create("a")
			must(t, err)
			f.Write([]byte("ab"))
			if syncFile {
				must(t, f.Sync())
			}
			if syncFolder {
				must(t, folder.SyncFolder("."))
			}
			f.Write([]byte("c"))
		}
	}
	for _, c := range []struct {
		file, folder bool
		want         []string
	}{
		{true, true, []string{"ab", "abc"}},
		{false, true, []string{"", "a", "ab", "abc"}},
		{true, false, []string{"ab", "abc", "none"}},
	} {
		if got := outcomes(t, simfs.PowerLost, "a", story(c.file, c.folder)); !slices.Equal(got, c.want) {
			t.Errorf("file synced %v, folder synced %v: left as one of %q, want %q", c.file, c.folder, got, c.want)
		}
	}
}

func TestFailedSyncLosesBytes(t *testing.T) {
	got := outcomes(t, simfs.PowerLost, "a", func(t *testing.T, disk *simfs.FS) {
		folder := open(t, disk)
		f, err := folder.Create("a")
		must(t, err)
		must(t, folder.SyncFolder("."))
		f.Write([]byte("ab"))
		disk.Plan(simfs.Plan{FailSync: 1})
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		must(t, f.Sync())
	})
	if !slices.Contains(got, "") {
		t.Errorf("left as one of %q: the second sync made it durable", got)
	}
}

func TestRenameIsAtomic(t *testing.T) {
	for seed := range uint64(200) {
		disk := newDisk(seed)
		folder := open(t, disk)
		must(t, folder.Mkdir("in"))
		must(t, folder.Mkdir("out"))
		must(t, disk.Drop("in/a", []byte("x")))
		must(t, folder.SyncFolder("."))
		must(t, folder.Rename("in/a", "out/b"))
		disk = disk.Crash(simfs.PowerLost)
		before, after := content(t, disk, "in/a"), content(t, disk, "out/b")
		if (before == "x") == (after == "x") {
			t.Fatalf("seed %d: %q and %q", seed, before, after)
		}
	}
}

// A file system without an order may know of the second change and not of the first.
func TestNamesOfAnyOrder(t *testing.T) {
	story := func(t *testing.T, disk *simfs.FS) {
		folder := open(t, disk)
		for _, name := range []string{"first", "second"} {
			_, err := folder.Create(name)
			must(t, err)
		}
	}
	for how, want := range map[simfs.Loss]bool{simfs.PowerLost: false, simfs.PowerLostAnyOrder: true} {
		found := false
		for seed := range uint64(200) {
			disk := newDisk(seed)
			story(t, disk)
			disk = disk.Crash(how)
			found = found || content(t, disk, "first") == "none" && content(t, disk, "second") != "none"
		}
		if found != want {
			t.Errorf("loss %d: the second without the first: %v", how, found)
		}
	}
	for seed := range uint64(50) {
		disk := newDisk(seed)
		story(t, disk)
		must(t, open(t, disk).SyncFolder("."))
		if disk = disk.Crash(simfs.PowerLostAnyOrder); content(t, disk, "first") == "none" {
			t.Fatalf("seed %d: a name that was synced is gone", seed)
		}
	}
}

func TestFullDiskWritesPart(t *testing.T) {
	disk := newDisk(1)
	disk.Plan(simfs.Plan{Space: 5})
	folder := open(t, disk)
	f, err := folder.Create("a")
	must(t, err)
	n, err := f.Write([]byte("abcdefgh"))
	if n != 5 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d, %v", n, err)
	}
	must(t, f.Truncate(2))
	if n, err := f.Write([]byte("xyz")); n != 3 || err != nil {
		t.Errorf("with room again: wrote %d, %v", n, err)
	}
	must(t, folder.Remove("a"))
	must(t, disk.WriteFile("b", []byte("12345")))
}

func TestTruncatingLeavesWhatWasSynced(t *testing.T) {
	got := outcomes(t, simfs.PowerLost, "a", func(t *testing.T, disk *simfs.FS) {
		folder := open(t, disk)
		f, err := folder.Create("a")
		must(t, err)
		f.Write([]byte("abcd"))
		must(t, f.Sync())
		must(t, folder.SyncFolder("."))
		must(t, f.Truncate(2))
		f.Write([]byte("XY"))
	})
	if !slices.Equal(got, []string{"abXY", "abcd"}) {
		t.Errorf("left as one of %q", got)
	}
}

func TestSameSeedSameDisk(t *testing.T) {
	run := func() string {
		disk := newDisk(42)
		disk.Plan(simfs.Plan{CrashAt: 30})
		for i := 0; !disk.Crashed(); i++ {
			must(t, errIfAlive(disk, disk.MkdirAll(fmt.Sprint("d", i))))
			must(t, errIfAlive(disk, disk.WriteFile(fmt.Sprintf("d%d/f", i), bytes.Repeat([]byte("x"), i))))
		}
		disk = disk.Crash(simfs.PowerLost)
		var out strings.Builder
		names, err := disk.List(".")
		must(t, err)
		for _, name := range names {
			fmt.Fprintln(&out, name, content(t, disk, name+"/f"))
		}
		return out.String()
	}
	first := run()
	for range 10 {
		if again := run(); again != first {
			t.Fatalf("first\n%sthen\n%s", first, again)
		}
	}
}

func errIfAlive(disk *simfs.FS, err error) error {
	if disk.Crashed() {
		return nil
	}
	return err
}
