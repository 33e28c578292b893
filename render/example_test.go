package render_test

import (
	"fmt"

	"github.com/ralph-loop/ralph/render"
)

func ExampleClean() {
	fmt.Println(render.Clean("\x1b]0;owned\x07\x1b[31mred\x1b[0m\tand\r\nmore\x00"))
	// Output: red and more␀
}
