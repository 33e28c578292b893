package highlight_test

import (
	"fmt"

	"github.com/ralph-loop/ralph/render/highlight"
)

func Example() {
	for _, token := range highlight.ByFile("main.go").Tokens("return \"a\" // b") {
		fmt.Printf("%s %q\n", token.Class, token.Text)
	}
	// Output:
	// keyword "return"
	// plain " "
	// string "\"a\""
	// plain " "
	// comment "// b"
}
