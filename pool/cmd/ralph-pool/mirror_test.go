package main

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

func TestMirrorNeedsAPool(t *testing.T) {
	t.Setenv("RALPH_HOME", t.TempDir())
	c := mirrorCommand{Once: true}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "ralph pool join") {
		t.Errorf("without a pool: %v", err)
	}
}

func TestMirrorFollowsItsPool(t *testing.T) {
	h := pooltest.NewHost(t)
	project := h.Repository("echo x > work.txt; echo '<promise>COMPLETE</promise>'\n")
	h.Run(project, "ralph", "run", "--name", "one", "-p", "do it", "--agent", "./agent.sh", "--protocol", "text")
	t.Setenv("RALPH_HOME", h.Home)
	folder := t.TempDir()
	if err := connect.Save(h.Home, connect.Pool{URL: "dir://" + folder, Host: "mill"}); err != nil {
		t.Fatal(err)
	}
	c := mirrorCommand{Once: true, All: true, JSON: true}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	chunks, trees := 0, 0
	for key, err := range s.List(t.Context(), keys.Loops, "") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := keys.ChunkNumber(key); ok {
			chunks++
		}
		if _, ok := keys.TreeNumber(key); ok {
			trees++
		}
	}
	if chunks == 0 || trees != 1 {
		t.Errorf("the store has %d chunks and %d trees", chunks, trees)
	}
}
