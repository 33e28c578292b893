// Package program runs ralph for what no public package of it does.
package program

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Ralph is the program that is run: the one beside this program, else the one on PATH.
func Ralph() string {
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), "ralph"); isProgram(beside) {
			return beside
		}
	}
	return "ralph"
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Run runs ralph until it ends, and returns what it printed. An error has the last lines that it
// wrote to stderr.
func Run(ctx context.Context, args ...string) ([]byte, error) {
	var out, problem bytes.Buffer
	command := exec.CommandContext(ctx, Ralph(), args...)
	command.Stdout, command.Stderr = &out, &problem
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("ralph %s: %w\n%s", strings.Join(args, " "), err, lastLines(problem.String(), 5))
	}
	return out.Bytes(), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
