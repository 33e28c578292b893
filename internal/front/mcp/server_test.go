package mcp

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// unread is the output of a client that reads nothing.
type unread chan struct{}

func (u unread) Write([]byte) (int, error) {
	<-u
	return 0, io.ErrClosedPipe
}

// A client that reads no answers cannot hold the server, neither after the end of its input nor
// after a signal.
func TestServeEndsUnread(t *testing.T) {
	const calls = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
	for name, signal := range map[string]bool{"the end of the input": false, "a signal": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				out := make(unread)
				in, client := io.Pipe()
				ended := make(chan error, 1)
				go func() { ended <- New(Options{Env: &cli.Env{}}).Serve(ctx, in, out) }()
				_, _ = io.WriteString(client, calls)
				synctest.Wait()
				if signal {
					cancel()
				} else {
					_ = client.Close()
				}
				if err := <-ended; err == nil || !strings.Contains(err.Error(), "does not read") {
					t.Errorf("it ended with %v", err)
				}
				close(out)
				_ = client.Close()
			})
		})
	}
}
