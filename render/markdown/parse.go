package markdown

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds that no text of a person or a model reaches. Beyond them marks are plain text, since the
// parser takes quadratic time for some of them.
const (
	depthMost = 12     // quotes and lists in each other
	marksMost = 400    // marks of emphasis, links, code and HTML in one paragraph
	cellsMost = 20_000 // of one table
)

// theParser is made when it is first used: most runs of the program show no Markdown.
var theParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(shallow{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(few{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(fewClosed{few{parser.NewLinkParser()}}, 200),
			util.Prioritized(few{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(few{parser.NewRawHTMLParser()}, 400),
			util.Prioritized(fewClosed{few{parser.NewEmphasisParser()}}, 500),
			util.Prioritized(fewClosed{few{extension.NewStrikethroughParser()}}, 500),
		),
		parser.WithParagraphTransformers(util.Prioritized(small{extension.NewTableParagraphTransformer()}, 200)),
	)
})

func parse(source []byte) ast.Node {
	return theParser().Parse(text.NewReader(source))
}

// shallow opens containers to a bounded depth.
type shallow struct{ parser.BlockParser }

func (p shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if kind := n.Kind(); kind == ast.KindBlockquote || kind == ast.KindListItem {
			depth++
		}
	}
	if depth >= depthMost {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// few reads a bounded number of marks in each paragraph.
type few struct{ parser.InlineParser }

var countKey = parser.NewContextKey()

// A count is how many marks were read in a paragraph.
type count struct {
	paragraph ast.Node
	marks     int
}

func (p few) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	c, _ := pc.Get(countKey).(*count)
	if c == nil {
		c = &count{}
		pc.Set(countKey, c)
	}
	if c.paragraph != parent {
		*c = count{paragraph: parent}
	}
	if c.marks++; c.marks > marksMost {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// fewClosed is for parsers that have work to do at the end of a paragraph.
type fewClosed struct{ few }

func (p fewClosed) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := p.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// small makes tables of a bounded size.
type small struct{ parser.ParagraphTransformer }

func (t small) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	columns := 0
	for i := range lines.Len() {
		line := lines.At(i)
		columns = max(columns, bytes.Count(line.Value(reader.Source()), []byte("|")))
	}
	if columns > 0 && columns*lines.Len() <= cellsMost {
		t.ParagraphTransformer.Transform(node, reader, pc)
	}
}
