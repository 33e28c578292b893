package release

import (
	"crypto/ecdsa"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// The files of a proof. Each line of the list is in the format of sha256sum, and the folder of the
// name is that of the archive: "<SHA-256>  ralph_0.1.0_linux_amd64/ralph".
const (
	ListFile   = "programs.txt"
	BundleFile = ListFile + ".sigstore.json"
)

const maxFile = 1 << 20

//go:embed key.pem
var keys []byte

// Proof is what was found of a program.
type Proof struct {
	Program string `json:"program"`
	SHA256  string `json:"sha256"`
	Name    string `json:"name"` // its line in the list, such as ralph_0.1.0_linux_amd64/ralph
	List    string `json:"list"`
	Key     string `json:"key"` // the SHA-256 of the public key
}

// Error is a failed proof. Altered says that a file is not as the release made it; otherwise
// something is missing, and nothing is known.
type Error struct {
	Err      error
	Altered  bool
	NextStep string
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Hint() string { return e.NextStep }

func altered(format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Altered: true, NextStep: "do not use it: download the release again, and verify that"}
}

// Verify proves that a program is in a list that one of the keys signed. Without a key, those of
// this program count.
func Verify(program string, trusted ...*ecdsa.PublicKey) (Proof, error) {
	var err error
	if len(trusted) == 0 {
		if trusted, err = PublicKeys(keys); err != nil {
			return Proof{}, err
		}
	}
	if len(trusted) == 0 {
		return Proof{}, &Error{
			Err:      errors.New("this ralph has no key of the releases to verify with"),
			NextStep: "name the file of their public key with --key",
		}
	}
	// Package managers link programs into the folders of PATH.
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return Proof{}, &Error{Err: fmt.Errorf("find the program: %w", err), NextStep: "name a program that is there"}
	}
	list, content, bundle, err := readList(filepath.Dir(program))
	if err != nil {
		return Proof{}, err
	}
	key, err := verifyBundle(bundle, content, trusted)
	if err != nil {
		return Proof{}, altered("%s is not signed by a key of the releases: %w", list, err)
	}
	sum, err := hash(program)
	if err != nil {
		return Proof{}, err
	}
	proof := Proof{Program: program, SHA256: sum, List: list, Key: hex.EncodeToString(fingerprint(key))}
	if proof.Name = nameOf(content, sum); proof.Name == "" {
		return Proof{}, altered("%s is no program of the release: its SHA-256 is %s, which %s does not have", program, sum, list)
	}
	return proof, nil
}

// readList reads the list and its signature beside a program, or where packages put them.
func readList(dir string) (place string, list, bundle []byte, err error) {
	for _, folder := range []string{dir, filepath.Join(dir, "..", "share", "ralph")} {
		place = filepath.Join(folder, ListFile)
		list, err = safefile.ReadLinked(place, maxFile)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			bundle, err = safefile.ReadLinked(filepath.Join(folder, BundleFile), maxFile)
		}
		if errors.Is(err, os.ErrNotExist) {
			return "", nil, nil, &Error{
				Err:      fmt.Errorf("%s has no signature: %s is not beside it", place, BundleFile),
				NextStep: "take it from the archive of the release",
			}
		}
		if err != nil {
			return "", nil, nil, fmt.Errorf("read the list of the release: %w", err)
		}
		return place, list, bundle, nil
	}
	return "", nil, nil, &Error{
		Err:      fmt.Errorf("nothing to verify by: %s is neither in %s nor in ../share/ralph", ListFile, dir),
		NextStep: "only archives and packages of a release have it; what you built yourself is not signed",
	}
}

// nameOf returns the name of a hash in the list; empty if it has none.
func nameOf(list []byte, sum string) string {
	for line := range strings.Lines(string(list)) {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), sum+"  "); ok {
			return name
		}
	}
	return ""
}

func hash(program string) (string, error) {
	f, err := safefile.Open(program)
	if err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
