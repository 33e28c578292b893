package release_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/ground/release"
)

func newKey(t *testing.T) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755)); err != nil {
		t.Fatal(err)
	}
}

// installed lays a program with its proof out as a package does, and links it as a package manager
// does.
func installed(t *testing.T, key *ecdsa.PrivateKey, share string) (link, dir string) {
	t.Helper()
	dir = t.TempDir()
	program := []byte("a program")
	list := fmt.Appendf(nil, "%x  ralph_1.0.0_linux_amd64/ralph\n%x  ralph_1.0.0_darwin_arm64/ralph\n", sha256.Sum256(program), sha256.Sum256([]byte("another")))
	bundle, err := release.Sign(list, key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cellar", "bin", "ralph"), program)
	write(t, filepath.Join(dir, "cellar", share, release.ListFile), list)
	write(t, filepath.Join(dir, "cellar", share, release.BundleFile), bundle)
	link = filepath.Join(dir, "ralph")
	if err := os.Symlink(filepath.Join("cellar", "bin", "ralph"), link); err != nil {
		t.Fatal(err)
	}
	return link, filepath.Join(dir, "cellar")
}

func TestProofIsFound(t *testing.T) {
	key, public := newKey(t)
	_, other := newKey(t)
	for _, share := range []string{"bin", "share/ralph"} {
		link, _ := installed(t, key, share)
		keys, err := release.PublicKeys(append(other, public...))
		if err != nil || len(keys) != 2 {
			t.Fatal(keys, err)
		}
		proof, err := release.Verify(link, keys...)
		if err != nil || proof.Name != "ralph_1.0.0_linux_amd64/ralph" || proof.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte("a program"))) {
			t.Errorf("with the list in %s: %+v, %v", share, proof, err)
		}
	}
}

func TestAlteredFilesAreRefused(t *testing.T) {
	key, public := newKey(t)
	stranger, strangers := newKey(t)
	list := func(dir string) string { return filepath.Join(dir, "bin", release.ListFile) }
	tests := []struct {
		name    string
		change  func(t *testing.T, dir string)
		trusted []byte
		want    string
		altered bool
	}{
		{"a program of no release", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "bin", "ralph"), []byte("forged")) }, public, "is no program of the release", true},
		{"another key", func(*testing.T, string) {}, strangers, "wrong, or of another key", true},
		{"a line more in the list", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "bin", "ralph"), []byte("forged"))
			write(t, list(dir), fmt.Appendf(nil, "%x  ralph_1.0.0_linux_amd64/ralph\n", sha256.Sum256([]byte("forged"))))
		}, public, "of another list", true},
		{"a list signed by a stranger", func(t *testing.T, dir string) {
			forged := fmt.Appendf(nil, "%x  ralph_1.0.0_linux_amd64/ralph\n", sha256.Sum256([]byte("forged")))
			bundle, err := release.Sign(forged, stranger)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "bin", "ralph"), []byte("forged"))
			write(t, list(dir), forged)
			write(t, filepath.Join(dir, "bin", release.BundleFile), bundle)
		}, public, "wrong, or of another key", true},
		{"a bundle that is none", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "bin", release.BundleFile), []byte(`{"mediaType":"x"}`))
		}, public, "no bundle of version 0.3", true},
		{"no bundle", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "bin", release.BundleFile)); err != nil {
				t.Fatal(err)
			}
		}, public, "has no signature", false},
		{"no program", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "bin", "ralph")); err != nil {
				t.Fatal(err)
			}
		}, public, "find the program", false},
		{"no list", func(t *testing.T, dir string) {
			if err := os.Remove(list(dir)); err != nil {
				t.Fatal(err)
			}
		}, public, "nothing to verify by", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link, dir := installed(t, key, "bin")
			test.change(t, dir)
			keys, err := release.PublicKeys(test.trusted)
			if err != nil {
				t.Fatal(err)
			}
			_, err = release.Verify(link, keys...)
			var failed *release.Error
			if !errors.As(err, &failed) || failed.Altered != test.altered || failed.Hint() == "" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want an error with %q, altered %v, and a next step", err, test.want, test.altered)
			}
		})
	}
}

// What sigstore-go and cosign sign with a key is accepted, and what sigstore-go refuses is refused,
// as is what ralph has no means to verify.
func TestSigstoreAgrees(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "sigstore.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.Files {
		files[f.Name] = f.Data
	}
	keys, err := release.PublicKeys(files["public.pem"])
	if err != nil || len(keys) != 3 {
		t.Fatal(keys, err)
	}
	bundles := map[string]int{}
	for name, bundle := range files {
		verdict, _, ok := strings.Cut(name, "/")
		if !ok {
			continue
		}
		bundles[verdict]++
		dir := t.TempDir()
		write(t, filepath.Join(dir, "ralph"), []byte("#!/bin/sh\necho a program\n"))
		write(t, filepath.Join(dir, release.ListFile), files[release.ListFile])
		write(t, filepath.Join(dir, release.BundleFile), bundle)
		_, err := release.Verify(filepath.Join(dir, "ralph"), keys...)
		if failed, ok := errors.AsType[*release.Error](err); verdict == "accepted" && err != nil || verdict != "accepted" && (!ok || !failed.Altered) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if bundles["accepted"] != 2 || bundles["other"] != 2 || bundles["refused"] < 20 {
		t.Errorf("bundles: %v", bundles)
	}
}

// The keys that are built in can be read, however many there are, and are of no stranger.
func TestBuiltInKeysAreOurs(t *testing.T) {
	key, _ := newKey(t)
	link, _ := installed(t, key, "bin")
	_, err := release.Verify(link)
	if failed, ok := errors.AsType[*release.Error](err); !ok || failed.Hint() == "" {
		t.Errorf("got %v", err)
	}
}

func TestSigningTwiceGivesOneBundle(t *testing.T) {
	key, _ := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	again, err := release.PrivateKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	first, err1 := release.Sign([]byte("list"), key)
	second, err2 := release.Sign([]byte("list"), again)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%v\n%s%s", err, first, second)
	}
}
