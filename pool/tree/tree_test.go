package tree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/parts"
	"github.com/ralph-loop/ralph/pool/tree"
)

func TestMain(m *testing.M) { pooltest.Main(m) }

func TestTreesHaveOnlyNewCommits(t *testing.T) {
	host := pooltest.NewHost(t)
	t.Setenv("RALPH_HOME", host.Home)
	t.Setenv("HOME", host.Home)
	project := host.Repository("echo one >out.txt")
	noise := make([]byte, 400_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	host.Write(filepath.Join(project, "large"), string(noise))
	host.Run(project, "git", "add", ".")
	host.Run(project, "git", "commit", "-q", "-m", "large")
	host.Try(project, "ralph", "run", "--name", "demo", "-m", "1", "-p", "do it", "--agent", "./agent.sh", "--protocol", "text")
	folder := filepath.Join(project, ".ralph", "demo")
	loop := strings.Trim(host.Run(project, "sh", "-c", "ralph status demo --json | jq .id"), "\"")
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	refs := host.Run(project, "git", "for-each-ref")
	index := host.Run(project, "git", "ls-files", "--stage")
	sizes := map[uint64]int64{}
	for _, n := range []uint64{3, 7, 8} {
		host.Write(filepath.Join(project, "new"), strings.Repeat("x", int(n)))
		for range 2 { // the second finds what the first stored
			if err := tree.Put(t.Context(), s, folder, loop, n); err != nil {
				t.Fatal(err)
			}
		}
		h, err := parts.Head(t.Context(), s, keys.Tree(loop, n))
		if err != nil {
			t.Fatal(err)
		}
		sizes[n] = h.Size
	}
	t.Logf("bytes of trees: %v", sizes)
	if sizes[3] < 400_000 || sizes[7] > 40_000 || sizes[8] > 40_000 {
		t.Errorf("the trees have %v bytes", sizes)
	}
	if host.Run(project, "git", "for-each-ref") != refs || host.Run(project, "git", "ls-files", "--stage") != index {
		t.Error("refs or index have changed")
	}
	into := t.TempDir()
	m, err := tree.Get(t.Context(), s, loop, 8, into)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "demo" || m.ID != loop || m.Repo.Branch != "main" {
		t.Errorf("the manifest is %+v", m)
	}
	if _, err := os.Stat(filepath.Join(into, "loop", "journal")); err == nil {
		t.Error("the tree has a journal")
	}
	if _, err := os.Stat(filepath.Join(into, "loop", "config.json")); err != nil {
		t.Error(err)
	}
	clone := t.TempDir()
	host.Run(clone, "git", "init", "-q")
	host.Run(clone, "git", "fetch", "-q", filepath.Join(into, "repo.bundle"), "refs/*:refs/*")
	if got := host.Run(clone, "git", "show", m.Repo.Tree+":new"); got != "xxxxxxxx" {
		t.Errorf("new has %q", got)
	}
	if got := host.Run(clone, "git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/ralph/"+loop); got != host.Run(project, "git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/ralph/"+loop) {
		t.Errorf("the bundle has the refs %s", got)
	}
	if got := host.Run(clone, "git", "rev-parse", "refs/heads/main"); got != m.Repo.Head {
		t.Errorf("main is %s, not %s", got, m.Repo.Head)
	}
}
