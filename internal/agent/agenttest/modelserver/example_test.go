package modelserver_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
)

func ExampleNew() {
	srv, err := modelserver.New(modelserver.Sequence(
		modelserver.Step{Text: "All done.", Chunks: 2, Usage: modelserver.Usage{In: 900, Out: 12}},
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	body := `{"model":"any","stream":true,"messages":[{"role":"user","content":"do the work"}]}`
	response, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			fmt.Println(name)
		}
	}
	fmt.Println(srv.Requests()[0].Text(modelserver.User))
	// Output:
	// message_start
	// content_block_start
	// content_block_delta
	// content_block_delta
	// content_block_stop
	// message_delta
	// message_stop
	// do the work
}
