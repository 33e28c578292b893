package task

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Bounds of the reported open boxes.
const (
	MaxOpen     = 20  // boxes whose text is reported
	MaxOpenText = 200 // bytes of the text of one
)

// Boxes are the boxes of a checklist.
type Boxes struct {
	Total  int
	Ticked int
	// Open are the texts of the first open boxes, in the order of the file: valid UTF-8,
	// the box's own line without the box.
	Open []string
}

// Checklist counts the task list items of a text, as GitHub Flavored Markdown defines
// them: list items of any kind and depth whose first block is a paragraph that begins with
// "[ ]", "[x]" or "[X]". Boxes in code, in HTML or anywhere within a quote are examples and do not
// count. A box without text counts. It takes about 200 bytes of memory for each byte of the text,
// see [MaxTask].
func Checklist(markdown []byte) Boxes {
	source := dropBlankLines(bytes.TrimPrefix(markdown, []byte("\ufeff")))
	var boxes Boxes
	// The walk never fails, since count does not.
	_ = ast.Walk(blocks().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindBlockquote {
			return ast.WalkSkipChildren, nil
		}
		if entering && n.Kind() == ast.KindListItem {
			boxes.add(n.FirstChild(), source)
		}
		return ast.WalkContinue, nil
	})
	return boxes
}

// add counts the box that the first block of a list item begins with.
func (b *Boxes) add(first ast.Node, source []byte) {
	if first == nil || first.Kind() != ast.KindTextBlock && first.Kind() != ast.KindParagraph {
		return
	}
	line := first.Lines().At(0)
	ticked, words, ok := box(line.Value(source))
	if !ok {
		return
	}
	b.Total++
	switch {
	case ticked:
		b.Ticked++
	case len(b.Open) < MaxOpen:
		b.Open = append(b.Open, clip(words, MaxOpenText))
	}
}

// box reads the line that a list item begins with. White space has to follow the
// box, for "[x](page.md)" is a link.
func box(line []byte) (ticked bool, words []byte, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) < 3 || line[0] != '[' || line[2] != ']' || len(line) > 3 && !util.IsSpace(line[3]) {
		return false, nil, false
	}
	words = bytes.TrimSpace(line[3:])
	switch line[1] {
	case ' ', '\t':
		return false, words, true
	case 'x', 'X':
		return true, words, true
	}
	return false, nil, false
}

// clip returns the beginning of a text as valid UTF-8 of at most limit bytes; an ellipsis replaces
// the rest.
func clip(b []byte, limit int) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), limit+utf8.UTFMax)]), "\ufffd")
	if len(s) <= limit && len(b) <= limit {
		return s
	}
	const ellipsis = "…"
	return units.Prefix(s, limit-len(ellipsis)) + ellipsis
}

// dropBlankLines returns the text without the third and further blank lines of a row, which change
// no block. The parser keeps a record for each blank line in each open container: a megabyte of
// them below a deep list would take a gigabyte.
func dropBlankLines(source []byte) []byte {
	kept, blank := make([]byte, 0, len(source)), 0
	for line := range bytes.Lines(source) {
		if blank++; len(bytes.TrimSpace(line)) > 0 {
			blank = 0
		}
		if blank <= 2 {
			kept = append(kept, line...)
		}
	}
	return kept
}

// maxDepth is how deep lists, items and quotes may be nested, so sixteen lists; deeper markers are
// text. Otherwise some megabytes of markers on one line would take hours to parse, and the tree
// would overflow the stack.
const maxDepth = 32

// blocks returns the parser of the document's blocks. They show which list items begin with a box,
// so nothing is parsed within a paragraph. Goldmark's extension package has task lists too, but
// costs each process about a millisecond at its start.
var blocks = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(depthLimited{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(depthLimited{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	))
})

// depthLimited is the parser of a container that opens none below maxDepth. Items are not limited:
// a list that was opened must get its item.
type depthLimited struct{ parser.BlockParser }

func (s depthLimited) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= maxDepth {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, reader, pc)
}
