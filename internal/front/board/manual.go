package board

import (
	"strings"

	"github.com/ralph-loop/ralph/render"
)

// manualKeys are all keys, with what they do.
var manualKeys = [][2]string{
	{"up down j k", "choose a loop; page up, page down, home and end go further"},
	{"enter", "attach to it; leaving it comes back here"},
	{"a", "answer what its agent asks; resume a loop that is held or has ended with a text"},
	{"1 to 9", "take that answer of those that the agent expects; enter sends it"},
	{"s", "steer: send its agent a message"},
	{"x", "stop it, after its iteration or now"},
	{"p", "pause it, or resume it if it is paused or waits for you"},
	{"r", "resume it: also a loop that ended or whose runner died"},
	{"d", "dismiss it: it needs you no more until it has worked again"},
	{"space", "peek at the end of its conversation"},
	{"n", "begin a new loop in this project"},
	{"/", "filter as you type; esc clears the filter"},
	{"h", "only this project, or all"},
	{"ctrl+z", "suspend; fg comes back"},
	{"q ctrl+c", "leave; no loop stops"},
}

var manualGroups = [][2]string{
	{"needs you", "its agent asks something; it waits for you or is paused; it failed, or ended because only a person can help (blocked, not logged in, no quota); or its runner died"},
	{"working", "it continues by itself, also after a rate limit"},
	{"ended", "completed, stopped, or dismissed"},
}

// manual is the page of all keys.
func (m *Model) manual() []string {
	lines := []string{m.Theme.Bold.Render("Keys"), ""}
	lines = append(lines, m.pairs(manualKeys)...)
	lines = append(lines, "", m.Theme.Bold.Render("Groups"), "")
	lines = append(lines, m.pairs(manualGroups)...)
	lines = append(lines, "", m.Theme.Bold.Render("Columns"), "")
	for _, text := range []string{
		"TODAY is what the loop has cost since midnight. An iteration counts for the day on which it ended.",
		"TOTAL is what it has cost in all. A cost that its agent does not report is unknown.",
	} {
		lines = append(lines, m.wrapped(text, m.Width, 4)...)
	}
	leave, room := "any key comes back", max(m.Height-1, 0)
	if len(lines) > room {
		leave = "↑↓ scroll · any other key comes back"
		m.page = min(max(m.page, 0), len(lines)-room)
		lines = lines[m.page : m.page+room]
	}
	return append(lines, m.Theme.Dim.Render(render.Cut(leave, m.Width)))
}

// pairs are terms and what they mean; below each other on a narrow terminal.
func (m *Model) pairs(pairs [][2]string) []string {
	const left = 14
	var lines []string
	for _, pair := range pairs {
		term := m.Theme.Accent.Render(pair[0]) + strings.Repeat(" ", max(left-render.Columns(pair[0]), 1))
		for i, row := range m.wrapped(pair[1], m.Width-left, 9) {
			if i > 0 {
				term = strings.Repeat(" ", left)
			}
			lines = append(lines, term+row)
		}
	}
	return lines
}
