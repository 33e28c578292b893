package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/projector"
)

// built is the error of building ralph-pool, beside the ralph of the tests.
var built = sync.OnceValue(func() error {
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Dir(ralph), "github.com/ralph-loop/ralph/pool/cmd/ralph-pool")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build ralph-pool: %w\n%s", err, out)
	}
	return nil
})

func program(t *testing.T) {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
}

// background starts a command of ralph-pool, which ends with the test.
func background(t *testing.T, h *pooltest.Host, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command("ralph-pool", args...)
	command.Env, command.Stderr = h.Environ(), os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _, _ = command.Process.Wait() })
	return command
}

// A person on one host submits a loop, which another host runs, and steers it there.
func TestLoopOnAnotherHost(t *testing.T) {
	program(t)
	w := newWorld(t, "steered -> finish\nsilence\n")
	here, there := pooltest.NewHost(t), pooltest.NewHost(t)
	for h, name := range map[*pooltest.Host]string{here: "mill", there: "kiln"} {
		h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", name)
		h.Run(h.Dir, "git", "config", "--global", "user.name", "a")
	}
	app := filepath.Join(here.Dir, "app")
	here.Run(here.Dir, "git", "clone", "-q", w.repository, "app")
	here.Write(filepath.Join(app, "notes"), "mine")
	submit := []string{"submit", "-p", "Write a greeting.", "--name", "greet", "-a", "ralph rehearse work.rehearsal", "-m", "1", "--json"}
	if out, err := here.Try(app, "ralph-pool", submit...); err == nil || !strings.Contains(out, `"notes" is not committed`) {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Remove(filepath.Join(app, "notes")); err != nil {
		t.Fatal(err)
	}
	var submitted []struct{ ID, Key string }
	if err := json.Unmarshal([]byte(here.Run(app, "ralph-pool", submit...)), &submitted); err != nil || len(submitted) != 1 {
		t.Fatalf("%+v, %v", submitted, err)
	}
	if out, err := there.Try(there.Dir, "ralph-pool", "worker", "--once"); err == nil || !strings.Contains(out, "no mirror runs on this host") {
		t.Fatalf("%v: %s", err, out)
	}
	w.beat("kiln")
	there.Run(there.Dir, "ralph-pool", "worker", "--once")
	if out := here.Run(app, "ralph-pool", "list"); !strings.Contains(out, "waits for trust by host kiln: 'ralph pool trust "+submitted[0].Key+"'") {
		t.Fatal(out)
	}
	there.Run(there.Dir, "ralph-pool", "trust", submitted[0].Key, "ada")
	mirror := background(t, there, "mirror")
	worker := background(t, there, "worker", "--once")
	for _, err := range w.store.Watch(t.Context(), keys.View(submitted[0].ID)) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.Get(t.Context(), keys.View(submitted[0].ID)); err == nil {
			break // it is claimed
		}
	}
	if out := here.Run(app, "ralph-pool", "steer", "greet", "that will do"); out != "greet has received it, on host kiln" {
		t.Errorf("%s", out)
	}
	if state, err := worker.Process.Wait(); err != nil || !state.Success() {
		t.Errorf("the worker: %v, %v", state, err)
	}
	_ = mirror.Process.Signal(syscall.SIGTERM)
	_, _ = mirror.Process.Wait()
	there.Run(there.Dir, "ralph-pool", "mirror", "--once")
	var rows []listing.Row
	if err := json.Unmarshal([]byte(here.Run(app, "ralph-pool", "list", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || rows[0].Host != "kiln" || rows[0].Epoch != 1 || rows[0].Iteration != 1 || rows[0].View.Ended == nil {
		t.Errorf("%+v", rows)
	}
}

func TestUnclaimedLoopIsWithdrawn(t *testing.T) {
	program(t)
	w := newWorld(t, "")
	h := pooltest.NewHost(t)
	h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", "mill")
	for _, args := range [][]string{{"--repository=--upload-pack=x"}, {"--repository", "ext::sh"}, {"--repository", "/a", "--account", "a"}} {
		if out, err := h.Try(h.Dir, "ralph-pool", append([]string{"submit", "-p", "x"}, args...)...); err == nil {
			t.Errorf("%q: %s", args, out)
		}
	}
	h.Run(h.Dir, "ralph-pool", "submit", "--repository", w.repository, "-p", "x", "--name", "one", "--account", "team", "--budget", "3")
	cannotTake := func(state string) {
		if out, err := h.Try(h.Dir, "ralph-pool", "take", "one"); err == nil || !strings.Contains(out, "loop one is "+state) {
			t.Errorf("take: %v: %s", err, out)
		}
	}
	cannotTake("queued")
	if out := h.Run(h.Dir, "ralph-pool", "stop", "one"); out != "one is withdrawn: no host runs it" {
		t.Error(out)
	}
	cannotTake("withdrawn by ")
	if out, err := h.Try(h.Dir, "ralph-pool", "pause", "one"); err == nil || !strings.Contains(out, "loop one has ended: withdrawn by ") {
		t.Errorf("pause: %v: %s", err, out)
	}
	w.beat("mill")
	h.Run(h.Dir, "ralph-pool", "worker", "--once")
	if got := w.ran(); len(got) != 0 {
		t.Errorf("%v ran", got)
	}
	if out := h.Run(h.Dir, "ralph-pool", "list"); !strings.Contains(out, "withdrawn by ") {
		t.Error(out)
	}
	if a, err := queue.ReadAccount(t.Context(), w.store, "team"); err != nil || len(a.Reserved) != 0 {
		t.Errorf("of a loop that no host runs is reserved: %+v, %v", a, err)
	}
}

func TestFleetIsStopped(t *testing.T) {
	program(t)
	w := newWorld(t, "")
	h := pooltest.NewHost(t)
	h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", "mill")
	h.Run(h.Dir, "ralph-pool", "submit", "-p", "x", "--name", "demo", "--repository", w.repository)
	h.Run(h.Dir, "ralph-pool", "stop", "demo") // a loop that is over has the name as well
	h.Write(filepath.Join(h.Dir, "tasks", "one.md"), "Do one.\n")
	h.Write(filepath.Join(h.Dir, "tasks", "two.md"), "dependsOn: one\n\nDo two.\n")
	h.Run(h.Dir, "ralph-pool", "submit", "--fleet", "demo", "tasks", "--repository", w.repository, "--account", "team", "--budget", "3")
	if out, err := h.Try(h.Dir, "ralph-pool", "steer", "demo", "x"); err == nil || !strings.Contains(out, "demo is a fleet") {
		t.Errorf("steer: %v: %s", err, out)
	}
	if out := h.Run(h.Dir, "ralph-pool", "stop", "demo"); out != "demo-two is withdrawn: no host runs it\ndemo-one is withdrawn: no host runs it" {
		t.Error(out)
	}
	w.beat("mill")
	h.Run(h.Dir, "ralph-pool", "worker", "--once")
	if got := w.ran(); len(got) != 0 {
		t.Errorf("%v ran", got)
	}
	if out, err := h.Try(h.Dir, "ralph-pool", "stop", "demo"); err == nil || !strings.Contains(out, "all of fleet demo is over") {
		t.Errorf("again: %v: %s", err, out)
	}
}

// A host does not answer: what waits is withdrawn all the same, and other loops get the command.
func TestFleetStopsAtOnce(t *testing.T) {
	program(t)
	w := newWorld(t, "")
	h := pooltest.NewHost(t)
	h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", "mill")
	for name, text := range map[string]string{"one": "Do one.\n", "two": "dependsOn: one\n\nDo two.\n", "zoo": "Do the zoo.\n"} {
		h.Write(filepath.Join(h.Dir, "tasks", name+".md"), text)
	}
	var parts []struct{ ID, Name string }
	if err := json.Unmarshal([]byte(h.Run(h.Dir, "ralph-pool", "submit", "--fleet", "demo", "tasks", "--repository", w.repository, "--json")), &parts); err != nil || len(parts) != 3 {
		t.Fatalf("%+v, %v", parts, err)
	}
	var missing []string
	for _, part := range parts {
		if part.Name == "demo-two" {
			missing = append(missing, keys.Chunk(part.ID, 0))
			continue
		}
		view := &projector.View{}
		view.Name = part.Name
		cell := live.Cell{Key: keys.View(part.ID)}
		_, err := queue.NewClaim(part.ID, "kiln", []byte("{}")).Try(t.Context(), w.store)
		if err := errors.Join(err, cell.Put(t.Context(), w.store, 1, live.View{Version: 1, Loop: part.ID, Epoch: 1, Host: "kiln", View: view})); err != nil {
			t.Fatal(err)
		}
		missing = append(missing, keys.Inbox(part.ID))
	}
	background(t, h, "stop", "demo", "--wait", "1h")
	ctx, stop := context.WithTimeout(t.Context(), pooltest.Deadline)
	defer stop()
	for _, err := range w.store.Watch(ctx, keys.Loops) {
		if err != nil {
			t.Fatalf("of %q, one got nothing: %v", missing, err)
		}
		missing = slices.DeleteFunc(missing, func(prefix string) bool {
			for _, err := range w.store.List(ctx, prefix, "") {
				return err == nil
			}
			return false
		})
		if len(missing) == 0 {
			return
		}
	}
	t.Errorf("without a command: %q", missing)
}

// No host begins a loop that was given up, so nothing waits for its receipt.
func TestGivenUpLoopHasEnded(t *testing.T) {
	program(t)
	w := newWorld(t, "")
	h := pooltest.NewHost(t)
	h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", "mill")
	one := w.submit("one", nil)
	view := &projector.View{}
	view.Name, view.State = "one", "its branch is missing"
	cell := live.Cell{Key: keys.View(one.ID)}
	_, err := queue.NewClaim(one.ID, "kiln", []byte("{}")).Try(t.Context(), w.store)
	if err := errors.Join(err, cell.Put(t.Context(), w.store, 1, live.View{Version: 1, Loop: one.ID, Epoch: 1, Host: "kiln", View: view, GivenUp: true})); err != nil {
		t.Fatal(err)
	}
	if out, err := h.Try(h.Dir, "ralph-pool", "stop", "one", "--wait", "1s"); err == nil || !strings.Contains(out, "loop one has ended: its branch is missing") {
		t.Errorf("%v: %s", err, out)
	}
}

// Of a fleet whose submission was cut off, nothing begins later that was stopped.
func TestUnsubmittedPartIsWithdrawn(t *testing.T) {
	program(t)
	w := newWorld(t, "")
	h := pooltest.NewHost(t)
	h.Run(h.Dir, "ralph-pool", "join", "ralph+dir://"+w.folder, "--host", "mill")
	one := w.submit("demo-one", nil)
	h.Run(h.Dir, "ralph-pool", "stop", "demo-one")
	two := fleet.Part{ID: ulid.Make().String(), Loop: "demo-two", Needs: []int{0}}
	text, err := json.Marshal(fleet.Fleet{Version: fleet.Version, Name: "demo", Parts: []fleet.Part{{ID: one.ID, Loop: one.Name}, two}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.PutIfAbsent(t.Context(), keys.Fleet("demo"), text); err != nil {
		t.Fatal(err)
	}
	if out := h.Run(h.Dir, "ralph-pool", "stop", "demo"); out != "demo-two is withdrawn: no host runs it" {
		t.Error(out)
	}
	if held, err := queue.Hold(t.Context(), w.store, two.ID); err != nil || !held.Withdrawn {
		t.Errorf("%+v, %v", held, err)
	}
}
