package markdown_test

import (
	"fmt"

	"github.com/ralph-loop/ralph/render/markdown"
)

func ExampleRender() {
	for _, line := range markdown.Render("# Done\n\nBoth **tests** pass:\n\n- one\n- two", markdown.Options{Width: 40, Marks: true}) {
		fmt.Println(line)
	}
	// Output:
	// # Done
	//
	// Both **tests** pass:
	//
	// • one
	// • two
}

func ExampleStream() {
	stream := markdown.NewStream(markdown.Options{Width: 40})
	for _, piece := range []string{"First par", "agraph.\n\nSec", "ond."} {
		stream.Append(piece)
		fmt.Println(len(stream.Lines()), "lines,", stream.Settled(), "settled")
	}
	// Output:
	// 1 lines, 0 settled
	// 3 lines, 0 settled
	// 3 lines, 0 settled
}
