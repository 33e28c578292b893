package connect_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/store"
)

func TestOpenFolder(t *testing.T) {
	s, err := connect.Open(t.Context(), connect.Pool{URL: "dir://" + t.TempDir(), Host: "mill"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Get(t.Context(), "loops/L/view"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"":                      "none of",
		"http://localhost":      "none of",
		"dir://relative/folder": "dir:///FOLDER",
		"dir:///does/not/exist": "does not exist",
	} {
		s, err := connect.Open(t.Context(), connect.Pool{URL: address})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

func TestPodsHaveNames(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "pool.json"), []byte(`{"url":"dir:///pool","host":"mill"}`), 0o400); err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{"": "mill", "ralph-workers-7": "ralph-workers-7"} {
		t.Setenv("RALPH_POOL_HOST", variable)
		if p, err := connect.Load(home); err != nil || p.Host != want {
			t.Errorf("%q: %+v, %v", variable, p, err)
		}
	}
	t.Setenv("RALPH_POOL_HOST", "../mill")
	if p, err := connect.Load(home); err == nil {
		t.Errorf("%+v is accepted", p)
	}
}
