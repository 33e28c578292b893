package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// ErrNoHome is the error of [Home] if the environment has neither RALPH_HOME nor a home directory.
var ErrNoHome = errors.New("neither RALPH_HOME nor a home directory is set")

// Home returns the absolute folder of the person's settings and registry: RALPH_HOME if it is set,
// else .ralph in the home directory. env is os.Getenv or a replacement for tests. The folder need
// not exist.
func Home(env func(string) string) (string, error) {
	if dir := env("RALPH_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("resolve RALPH_HOME: %w", err)
		}
		return abs, nil
	}
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	dir := env(key)
	if !filepath.IsAbs(dir) {
		return "", ErrNoHome
	}
	return filepath.Join(dir, ".ralph"), nil
}
