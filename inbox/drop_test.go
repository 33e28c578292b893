package inbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustDrop(t testing.TB, loopDir string, c Command) string {
	t.Helper()
	id, err := Drop(loopDir, c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustOpen(t testing.TB, loopDir string) *Box {
	t.Helper()
	box, err := Open(loopDir)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// pending returns the commands of one pass, and fails on a reject.
func pending(t testing.TB, box *Box) (commands []Command) {
	t.Helper()
	items, err := box.Pending()
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		if item.Reject != nil {
			t.Fatalf("rejects %+v", *item.Reject)
		}
		commands = append(commands, *item.Command)
	}
	return commands
}

func TestClaimReturnsDroppedCommand(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 21, 1, 52, 28, 123456789, time.FixedZone("", 3600))
	want := []Command{
		{Kind: Steer, From: "cli:ada@mill", At: at, Text: "leave <b> & \"schema\" alone\n\u2028größe"},
		{Kind: Set, From: "mcp:claude", At: at, Key: "maximumIterations", Value: "20"},
		{Kind: StopNow, At: at},
	}
	for i, c := range want {
		want[i].ID = mustDrop(t, dir, c)
		want[i].At = at.UTC().Truncate(time.Microsecond)
		want[i].Process = lineage()
	}
	info, err := os.Stat(filepath.Join(dir, Folder, want[0].ID+".json"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, Folder)); err != nil || info.Mode() != 0o700|fs.ModeDir {
		t.Errorf("%v, %v", info, err)
	}
	box := mustOpen(t, dir)
	if diff := cmp.Diff(want, pending(t, box)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, pending(t, mustOpen(t, dir))); diff != "" {
		t.Error("after a restart:", diff)
	}
	for range 2 {
		for _, c := range want {
			if err := box.Done(c.ID); err != nil {
				t.Error(err)
			}
		}
	}
	if names, err := os.ReadDir(filepath.Join(dir, Folder)); err != nil || len(names) != 0 {
		t.Errorf("left: %v, %v", names, err)
	}
}

func TestDropTakesFileTime(t *testing.T) {
	dir := t.TempDir()
	before := time.Now().Add(-time.Second)
	mustDrop(t, dir, Command{Kind: Stop})
	c := pending(t, mustOpen(t, dir))[0]
	if c.At.Before(before) || c.At.After(time.Now()) || c.At.Location() != time.UTC {
		t.Errorf("dropped at %v", c.At)
	}
}

func TestDropRefuses(t *testing.T) {
	for _, tt := range []struct {
		title string
		c     Command
	}{
		{"a kind that is none", Command{Kind: "explode"}},
		{"a steer without text", Command{Kind: Steer}},
		{"a set without key", Command{Kind: Set}},
		{"a command that has an id", Command{Kind: Stop, ID: anID}},
		{"text that is not UTF-8", Command{Kind: Steer, Text: "\xff"}},
		{"more than a command may hold", Command{Kind: Steer, Text: strings.Repeat("x", MaxSize)}},
	} {
		t.Run(tt.title, func(t *testing.T) {
			dir := t.TempDir()
			if id, err := Drop(dir, tt.c); err == nil || id != "" {
				t.Errorf("%q, %v", id, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, Folder, "*")); left != nil {
				t.Errorf("left: %v", left)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, Folder, ".*")); left != nil {
				t.Errorf("left: %v", left)
			}
		})
	}
	absent := filepath.Join(t.TempDir(), "absent")
	if _, err := Drop(absent, Command{Kind: Stop}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestDropOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	w := &writer{open: makeBox, newID: func(time.Time) (string, error) { return anID, nil }, token: dropper.token}
	if _, err := w.drop(dir, Command{Kind: Steer, Text: "first"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.drop(dir, Command{Kind: Steer, Text: "second"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if c := pending(t, mustOpen(t, dir)); len(c) != 1 || c[0].Text != "first" {
		t.Errorf("%+v", c)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, Folder, ".*")); left != nil {
		t.Errorf("left: %v", left)
	}
}

// A mirror that was killed does not know whether it delivered a command, and does it again.
func TestDeliverGivesOnce(t *testing.T) {
	dir := t.TempDir()
	c := Command{ID: "01K8Z0000000000000000000AA", Kind: Steer, From: "pool:ada@mill", Text: "a"}
	deliver := func(want bool) {
		t.Helper()
		if got, err := Deliver(dir, c); err != nil || got != want {
			t.Fatalf("Deliver: %t, %v; want %t", got, err, want)
		}
	}
	deliver(true)
	deliver(false)
	box := mustOpen(t, dir)
	if got := pending(t, box); len(got) != 1 || got[0].ID != c.ID || got[0].Text != "a" || len(got[0].Process) == 0 {
		t.Fatalf("pending: %+v", got)
	}
	deliver(false) // it is claimed
	if got := pending(t, box); len(got) != 1 {
		t.Fatalf("pending again: %+v", got)
	}
	for _, wrong := range []Command{
		{ID: "../../01K8Z000000000000000000", Kind: Steer, Text: "a"},
		{Kind: Steer, Text: "a"},
		{ID: c.ID, Kind: Ask, Text: "a"},
		{ID: "01K8Z0000000000000000000AB", Kind: "unknown"},
	} {
		if got, err := Deliver(dir, wrong); err == nil || got {
			t.Errorf("Deliver(%+v): %t, %v", wrong, got, err)
		}
	}
}

func TestLinkedInboxIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "elsewhere"), 0o700), os.Symlink("elsewhere", filepath.Join(dir, Folder))); err != nil {
		t.Fatal(err)
	}
	if _, err := Drop(dir, Command{Kind: Stop}); err == nil {
		t.Error("dropped")
	}
	if _, err := Open(dir); err == nil {
		t.Error("opened")
	}
	if names, _ := os.ReadDir(filepath.Join(dir, "elsewhere")); len(names) != 0 {
		t.Errorf("%v", names)
	}
}

func TestWithdraw(t *testing.T) {
	dir := t.TempDir()
	if ok, err := Withdraw(dir, anID); ok || err != nil {
		t.Errorf("without an inbox: %v, %v", ok, err)
	}
	first, second := mustDrop(t, dir, Command{Kind: Pause}), mustDrop(t, dir, Command{Kind: Resume})
	if ok, err := Withdraw(dir, first); !ok || err != nil {
		t.Errorf("unclaimed: %v, %v", ok, err)
	}
	if ok, err := Withdraw(dir, first); ok || err != nil {
		t.Errorf("withdrawn before: %v, %v", ok, err)
	}
	if c := pending(t, mustOpen(t, dir)); len(c) != 1 || c[0].ID != second {
		t.Errorf("%+v", c)
	}
	if ok, err := Withdraw(dir, second); ok || err != nil {
		t.Errorf("claimed: %v, %v", ok, err)
	}
	for _, id := range []string{"", "..", "../../x", strings.ToLower(anID), anID + "/x"} {
		if ok, err := Withdraw(dir, id); ok || err == nil {
			t.Errorf("%q: %v, %v", id, ok, err)
		}
	}
}

// What no runner has claimed can be read without a claim.
func TestDroppedIsReadWithoutClaim(t *testing.T) {
	dir := t.TempDir()
	if got, err := Dropped(dir); err != nil || got != nil {
		t.Errorf("without an inbox: %v, %v", got, err)
	}
	mustDrop(t, dir, Command{Kind: Steer, Text: "claimed"})
	box := mustOpen(t, dir)
	pending(t, box)
	id := mustDrop(t, dir, Command{Kind: Answer, Question: 2, Text: "tabs"})
	if err := os.WriteFile(filepath.Join(dir, Folder, ".drop-x"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Dropped(dir)
	if err != nil || len(got) != 1 || got[0].ID != id || got[0].Text != "tabs" || got[0].Question != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if left := pending(t, box); len(left) != 2 { // with the one that is claimed
		t.Errorf("then %+v is pending", left)
	}
}

func TestWithdrawExcludesClaim(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	const n = 200
	withdrawn, claimed := map[string]bool{}, map[string]bool{}
	var wg sync.WaitGroup
	dropped := make(chan string, n)
	wg.Go(func() {
		defer close(dropped)
		for range n {
			id, err := Drop(dir, Command{Kind: Pause})
			if err != nil {
				t.Error(err)
				return
			}
			dropped <- id
		}
	})
	stop := make(chan struct{})
	wg.Go(func() {
		defer close(stop)
		for id := range dropped {
			ok, err := Withdraw(dir, id)
			if err != nil {
				t.Error(err)
			}
			if ok {
				withdrawn[id] = true
			}
		}
	})
	claim := func() {
		items, err := box.Pending()
		if err != nil {
			t.Error(err)
		}
		for _, item := range items {
			if item.Reject != nil {
				t.Errorf("%+v", *item.Reject)
				continue
			}
			claimed[item.Command.ID] = true
			if err := box.Done(item.Command.ID); err != nil {
				t.Error(err)
			}
		}
	}
	for running := true; running; claim() {
		select {
		case <-stop:
			running = false
		default:
		}
	}
	wg.Wait()
	for id := range withdrawn {
		if claimed[id] {
			t.Errorf("%s is both", id)
		}
	}
	if got := len(withdrawn) + len(claimed); got != n {
		t.Errorf("%d withdrawn and %d claimed of %d", len(withdrawn), len(claimed), n)
	}
}

func TestIDsRise(t *testing.T) {
	next := monotonicIDs(bytes.NewReader(bytes.Repeat([]byte{0xff, 0x7f, 3}, 4096)))
	at := time.UnixMilli(1_800_000_000_000)
	var ids []string
	for _, at := range []time.Time{at, at, at, at.Add(-time.Hour), at.Add(time.Millisecond), at} {
		id, err := next(at)
		if err != nil || !canonicalID(id) {
			t.Fatal(id, err)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 6 {
		t.Errorf("%v", ids)
	}
	if _, err := monotonicIDs(bytes.NewReader(nil))(at); err == nil {
		t.Error("ids without entropy")
	}
}
