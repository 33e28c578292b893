package markdown

import (
	"slices"
	"strings"

	extension "github.com/yuin/goldmark/extension/ast"
)

// A grid is a table as text.
type grid struct {
	head  [][]Span
	rows  [][][]Span
	align []extension.Alignment
}

// cellNarrowest is the smallest width that a column is wrapped in. A table whose columns need more
// becomes a list of its rows.
const cellNarrowest = 10

func (r *renderer) table(table *extension.Table, width int) []Line {
	g := grid{align: table.Alignments}
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]Span
		style := Style{Strong: row.Kind() == extension.KindTableHeader}
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, oneLine(r.inlines(cell, style)))
		}
		if row.Kind() == extension.KindTableHeader {
			g.head = cells
		} else {
			g.rows = append(g.rows, cells)
		}
	}
	if widths := g.widths(width); widths != nil {
		return g.aligned(widths)
	}
	return g.list(width)
}

// oneLine returns spans without line breaks, and table cells without escaped bars.
func oneLine(spans []Span) []Span {
	for i := range spans {
		spans[i].Text = strings.NewReplacer("\n", " ", `\|`, "|").Replace(spans[i].Text)
	}
	return spans
}

// widths distributes the columns of a line. It returns nil if they do not suffice.
func (g grid) widths(width int) []int {
	natural := make([]int, len(g.head))
	for _, row := range append([][][]Span{g.head}, g.rows...) {
		for i, cell := range row {
			if i < len(natural) {
				natural[i] = max(natural[i], Line(cell).Columns(), 1)
			}
		}
	}
	left := width - 3*(len(natural)-1)
	order := make([]int, len(natural))
	for i := range order {
		order[i] = i
	}
	// The narrow ones get what they need; the wide ones share what is left.
	slices.SortStableFunc(order, func(a, b int) int { return natural[a] - natural[b] })
	widths := make([]int, len(natural))
	for n, i := range order {
		share := left / (len(order) - n)
		widths[i] = min(natural[i], share)
		if widths[i] < min(natural[i], cellNarrowest) {
			return nil
		}
		left -= widths[i]
	}
	return widths
}

// aligned lays the table out in columns.
func (g grid) aligned(widths []int) []Line {
	border := Style{Class: Border}
	lines := g.row(g.head, widths)
	var rule Line
	for i, w := range widths {
		if i > 0 {
			rule = rule.with("─┼─", border)
		}
		rule = rule.with(strings.Repeat("─", w), border)
	}
	lines = append(lines, rule)
	for _, row := range g.rows {
		lines = append(lines, g.row(row, widths)...)
	}
	return lines
}

// row lays out one row, whose cells may have several lines.
func (g grid) row(cells [][]Span, widths []int) (lines []Line) {
	columns := make([][]Line, len(widths))
	height := 1
	for i := range widths {
		if i < len(cells) {
			columns[i] = Wrap(cells[i], widths[i])
		}
		height = max(height, len(columns[i]))
	}
	for y := range height {
		var line Line
		for i, w := range widths {
			var cell Line
			if y < len(columns[i]) {
				cell = columns[i][y]
			}
			if i > 0 {
				line = line.with(" │ ", Style{Class: Border})
			}
			before, after := g.pad(i, w-cell.Columns())
			line = line.with(strings.Repeat(" ", before), Style{})
			line = join(line, cell)
			if i < len(widths)-1 {
				line = line.with(strings.Repeat(" ", after), Style{})
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// pad divides the blanks of a cell into those before and after its text.
func (g grid) pad(column, blanks int) (before, after int) {
	blanks = max(blanks, 0)
	if column >= len(g.align) {
		return 0, blanks
	}
	switch g.align[column] {
	case extension.AlignRight:
		return blanks, 0
	case extension.AlignCenter:
		return blanks / 2, blanks - blanks/2
	}
	return 0, blanks
}

// list lays out each row as lines of "head: cell".
func (g grid) list(width int) (lines []Line) {
	for n, row := range g.rows {
		if n > 0 {
			lines = append(lines, nil)
		}
		for i, cell := range row {
			if len(cell) == 0 {
				continue
			}
			var spans Line
			if i < len(g.head) && len(g.head[i]) > 0 {
				spans = join(g.head[i], Line{{": ", Style{Strong: true}}})
			}
			lines = append(lines, hang(Wrap(join(spans, cell), width-2), nil, 2)...)
		}
	}
	if len(g.rows) == 0 {
		for _, cell := range g.head {
			lines = append(lines, Wrap(cell, width)...)
		}
	}
	return lines
}
