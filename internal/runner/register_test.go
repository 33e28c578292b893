//go:build unix

package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/registry"
)

// begun runs a loop of one iteration, whose agent leaves a file, and reports whether it did.
func begun(t *testing.T, home, project string) (bool, error) {
	t.Helper()
	dir := filepath.Join(project, ".ralph", "demo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := config.Defaults()
	s.MaximumIterations = 1
	s.Agent = config.AgentNames{"touch started"}
	frozen, err := config.Freeze(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), Config{
		Name: "demo", Dir: dir, Project: project, Home: home, Settings: s, Frozen: frozen, Prompt: "go on", Env: os.Environ(), Unattended: true,
	})
	_, missing := os.Stat(filepath.Join(project, "started"))
	return missing == nil, err
}

// No agent is started before the loop is entered in the registry.
func TestAgentWaitsForRegistryEntry(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "registry"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	started, err := begun(t, home, t.TempDir())
	if started || err == nil {
		t.Errorf("the agent was started: %v; %v", started, err)
	}
	if started, err := begun(t, t.TempDir(), t.TempDir()); !started {
		t.Fatalf("with a registry the agent is not started: %v", err)
	}
}

// A nested loop begins once the one before it has recorded what it may spend.
func TestNestedStartsWaitForBudget(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	if started, err := begun(t, home, project); !started {
		t.Fatal(err)
	}
	root, dir := filepath.Join(project, ".ralph", "demo"), filepath.Join(project, ".ralph", "inner")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := config.Defaults()
	s.MaximumIterations, s.Agent = 1, config.AgentNames{"true"}
	ended := make(chan error, 1)
	go func() {
		_, err := Run(context.Background(), Config{
			Name: "inner", Dir: dir, Project: project, Home: home, Settings: s, Prompt: "go on", Env: append(os.Environ(), "RALPH_LOOP_DIR="+root), Unattended: true,
		})
		ended <- err
	}()
	entry := filepath.Join(registry.Folder(home), registry.FileName(project, "inner"))
	for _, err := os.Stat(entry); err != nil; _, err = os.Stat(entry) {
		select {
		case failed := <-ended:
			t.Fatalf("it ended before it was registered: %v", failed)
		case <-time.After(time.Millisecond):
		}
	}
	lock, err := registration.AcquireTree(home, root, false)
	for ; errors.Is(err, registration.ErrTreeHeld); lock, err = registration.AcquireTree(home, root, false) {
	}
	if err != nil {
		t.Fatal(err)
	}
	if state, err := loopstate.Open(dir); err != nil || !state.Begun() {
		t.Errorf("the next one finds no limit: %v", err)
	}
	if err := errors.Join(lock.Release(), <-ended); err != nil {
		t.Error(err)
	}
}

// A runner that cannot open its inbox closes its journal, so that the next runner can open it.
func TestFailedInboxClosesJournal(t *testing.T) {
	project := t.TempDir()
	dir := filepath.Join(project, ".ralph", "demo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "inbox"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if started, err := begun(t, t.TempDir(), project); started || err == nil {
		t.Errorf("the agent was started: %v; %v", started, err)
	}
	if segments, err := journal.Segments(dir); err != nil || len(segments) != 1 {
		t.Errorf("%v, %v", segments, err)
	}
	if err := journal.CheckIdle(dir); err != nil {
		t.Error(err)
	}
}

// The names that lead to a loop are durable when its agent is started: without them, a synced
// journal may be lost.
func TestAgentWaitsForFolderSync(t *testing.T) {
	real := syncFolder
	t.Cleanup(func() { syncFolder = real })
	home, project := filepath.Join(t.TempDir(), "home"), t.TempDir()
	var mu sync.Mutex
	var synced []string
	syncFolder = func(path string) error {
		if _, err := os.Stat(filepath.Join(project, "started")); err == nil {
			t.Errorf("%s is synced after the agent was started", path)
		}
		mu.Lock()
		synced = append(synced, path)
		mu.Unlock()
		return real(path)
	}
	if started, err := begun(t, home, project); !started {
		t.Fatal(err)
	}
	slices.Sort(synced)
	want := []string{filepath.Join(project, ".ralph", "demo"), filepath.Join(project, ".ralph"), project, filepath.Join(home, "registry"), home, filepath.Dir(home)}
	if slices.Sort(want); !slices.Equal(synced, want) {
		t.Errorf("synced are %q, want %q", synced, want)
	}
	for _, failing := range want {
		syncFolder = func(path string) error {
			if path == failing {
				return errors.New("no sync here")
			}
			return nil
		}
		if err := os.RemoveAll(filepath.Join(project, "started")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(project, ".ralph")); err != nil {
			t.Fatal(err)
		}
		if started, err := begun(t, home, project); started || err == nil {
			t.Errorf("the agent was started although %s cannot be synced: %v; %v", failing, started, err)
		}
	}
}

func TestSyncFolderErrors(t *testing.T) {
	dir := t.TempDir()
	if err := syncFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may read every folder")
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o300); err != nil {
		t.Fatal(err)
	}
	if err := syncFolder(closed); err != nil {
		t.Errorf("an unreadable folder: %v", err)
	}
}

// What an agent left in place of the reserve stops no start, and nothing elsewhere is made or
// removed.
func TestReserveReplacesOtherFiles(t *testing.T) {
	elsewhere := t.TempDir()
	testfile.Write(t, filepath.Join(elsewhere, "1"), "a person's")
	for name, leave := range map[string]func(string) error{
		"reserve":         func(path string) error { return os.Symlink(filepath.Join(elsewhere, "1"), path) },
		"reserve-files":   func(path string) error { return os.Symlink(elsewhere, path) },
		"reserve-files/1": func(path string) error { return os.Symlink(elsewhere, path) },
		"reserve-files/2": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		r := &runner{}
		r.Dir = t.TempDir()
		path := filepath.Join(r.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), leave(path)); err != nil {
			t.Fatal(err)
		}
		if err := r.reserve(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, spare := range spares {
			if info, err := os.Lstat(filepath.Join(r.Dir, loopfolder.Spare, spare)); err != nil || !info.IsDir() {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.release()
		if left, err := os.ReadDir(r.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(elsewhere, "1")); err != nil || string(text) != "a person's" {
		t.Errorf("a person's file is %q, %v", text, err)
	}
	if there, err := os.ReadDir(elsewhere); err != nil || len(there) != 1 {
		t.Errorf("elsewhere is %v, %v", there, err)
	}
}
