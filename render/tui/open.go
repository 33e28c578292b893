package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// editedMsg says how the editor ended.
type editedMsg struct{ err error }

// copySelected copies the selected entry to the clipboard of the terminal.
func (m *model) copySelected() tea.Cmd {
	text := m.conv.SelectedText()
	if text == "" {
		m.say(toneDim, "select an entry with j and k first")
		return nil
	}
	return terminal.Copy(text)
}

// copied says who has the text: a terminal does not say whether it took it.
func (m *model) copied(msg terminal.CopiedMsg) {
	size := units.Bytes(int64(msg.Bytes))
	if msg.Buffer {
		m.say(toneGood, fmt.Sprintf("copied %s to the buffer of tmux", size))
		return
	}
	m.say(toneDim, fmt.Sprintf("sent %s to the clipboard of the terminal, where it allows that", size))
}

// inText finds what may be a path in words.
var inText = units.Pattern(`[\w.@~+-]*[/.][\w./@~+-]*\w`)

// pathsMost is how many names in one entry are tried.
const pathsMost = 50

// pathsOf returns the names of files in an entry, as they are written there.
func pathsOf(e transcript.Entry) (paths []string) {
	tools, ok := e.Body.(transcript.Tools)
	if !ok {
		return inText().FindAllString(units.Prefix(plainText(e), 64<<10), pathsMost)
	}
	for _, c := range tools.Calls {
		paths = append(paths, c.Paths...)
	}
	return paths[:min(len(paths), pathsMost)]
}

// openFile opens the first file that the selected entry names and that is in the project.
func (m *model) openFile() tea.Cmd {
	e, ok := m.conv.Selected()
	if !ok {
		m.say(toneDim, "select an entry with j and k first")
		return nil
	}
	names, project := pathsOf(e), m.view.Project
	editor := editorOf(m.o.Environ)
	return func() tea.Msg {
		path, err := inProject(project, names)
		if err != nil {
			return pagerMsg{err: err}
		}
		return tea.ExecProcess(exec.Command(editor[0], append(editor[1:], path)...), func(err error) tea.Msg { return editedMsg{err} })()
	}
}

// editorOf returns the command of the person's editor. Only the person's own environment says what
// is run.
func editorOf(environ []string) []string {
	for _, name := range []string{"VISUAL=", "EDITOR="} {
		for _, entry := range environ {
			if value, ok := strings.CutPrefix(entry, name); ok && strings.TrimSpace(value) != "" {
				return strings.Fields(value)
			}
		}
	}
	return []string{"vi"}
}

// lineSuffix is what compilers write after a name.
var lineSuffix = units.Pattern(`:\d+(:\d+)?$`)

// inProject returns the first of the names that is a regular file in the project, also after links
// are followed, as an absolute path.
func inProject(project string, names []string) (string, error) {
	root, err := filepath.EvalSymlinks(project)
	if err != nil || project == "" {
		return "", fmt.Errorf("find the project's folder: %w", errors.Join(err, os.ErrNotExist))
	}
	for _, name := range names {
		name = lineSuffix().ReplaceAllString(name, "")
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		path, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		if inside, err := filepath.Rel(root, path); err != nil || !filepath.IsLocal(inside) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", errors.New("this entry names no file of the project")
}

// showDiff shows the changes of an iteration: its commit, else the edits that the journal has.
func (m *model) showDiff() tea.Cmd {
	n := m.view.Iteration
	if _, selected := m.conv.Selected(); !selected && !m.conv.AtEnd() && m.focus == reading {
		m.conv.Select(0) // what is shown is of an earlier one
	}
	if e, ok := m.conv.Selected(); ok && e.Iteration > 0 {
		n = e.Iteration
	}
	if m.focus == listing && m.side.at < len(m.side.items) && m.side.at >= 0 {
		n = m.side.items[m.side.at].n
	}
	if n == 0 {
		m.say(toneDim, "no iteration has begun")
		return nil
	}
	commit, project, dir := m.side.item(n).commit, m.view.Project, m.o.Dir
	ctx, theme, o, showCommit := m.ctx, m.theme, m.pageOptions(), m.o.ShowCommit
	m.say(toneDim, fmt.Sprintf("reading the changes of iteration %d …", n))
	return func() tea.Msg {
		if commit != "" && showCommit != nil {
			text, err := showCommit(ctx, project, commit)
			if err == nil {
				return pagerMsg{title: fmt.Sprintf("Iteration %d: commit %s", n, render.Clean(commit)), text: diffRows(text, theme)}
			}
		}
		rows, err := editsOf(ctx, dir, n, theme, o)
		if err == nil && len(rows) == 0 {
			err = fmt.Errorf("iteration %d has no commit, and no edits in the journal", n)
		}
		return pagerMsg{title: fmt.Sprintf("Iteration %d: edits of the agent", n), text: rows, err: err}
	}
}

// editsMost is how many lines of edits are shown.
const editsMost = 20000

// editsOf collects what the tools of an iteration changed in files.
func editsOf(ctx context.Context, dir string, n int, t terminal.Theme, o transcript.Options) (rows []row, err error) {
	seq, err := beginningOf(dir, n)
	for err == nil && ctx.Err() == nil && len(rows) < editsMost {
		var page transcript.Page
		if page, err = transcript.Read(dir, seq, pageEvents, o); err != nil {
			break
		}
		for _, e := range page.Entries {
			if e.Iteration > n {
				return rows, nil
			}
			rows = append(rows, edits(e, t)...)
		}
		if page.End || page.Last < seq {
			break
		}
		seq = page.Last + 1
	}
	return rows, err
}

// edits are the changes of one entry.
func edits(e transcript.Entry, t terminal.Theme) (rows []row) {
	tools, _ := e.Body.(transcript.Tools)
	for _, c := range tools.Calls {
		if len(c.Diff) == 0 {
			continue
		}
		rows = append(rows, row{}, row{text: c.Name + "  " + c.About, style: t.Bold})
		for _, line := range c.Diff {
			style := t.Dim
			switch line.Sign {
			case '+':
				style = t.Added
			case '-':
				style = t.Removed
			}
			rows = append(rows, row{text: string(line.Sign) + render.Clean(strings.ReplaceAll(line.Text, "\t", "    ")), style: style})
		}
	}
	return rows
}
