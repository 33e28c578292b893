package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/pool/spec"
)

// A Task is what becomes one loop.
type Task struct {
	Name   string
	Prompt string
	Plan   bool   // the stories of ralph/tasks.json, without a prompt
	File   string // absolute; empty for a prompt of the command line
}

// Tasks returns the tasks that a path names: a file with a prompt, a plan, or a folder of files with
// prompts, in the order of their names.
func Tasks(path string) ([]Task, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the task: %w", err)
	case !info.IsDir():
		t, err := read(path)
		return []Task{t}, err
	}
	files, err := filepath.Glob(filepath.Join(escape(path), "*.md"))
	if err != nil {
		return nil, err
	}
	var all []Task
	for _, file := range files {
		t, err := read(file)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) > 0 {
		return all, nil
	}
	if _, err := os.Stat(filepath.Join(path, "ralph", "tasks.json")); err == nil {
		return []Task{{Name: Slug(filepath.Base(path)), Plan: true}}, nil
	}
	return nil, fmt.Errorf("%s has neither files *.md with a task each, nor a plan in ralph/tasks.json", path)
}

// escape makes a path a pattern that matches only itself.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func read(file string) (t Task, err error) {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if filepath.Base(file) == "tasks.json" {
		return Task{Name: Slug(filepath.Base(filepath.Dir(filepath.Dir(file)))), Plan: true}, nil
	}
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > spec.MaxPrompt) {
		err = fmt.Errorf("it has %d bytes, and %d are possible: name a file of the repository in the prompt instead", info.Size(), spec.MaxPrompt)
	}
	text := []byte(nil)
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err == nil && (!utf8.Valid(text) || strings.TrimSpace(string(text)) == "") {
		err = errors.New("it has no text")
	}
	if err != nil {
		return t, fmt.Errorf("read the task %s: %w", file, err)
	}
	return Task{Name: Slug(name), Prompt: string(text), File: file}, nil
}

// Slug makes a loop's name of a text.
func Slug(text string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
		if name.Len() >= 40 {
			break
		}
	}
	if slug := strings.Trim(name.String(), "-"); slug != "" {
		return slug
	}
	return "task"
}
