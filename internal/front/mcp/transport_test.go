package mcp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The end of the input waits for the answers that are due. A subscription has none until it ends.
func TestEndWaitsForAnswers(t *testing.T) {
	for method, want := range map[string]time.Duration{"tools/list": drainTime, "subscriptions/listen": 0} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
				c, err := (&lines{in: in, out: io.Discard, ended: make(chan struct{})}).Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				begun := time.Now()
				if _, err := c.Read(t.Context()); err != nil {
					t.Fatalf("the call: %v", err)
				}
				if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) {
					t.Errorf("after the call: %v", err)
				}
				if took := time.Since(begun); took != want {
					t.Errorf("the end came after %v, want %v", took, want)
				}
			})
		})
	}
}
