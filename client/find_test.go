package client

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/registry"
)

// The loops: shop/a (older) and shop/b, both ended; mill/a, which runs; mill/only, ended.
func TestFind(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	shop, mill, empty := filepath.Join(root, "shop"), filepath.Join(root, "mill"), filepath.Join(root, "empty")
	for i, l := range []struct {
		project, name string
		listed        bool
	}{{shop, "a", true}, {shop, "b", true}, {mill, "a", true}, {mill, "only", true}, {empty, "copied", false}} {
		dir := filepath.Join(l.project, Folder, l.name)
		if err := os.MkdirAll(filepath.Join(dir, "journal"), 0o700); err != nil {
			t.Fatal(err)
		}
		if !l.listed {
			continue
		}
		lock, err := registration.Acquire(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Release() })
		if err := registry.Put(home, registry.Entry{Name: l.name, Dir: dir, Project: l.project, PID: os.Getpid(), Started: time.Unix(int64(i), 0)}); err != nil {
			t.Fatal(err)
		}
		if l.project != mill || l.name != "a" {
			lock.Release()
		}
	}
	in := func(project, name string) string { return filepath.Join(project, Folder, name) }
	for _, c := range []struct {
		project, name string
		only          bool
		want          string // folder, or the error
	}{
		{shop, "a", false, in(shop, "a")},
		{shop, "", false, in(shop, "b")},
		{shop, "mill/a", false, in(mill, "a")},
		{shop, "only", false, in(mill, "only")},
		{shop, "only", true, `there is no loop "only" here`},
		{shop, "none", false, `there is no loop "none" here`},
		{shop, "shop/none", false, `there is no loop "shop/none"`},
		{shop, in(mill, "only"), false, in(mill, "only")},
		{shop, "./.ralph/a", false, in(shop, "a")},
		{shop, "./.ralph/none", false, "there is no loop in ./.ralph/none"},
		{shop, "./a", false, "./a is not a loop's folder"},
		{mill, "", false, in(mill, "a")},
		{empty, "", false, in(mill, "a")},
		{empty, "", true, "there is no loop in ."},
		{empty, "a", false, in(mill, "a")},
		{empty, "copied", false, in(empty, "copied")},
	} {
		s, err := Finder{Home: home, Project: c.project, Only: c.only}.Find(c.name)
		got := s.Dir
		if err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*NotFoundError](err); !ok {
				t.Errorf("%s in %s: %T", c.name, c.project, err)
			}
		}
		if got != c.want {
			t.Errorf("%q in %s: %s, want %s", c.name, c.project, got, c.want)
		}
	}
}

func TestFindNamesAllCandidates(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	for _, project := range []string{"x/shop", "y/shop"} {
		dir := filepath.Join(root, project, Folder, "a")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := registry.Put(home, registry.Entry{Name: "a", Dir: dir, Project: filepath.Join(root, project), Started: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "shop/a"} {
		_, err := Finder{Home: home, Project: root}.Find(name)
		if several, ok := errors.AsType[*AmbiguousError](err); !ok || len(several.Loops) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
