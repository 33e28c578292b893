package player

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// loopFolder begins the name of a file in the loop's folder.
const loopFolder = "{loop}/"

// within returns the root that a file's name is relative to, and its name there.
func (p *player) within(name string) (*os.Root, string) {
	if inLoop, ok := strings.CutPrefix(name, loopFolder); ok {
		return p.loop, p.fill(inLoop)
	}
	return p.project, p.fill(name)
}

type writeStep struct{ file, text string }

func (s writeStep) play(p *player) error {
	text := lines(p.fill(s.text))
	return p.useTool("write", object("path", p.fill(s.file), "content", text), func(string) (string, bool, error) {
		if err := p.put(s.file, text, os.O_TRUNC); err != nil {
			return err.Error(), false, nil
		}
		return fmt.Sprintf("wrote %d bytes", len(text)), true, nil
	})
}

type appendStep struct{ file, text string }

func (s appendStep) play(p *player) error {
	text := lines(p.fill(s.text))
	return p.useTool("edit", object("path", p.fill(s.file), "append", text), func(string) (string, bool, error) {
		if err := p.put(s.file, text, os.O_APPEND); err != nil {
			return err.Error(), false, nil
		}
		return fmt.Sprintf("added %d bytes", len(text)), true, nil
	})
}

// lines ends a text that is not empty with a newline.
func lines(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

func (p *player) put(file, text string, how int) error {
	root, name := p.within(file)
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

type tickStep struct{ box, file string }

func (s tickStep) play(p *player) error {
	root, name := p.within(s.file)
	box := p.fill(s.box)
	return p.useTool("edit", object("path", p.fill(s.file), "tick", box), func(string) (string, bool, error) {
		if err := tick(root, name, box); err != nil {
			return err.Error(), false, nil
		}
		return "ticked: " + box, true, nil
	})
}

// tick ticks the first open box of a file whose text holds box.
func tick(root *os.Root, name, box string) error {
	text, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	all := strings.SplitAfter(string(text), "\n")
	for i, line := range all {
		before, after, ok := strings.Cut(line, "[ ] ")
		if ok && strings.Contains("-*+", strings.TrimSpace(before)) && strings.Contains(after, box) {
			all[i] = before + "[x] " + after
			return root.WriteFile(name, []byte(strings.Join(all, "")), 0o666)
		}
	}
	return &fs.PathError{Op: "tick", Path: name, Err: fmt.Errorf("no open box has the text %q", box)}
}
