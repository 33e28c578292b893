package trust_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/trust"
)

func TestOwnKeyStaysTheSame(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	first, err := trust.Own(home)
	if err != nil {
		t.Fatal(err)
	}
	again, err := trust.Own(home)
	if err != nil || !first.Equal(again) {
		t.Errorf("another key, %v", err)
	}
	info, err := os.Stat(filepath.Join(home, "pool.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	all, err := trust.Trusted(home)
	if err != nil || all[hex.EncodeToString(first.Public().(ed25519.PublicKey))] != "yourself" {
		t.Errorf("%v, %v", all, err)
	}
}

func TestDamagedKeyIsNotReplaced(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "pool.key"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Own(home); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Error(err)
	}
}

func TestKeyAfterUnendedLine(t *testing.T) {
	home := t.TempDir()
	first, second := strings.Repeat("0a", 32), strings.Repeat("0b", 32)
	if err := os.WriteFile(filepath.Join(home, "pool.trust"), []byte(first+" ada"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := trust.Add(home, second, "bob"); err != nil {
		t.Fatal(err)
	}
	if all, err := trust.Trusted(home); err != nil || len(all) != 2 || all[first] != "ada" || all[second] != "bob" {
		t.Errorf("%v, %v", all, err)
	}
}

func TestTrustedKeys(t *testing.T) {
	home := t.TempDir()
	key := strings.Repeat("0a", 32)
	if err := trust.Add(home, key, "ada\nevil"); err != nil {
		t.Fatal(err)
	}
	if err := trust.Add(home, "short", ""); err == nil {
		t.Error("a key of 5 digits was trusted")
	}
	all, err := trust.Trusted(home)
	if err != nil || len(all) != 1 || all[key] != "ada evil" {
		t.Errorf("%v, %v", all, err)
	}
}
