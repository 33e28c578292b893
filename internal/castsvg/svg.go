package castsvg

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/render/cast"
)

// Options say how a recording is drawn.
type Options struct {
	Title string        // for readers who do not see the image
	Frame time.Duration // the shortest time that a frame is shown
	Hold  time.Duration // how long the last frame is shown before the first one comes again
}

// Sizes in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	fontSize   = 14
	padding    = 14
)

// Colours of the screen. It is dark on light pages, too.
const (
	background = "#0d1117"
	foreground = "#d0d7de"
	edge       = "#30363d"
)

// frame is what the screen shows from a moment on: for each of its rows, the number of the drawing.
type frame struct {
	at   time.Duration
	rows []int
}

// film collects the frames of a recording.
type film struct {
	frames   []frame
	drawings []string       // of rows, each once
	number   map[string]int // of a drawing
	classes  []string       // of styles, by their number
}

// Draw returns a recording as an animated SVG.
func Draw(r cast.Recording, o Options) (string, error) {
	f, end, err := shoot(r, o)
	if err != nil {
		return "", err
	}
	if len(f.frames) == 0 {
		return "", errors.New("the recording shows nothing")
	}
	return f.image(r, o, end+o.Hold), nil
}

// shoot plays a recording on a screen.
func shoot(r cast.Recording, o Options) (f *film, end time.Duration, err error) {
	f = &film{number: map[string]int{}}
	s := newScreen(r.Columns, r.Rows)
	dirty := false
	for _, e := range r.Events {
		due := len(f.frames) == 0 || e.At-f.frames[len(f.frames)-1].at >= o.Frame
		if dirty && due && e.At > end {
			f.add(end, s)
			dirty = false
		}
		end = e.At
		if e.Code != cast.CodeOutput || s.first != nil && strings.Contains(e.Text, "\x1b[?1049l") { // the last look is the program's
			continue
		}
		if err := s.write(e.Text); err != nil {
			return nil, 0, fmt.Errorf("draw the recording at %v: %w", e.At, err)
		}
		dirty = true
	}
	if dirty {
		f.add(end, s)
	}
	return f, end, nil
}

// add adds the present screen as a frame.
func (f *film) add(at time.Duration, s *screen) {
	shown := frame{at: at}
	for _, row := range s.cells {
		shown.rows = append(shown.rows, f.drawing(row))
	}
	if n := len(f.frames); n > 0 && slices.Equal(f.frames[n-1].rows, shown.rows) {
		return
	}
	f.frames = append(f.frames, shown)
}

// drawing returns the number of the drawing of a row; 0 is an empty one.
func (f *film) drawing(row []cell) int {
	var out strings.Builder
	for at := 0; at < len(row); {
		to := at + 1
		for to < len(row) && row[to].style == row[at].style {
			to++
		}
		f.run(&out, row[at:to], at)
		at = to
	}
	text := out.String()
	if text == "" {
		return 0
	}
	if f.number[text] == 0 {
		f.drawings = append(f.drawings, text)
		f.number[text] = len(f.drawings)
	}
	return f.number[text]
}

// run draws characters of one style.
func (f *film) run(out *strings.Builder, cells []cell, column int) {
	look := cells[0].style
	if look.invert {
		look.front, look.back = or(look.back, background), or(look.front, foreground)
	}
	if look.back != "" {
		fmt.Fprintf(out, `<rect x="%s" width="%s" height="%d" fill="%s"/>`, pixels(column), pixels(len(cells)), cellHeight, look.back)
	}
	from, to := 0, 0 // without blanks around
	var text strings.Builder
	for i, c := range cells {
		if c.text == "" || c.text == " " {
			continue
		}
		if to == 0 {
			from, to = i, i
		}
		text.WriteString(strings.Repeat(" ", i-to))
		if to = i + 1; c.text != secondHalf {
			text.WriteString(c.text)
		}
	}
	if to > 0 {
		fmt.Fprintf(out, `<text x="%s" y="%d"%s textLength="%s">%s</text>`,
			pixels(column+from), cellHeight-5, f.class(look), pixels(to-from), escaped(text.String()))
	}
}

// class returns the attribute for a style, and remembers the style.
func (f *film) class(look style) string {
	var css []string
	if look.front != "" {
		css = append(css, "fill:"+look.front)
	}
	if look.bold {
		css = append(css, "font-weight:bold")
	}
	if look.faint {
		css = append(css, "opacity:.65")
	}
	if look.italic {
		css = append(css, "font-style:italic")
	}
	if look.underline {
		css = append(css, "text-decoration:underline")
	}
	if len(css) == 0 {
		return ""
	}
	name := strings.Join(css, ";")
	at := slices.Index(f.classes, name)
	if at < 0 {
		at = len(f.classes)
		f.classes = append(f.classes, name)
	}
	return fmt.Sprintf(` class="s%d"`, at)
}

func or(colour, other string) string {
	if colour == "" {
		return other
	}
	return colour
}

// pixels is the width of so many columns.
func pixels(columns int) string {
	return strconv.FormatFloat(math.Round(float64(columns)*cellWidth*10)/10, 'f', -1, 64)
}

var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// image writes the SVG.
func (f *film) image(r cast.Recording, o Options, length time.Duration) string {
	var out strings.Builder
	height := r.Rows * cellHeight
	width := int(math.Ceil(float64(r.Columns) * cellWidth))
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">`+"\n", width+2*padding, height+2*padding)
	fmt.Fprintf(&out, "<title id=\"title\">%s</title>\n<style>\n", escaped(o.Title))
	fmt.Fprintf(&out, "text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:%s;white-space:pre}\n", fontSize, foreground)
	for i, css := range f.classes {
		fmt.Fprintf(&out, ".s%d{%s}\n", i, css)
	}
	last := (len(f.frames) - 1) * height
	fmt.Fprintf(&out, ".f{animation:f %dms step-end infinite;transform:translateY(-%dpx)}\n@keyframes f{\n", length.Milliseconds(), last)
	for i, shown := range f.frames {
		fmt.Fprintf(&out, "%s%%{transform:translateY(-%dpx)}\n", percent(shown.at, length, i == 0), i*height)
	}
	out.WriteString("}\n@media (prefers-reduced-motion:reduce){.f{animation:none}}\n</style>\n<defs>\n")
	for i, drawing := range f.drawings {
		fmt.Fprintf(&out, "<g id=\"r%d\">%s</g>\n", i+1, drawing)
	}
	fmt.Fprintf(&out, "</defs>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\" stroke=\"%s\"/>\n", background, edge)
	fmt.Fprintf(&out, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><g class=\"f\">\n", padding, padding, width, height)
	for i, shown := range f.frames {
		for j, drawing := range shown.rows {
			if drawing > 0 {
				fmt.Fprintf(&out, "<use href=\"#r%d\" y=\"%d\"/>", drawing, i*height+j*cellHeight)
			}
		}
		out.WriteByte('\n')
	}
	out.WriteString("</g></svg>\n</svg>\n")
	return out.String()
}

// percent is a moment as a part of the length; the first frame is there from the beginning.
func percent(at, length time.Duration, first bool) string {
	if first {
		return "0"
	}
	return strconv.FormatFloat(100*at.Seconds()/length.Seconds(), 'f', 3, 64)
}
