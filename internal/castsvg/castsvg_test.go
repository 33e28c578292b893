package castsvg_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/castsvg"
	"github.com/ralph-loop/ralph/render/cast"
)

const second = time.Second

func recorded(events ...cast.Event) cast.Recording {
	return cast.Recording{Header: cast.Header{Columns: 20, Rows: 3}, Events: events}
}

func drawn(t *testing.T, r cast.Recording) string {
	t.Helper()
	image, err := castsvg.Draw(r, castsvg.Options{Title: "a & b", Frame: 100 * time.Millisecond, Hold: second})
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(image)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return image
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, image)
		}
	}
}

func has(t *testing.T, image string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(image, part) {
			t.Errorf("%q is missing in\n%s", part, image)
		}
	}
}

func TestFramesAtTheirTimes(t *testing.T) {
	image := drawn(t, recorded(
		cast.Event{At: 0, Code: cast.CodeOutput, Text: "one <&>\r\n"},
		cast.Event{At: 20 * time.Millisecond, Code: cast.CodeOutput, Text: "two"}, // in the same frame
		cast.Event{At: second, Code: cast.CodeOutput, Text: "\r\nthree\r\nfour"},
		cast.Event{At: 3 * second, Code: cast.CodeExit, Text: "0"},
	))
	has(t, image, ">one &lt;&amp;&gt;</text>", ">four</text>", "animation:f 4000ms step-end infinite", "prefers-reduced-motion:reduce", "<title id=\"title\">a &amp; b</title>")
	if n := strings.Count(image, ">two</text>"); n != 1 {
		t.Errorf("an equal row is drawn %d times", n)
	}
	for _, bad := range []string{"http://", "https://", "<script", "url("} {
		if strings.Contains(strings.Replace(image, "http://www.w3.org/2000/svg", "", 1), bad) {
			t.Errorf("the image has %q", bad)
		}
	}
}

func TestStylesAndColumns(t *testing.T) {
	image := drawn(t, recorded(cast.Event{Code: cast.CodeOutput, Text: "\x1b[1;38;2;1;2;3mbold\x1b[0m 日本 x\x1b[7m!\x1b[27m \x1b[38;5;196mred\x1b[39m"}))
	has(t, image, "fill:#010203;font-weight:bold", `textLength="33.6">bold<`, `textLength="50.4">日本 x<`, "<rect x=\"92.4\"", "fill:#ff0000")
}

func TestRowsAreErasedAndWritten(t *testing.T) {
	image := drawn(t, recorded(
		cast.Event{At: 0, Code: cast.CodeOutput, Text: "\x1b[?2026h\x1b[?1049h\x1b[?25l\x1b[1;1H\x1b[m\x1b[2Kfirst\x1b[?2026l"},
		cast.Event{At: second, Code: cast.CodeOutput, Text: "\x1b[1;1H\x1b[2Ksecond"},
		cast.Event{At: 2 * second, Code: cast.CodeOutput, Text: "\x1b[?25h\x1b[?1049l"},
	))
	has(t, image, ">first</text>", ">second</text>")
	if strings.Contains(image, "secondst") {
		t.Error("the row was not erased")
	}
}

func TestUnknownSequenceIsAnError(t *testing.T) {
	for _, text := range []string{"\x1b[5n", "\x1b[?47h", "\a", "\x1b[38;9m", "\x1b[99m", "\x1b[1"} {
		r := recorded(cast.Event{Code: cast.CodeOutput, Text: text})
		if _, err := castsvg.Draw(r, castsvg.Options{}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if _, err := castsvg.Draw(recorded(), castsvg.Options{}); err == nil {
		t.Error("an empty recording is drawn")
	}
}
