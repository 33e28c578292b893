package holdout

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// keptOutputs is how many outputs of a project are kept.
const keptOutputs = 50

// output returns the folder of the outputs, and the name of one; 0 is for why there is no verdict.
func (c *Config) output(number int) (folder, name string, err error) {
	folder = filepath.Join(Open(c.Home, c.Project).Dir, outputFolder)
	name = fmt.Sprintf("%s-%d-%d.log", c.Loop, c.Iteration, number)
	if number == 0 {
		name = fmt.Sprintf("%s-%d-error.log", c.Loop, c.Iteration)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", err
	}
	return folder, name, prune(folder)
}

// keep writes an output.
func (c *Config) keep(number int, text []byte) error {
	folder, name, err := c.output(number)
	if err != nil {
		return err
	}
	return safefile.WriteFile(filepath.Join(folder, name), text, 0o600)
}

// move makes a log the output of a guardrail.
func (c *Config) move(log string, number int) error {
	folder, name, err := c.output(number)
	if err != nil {
		return err
	}
	return safefile.Move(log, filepath.Join(folder, name))
}

// prune removes the oldest outputs, so that there is room for one more.
func prune(folder string) error {
	outputs, err := list(folder)
	for i := 0; err == nil && i+keptOutputs <= len(outputs); i++ {
		err = os.Remove(filepath.Join(folder, outputs[i].Name()))
	}
	return err
}

// list returns the outputs, the oldest first.
func list(folder string) (found []fs.FileInfo, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if info, failed := entry.Info(); failed == nil && info.Mode().IsRegular() { // else it is gone
			found = append(found, info)
		}
	}
	slices.SortStableFunc(found, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	return found, err
}

// Outputs returns the paths of the outputs of a loop's last check, for a person.
func (s Store) Outputs(loop string) (paths []string) {
	folder := filepath.Join(s.Dir, outputFolder)
	found, _ := list(folder) // what cannot be read is not named
	last := ""
	for _, info := range slices.Backward(found) {
		check, number, ok := cutLast(strings.TrimSuffix(info.Name(), ".log"))
		if name, _, hasIteration := cutLast(check); !ok || number == "" || !hasIteration || name != loop {
			continue
		}
		if last = cmp.Or(last, check); check == last {
			paths = append(paths, filepath.Join(folder, info.Name()))
		}
	}
	slices.Sort(paths)
	return paths
}

// cutLast cuts a text at its last dash.
func cutLast(text string) (before, after string, found bool) {
	if at := strings.LastIndexByte(text, '-'); at >= 0 {
		return text[:at], text[at+1:], true
	}
	return text, "", false
}
