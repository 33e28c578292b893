package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// TokenFile is the name of the file in ralph's home that contains the tokens.
const TokenFile = "web-token.json"

// tokenBytes is the length of a token before it is encoded.
const tokenBytes = 32

// maxTokenFile bounds the file in bytes.
const maxTokenFile = 4 << 10

// Tokens are what a link contains: each lets its owner in.
type Tokens struct {
	Full     string `json:"token"`    // may read and send commands
	ReadOnly string `json:"readOnly"` // may only read
}

// An OpenFileError says that other users may read the tokens.
type OpenFileError struct{ Path string }

func (e *OpenFileError) Error() string {
	return fmt.Sprintf("%s can be read by other users", e.Path)
}

// LoadTokens returns the tokens of a home. It makes them if there are none, or if fresh is set:
// then all earlier links are void. A file that other users may read is an *OpenFileError.
func LoadTokens(home string, fresh bool) (Tokens, error) {
	path := filepath.Join(home, TokenFile)
	if !fresh {
		t, err := readTokens(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return t, err
		}
	}
	t := Tokens{Full: newToken(), ReadOnly: newToken()}
	text, err := json.Marshal(t)
	if err == nil {
		err = os.MkdirAll(home, 0o700)
	}
	if err == nil {
		err = safefile.WriteFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return Tokens{}, fmt.Errorf("write the tokens of the web server: %w", err)
	}
	return t, nil
}

func readTokens(path string) (Tokens, error) {
	file, err := safefile.Open(path)
	if err != nil {
		return Tokens{}, fmt.Errorf("read the tokens of the web server: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Tokens{}, fmt.Errorf("read the tokens of the web server: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return Tokens{}, &OpenFileError{path}
	}
	text, err := safefile.ReadAll(file, maxTokenFile)
	var t Tokens
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err == nil && (!isToken(t.Full) || !isToken(t.ReadOnly) || t.Full == t.ReadOnly) {
		err = errors.New("it does not contain two tokens")
	}
	if err != nil {
		return Tokens{}, fmt.Errorf("read the tokens of the web server in %s: %w", path, err)
	}
	return t, nil
}

func newToken() string {
	secret := make([]byte, tokenBytes)
	_, _ = rand.Read(secret) // never fails
	return base64.RawURLEncoding.EncodeToString(secret)
}

func isToken(text string) bool {
	secret, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(secret) == tokenBytes
}

// derived returns a value that only the owner of a token can compute, and from which the token
// cannot be computed.
func derived(token, purpose string, bytes int) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("ralph web " + purpose))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:bytes])
}
