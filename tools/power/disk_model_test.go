//go:build linux

package power

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
)

// The runs depend on what the model lets a disk contain after a cut: if that is too much, they test
// too little; if it is too little, they fail for what no disk does.

// modelled is a disk with a folder and a file that were there before.
func modelled(seed uint64) (d *disk, folder, file *node) {
	d = newDisk(rand.New(rand.NewPCG(seed, 0)))
	d.put("folder/file", "old\n")
	folder = d.root.names["folder"]
	return d, folder, folder.names["file"]
}

// outcomes does the same on many disks, and returns their contents after a cut.
func outcomes(t *testing.T, do func(*disk, *node, *node)) (all []string) {
	t.Helper()
	for seed := range uint64(400) {
		d, folder, file := modelled(seed)
		do(d, folder, file)
		next := d.after()
		found := ""
		folder = next.root.names["folder"]
		for _, name := range []string{"a", "b", "file"} {
			if n := folder.names[name]; n != nil {
				found += fmt.Sprintf("%s=%q ", name, n.data)
			}
		}
		all = append(all, found)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *disk) born(folder *node, name string) *node {
	n := d.node(syscall.S_IFREG | 0o600)
	d.name(setting{folder, name, n})
	return n
}

func TestWhatIsSyncedSurvives(t *testing.T) {
	got := outcomes(t, func(d *disk, folder, file *node) {
		d.write(file, 4, []byte("new\n"))
		d.keepBytes(file)
		d.write(d.born(folder, "a"), 0, []byte("x"))
		d.keepBytes(folder.names["a"])
		d.name(setting{folder, "a", nil}, setting{folder, "b", folder.names["a"]})
		d.keepNames(folder)
	})
	if want := []string{`b="x" file="old\nnew\n" `}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestUnsyncedNamesSurviveUnordered(t *testing.T) {
	got := outcomes(t, func(d *disk, folder, _ *node) { d.born(folder, "a"); d.born(folder, "b") })
	if want := []string{`a="" b="" file="old\n" `, `a="" file="old\n" `, `b="" file="old\n" `, `file="old\n" `}; !slices.Equal(got, want) {
		t.Errorf("two names: %q", got)
	}
	got = outcomes(t, func(d *disk, folder, _ *node) {
		d.write(d.born(folder, "a"), 0, []byte("x"))
		d.keepBytes(folder.names["a"]) // the name is another matter
	})
	if want := []string{`a="x" file="old\n" `, `file="old\n" `}; !slices.Equal(got, want) {
		t.Errorf("a file that is synced without its name: %q", got)
	}
	got = outcomes(t, func(d *disk, folder, _ *node) {
		d.write(d.born(folder, "a"), 0, []byte("x"))
		d.keepNames(folder)
		d.name(setting{folder, "a", nil}, setting{folder, "b", folder.names["a"]})
	})
	if want := []string{
		`a="" file="old\n" `, `a="\x00" file="old\n" `, `a="x" file="old\n" `, `b="" file="old\n" `, `b="\x00" file="old\n" `, `b="x" file="old\n" `,
	}; !slices.Equal(got, want) {
		t.Errorf("a rename: %q", got)
	}
	got = outcomes(t, func(d *disk, folder, file *node) { d.name(setting{folder, "file", nil}); d.resize(file, 0) })
	if want := []string{``, `file="" `, `file="old\n" `}; !slices.Equal(got, want) {
		t.Errorf("a removal and a truncation: %q", got)
	}
}

// A block may be missing before one that survived, and only zeros are in its place.
func TestBlocksSurviveInAnyOrder(t *testing.T) {
	holes, torn := 0, 0
	for seed := range uint64(400) {
		d, folder, file := modelled(seed)
		written := []byte("old\n")
		for i := range 20 {
			line := bytes.Repeat([]byte{byte('a' + i)}, 200)
			d.write(file, int64(len(written)), line)
			written = append(written, line...)
		}
		_ = folder
		left := d.after().root.names["folder"].names["file"].data
		if !bytes.HasPrefix(left, []byte("old\n")) || len(left) > len(written) {
			t.Fatalf("seed %d: %q", seed, left)
		}
		for i, b := range left {
			if b != 0 && b != written[i] {
				t.Fatalf("seed %d: byte %d is %q, which was never written", seed, i, b)
			}
		}
		if zero := bytes.IndexByte(left, 0); zero >= 0 && len(bytes.Trim(left[zero:], "\x00")) > 0 {
			holes++
		}
		if (len(left)-4)%200 != 0 {
			torn++
		}
	}
	if holes < 20 || torn < 20 {
		t.Errorf("%d holes and %d torn writes in 400 cuts", holes, torn)
	}
}
