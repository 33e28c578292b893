package markdown

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/render"
)

func TestRenderedPages(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		for _, o := range []Options{{Width: 40}, {Width: 100}, {Width: 60, Marks: true}} {
			name := fmt.Sprintf("%s.%d", strings.TrimSuffix(file, ".md"), o.Width)
			t.Run(filepath.Base(name), func(t *testing.T) {
				source := testfile.Read(t, file)
				var got strings.Builder
				for _, line := range Render(string(source), o) {
					got.WriteString(line.String() + "\n")
				}
				golden.Check(t, name+".golden", got.String())
			})
		}
	}
}

func TestStylesOfSpans(t *testing.T) {
	for source, want := range map[string]Line{
		"a **b** *c* ~~d~~ `e`": {{"a ", Style{}}, {"b", Style{Strong: true}}, {" ", Style{}}, {"c", Style{Emphasis: true}}, {" ", Style{}}, {"d", Style{Struck: true}}, {" ", Style{}}, {"e", Style{Class: Code}}},
		"***both***":            {{"both", Style{Strong: true, Emphasis: true}}},
		"# H `c`":               {{"# ", Style{Class: Dim}}, {"H ", Style{Class: Heading, Strong: true}}, {"c", Style{Class: Code, Strong: true}}},
		"[a](http://b)":         {{"a", Style{Class: Link}}, {" ", Style{}}, {"(http://b)", Style{Class: Dim}}},
		"[http://b](http://b)":  {{"http://b", Style{Class: Link}}},
		"<http://b> x":          {{"http://b", Style{Class: Link}}, {" x", Style{}}},
		"see http://b/c_d_e.":   {{"see ", Style{}}, {"http://b/c_d_e", Style{Class: Link}}, {".", Style{}}},
		"[a][b]":                {{"[a][b]", Style{}}},
		"&lt;\\* &#27;[31m":     {{"<* [31m", Style{}}},
		"a <b>c</b>":            {{"a ", Style{}}, {"<b>", Style{Class: Dim}}, {"c", Style{}}, {"</b>", Style{Class: Dim}}},
		"![alt](x.png)":         {{"image: ", Style{Class: Dim}}, {"alt", Style{Class: Link}}, {" ", Style{}}, {"(x.png)", Style{Class: Dim}}},
		"![a](x) ![b](x)":       {{"image: ", Style{Class: Dim}}, {"a", Style{Class: Link}}, {" ", Style{}}, {"(x)", Style{Class: Dim}}, {" ", Style{}}, {"image: ", Style{Class: Dim}}, {"b", Style{Class: Link}}, {" ", Style{}}, {"(x)", Style{Class: Dim}}},
	} {
		got := Render(source, Options{Width: 80})
		if len(got) != 1 {
			t.Errorf("%q: %d lines", source, len(got))
			continue
		}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("%q: -want +got:\n%s", source, diff)
		}
	}
}

// pieces are what generated texts are made of.
var pieces = []string{
	"\n", "\n\n", "\n", "\n\n", " ", "  ", "    ", "\t", "> ", "- ", "* ", "1. ", "2) ", "+ ", "# ", "## ", "```", "```go\n", "~~~", "---", "***", "===", "|", "| a | b |\n|---|--:|\n", "| 1 | 2 |\n",
	"**", "*", "_", "`", "~~", "[", "]", "](", ")", "![", "<", ">", "<!--", "-->", "<div>", "</div>", "<br>", "\\", "&amp;", "&#27;", "[x] ", "[ ] ", "http://a.b/c", "word", "words of text", "longwordlongwordlongword",
	"世界", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "שלום", "مرحبا", "\u200d", "\u0301", "func main() {", "\"", "1",
}

func anyText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "text"), "")
}

// fitsWidth reports lines that are wider than the width, and control characters.
func fitsWidth(t interface{ Fatalf(string, ...any) }, source string, width int, lines []Line) {
	for _, line := range lines {
		text := line.String()
		if got := render.Columns(text); got > width {
			t.Fatalf("%q: line %q has %d columns, at most %d", source, text, got, width)
		}
		if clean := render.Clean(text); clean != text {
			t.Fatalf("%q: line %q is not clean", source, text)
		}
	}
}

func TestLinesFitWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, width := anyText(t), rapid.IntRange(Narrowest, 60).Draw(t, "width")
		fitsWidth(t, source, width, Render(source, Options{Width: width, Marks: rapid.Bool().Draw(t, "marks")}))
	})
}

func TestStreamEqualsRender(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source, o := anyText(t), Options{Width: rapid.IntRange(Narrowest, 60).Draw(t, "width")}
		stream := NewStream(o)
		for rest := source; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if n > 8 && rapid.Bool().Draw(t, "small") {
				n = 1
			}
			before := append([]Line(nil), stream.Lines()[:stream.Settled()]...)
			stream.Append(rest[:n])
			rest = rest[n:]
			if diff := cmp.Diff(before, append([]Line(nil), stream.Lines()[:len(before)]...)); diff != "" {
				t.Fatalf("%q: settled lines changed:\n%s", source, diff)
			}
		}
		if diff := cmp.Diff(Render(source, o), stream.Lines()); diff != "" {
			t.Fatalf("%q: -rendered +streamed:\n%s", source, diff)
		}
	})
}

func TestStreamSettlesBlocks(t *testing.T) {
	stream := NewStream(Options{Width: 40})
	stream.Append("# Title\n\none\n\n")
	if got := stream.Settled(); got != 1 {
		t.Errorf("%d lines settled, want the title", got)
	}
	stream.Append("```go\nfunc a() {}\n\n\n")
	if got := stream.Settled(); got != 3 {
		t.Errorf("%d lines settled, want the title and the paragraph", got)
	}
	stream.Append("```\n\n- a\n\n- b\n\nend\n")
	if got := stream.Lines()[stream.Settled()+1].String(); got != "end" {
		t.Errorf("first line that is not settled: %q", got)
	}
}

func TestWrapEndsForAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + rapid.StringN(0, 20, 100).Draw(t, "more")
		for _, line := range Wrap([]Span{{Text: "\x01\r" + text}}, rapid.IntRange(2, 10).Draw(t, "width")) {
			_ = line.String()
		}
	})
	if got := len(Wrap([]Span{{Text: "ab\x01\x02 \x7f"}}, 2)); got != 3 {
		t.Errorf("%d lines", got)
	}
}

func TestNestingIsBounded(t *testing.T) {
	for name, source := range hostile(10_000) {
		lines := Render(source, Options{Width: 40})
		fitsWidth(t, name, 40, lines)
	}
}

// hostile are texts for which a careless renderer takes quadratic time, or nests without bound.
func hostile(n int) map[string]string {
	texts := map[string]string{
		"lines of quotes": strings.Repeat(strings.Repeat(">", 200)+"a\n", n/200),
		"nested brackets": strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
		"nested emphasis": strings.Repeat("*a **b ", n/14) + strings.Repeat("b** a* ", n/14),
		"wide table":      strings.Repeat("|a", 500) + "\n" + strings.Repeat("|-", 500) + "\n" + strings.Repeat("|\n", n/2),
	}
	for _, piece := range []string{">", "> ", "[", "![", "*", "*a ", "*a_ ", "~~a ", "[a](", "[a](<b", "- ", "1. ", "`a``", "<a ", "<!--a", "<?", "&", "\\", "|", "|-|\n", "http://a", "://", "a\n", "- a\n\n", "\u0301", "👩\u200d", "```\n"} {
		texts[piece] = strings.Repeat(piece, n/len(piece))
	}
	return texts
}

func FuzzRender(f *testing.F) {
	for _, piece := range pieces {
		f.Add(piece+"a\n\n"+piece, uint8(20), uint8(3))
	}
	f.Fuzz(func(t *testing.T, source string, width, piece uint8) {
		source = string(render.CleanText(source))
		o := Options{Width: Narrowest + int(width)}
		lines := Render(source, o)
		fitsWidth(t, source, o.Width, lines)
		stream := NewStream(o)
		for rest := source; rest != ""; {
			n := min(int(piece)+1, len(rest))
			stream.Append(rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(lines, stream.Lines()); diff != "" {
			t.Fatalf("%q: -rendered +streamed:\n%s", source, diff)
		}
	})
}

func BenchmarkHostile(b *testing.B) {
	for name, source := range hostile(100_000) {
		b.Run(fmt.Sprintf("%.8q", name), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				Render(source, Options{Width: 80})
			}
		})
	}
}

func BenchmarkRender(b *testing.B) {
	source := testfile.Read(b, "testdata/answer.md")
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Render(string(source), Options{Width: 80})
	}
}
