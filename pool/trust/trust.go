// Package trust has the keys with which people sign what they submit, and says whose
// specifications may run programs on this host.
//
//	HOME/pool.key      the person's own key, of mode 0600, made by the first submission
//	HOME/pool.trust    a line for each key that is trusted: the key, and a name for people
//
// A person's own key is trusted where it is.
package trust

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Own returns the person's key, and makes it if there is none.
func Own(home string) (ed25519.PrivateKey, error) {
	key, err := read(home)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(home); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a key to sign with: %w", err)
	}
	return read(home) // perhaps another process has made it
}

// Public is the key that others trust.
func Public(key ed25519.PrivateKey) string {
	return hex.EncodeToString(key.Public().(ed25519.PublicKey))
}

func file(home string) string { return filepath.Join(home, "pool.key") }

func read(home string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file(home))
	if err != nil {
		return nil, fmt.Errorf("read the key to sign with: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s is no key: move it away, and the next 'ralph pool submit' makes a new one", file(home))
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func makeKey(home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(home, ".pool-key-") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(hex.EncodeToString(key.Seed()) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), file(home)) // never over another one
}

// Trusted returns the keys that this host trusts, with their names.
func Trusted(home string) (map[string]string, error) {
	all := map[string]string{}
	if key, err := read(home); err == nil {
		all[Public(key)] = "yourself"
	}
	text, err := os.ReadFile(filepath.Join(home, "pool.trust"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the keys that this host trusts: %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		key, name, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if CheckKey(key) == nil {
			all[key] = name
		}
	}
	return all, nil
}

// CheckKey refuses what is not a public key.
func CheckKey(key string) error {
	if b, err := hex.DecodeString(key); err != nil || len(b) != ed25519.PublicKeySize || key != strings.ToLower(key) {
		return fmt.Errorf("%.80q is no key: 'ralph pool list' shows those that wait for trust, with 64 digits", key)
	}
	return nil
}

// Add trusts a key on this host.
func Add(home, key, name string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("trust a key: %w", err)
	}
	path := filepath.Join(home, "pool.trust")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("trust a key: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("trust a key: %w", err)
	}
	begin := "" // of a line, also after one that a person has written without an end
	if len(before) > 0 && before[len(before)-1] != '\n' {
		begin = "\n"
	}
	_, err = f.WriteString(begin + key + " " + strings.Join(strings.Fields(name), " ") + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("trust a key: %w", err)
	}
	return nil
}
