package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	maxLine  = 4 << 20 // bytes of one message
	maxCalls = 64      // that are open at a time

	// listenMethod is the call that is answered when its subscriptions end.
	listenMethod = "subscriptions/listen"
)

// lines is a transport of one message per line. The SDK's own ends the session at the first line
// that it cannot read, and reads on without a bound of open calls.
type lines struct {
	in    io.Reader
	out   io.Writer
	ended chan struct{} // is closed when the input has ended
}

// Connect starts to read. It is called once.
func (t *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &connection{out: t.out, writing: make(chan struct{}, 1), incoming: make(chan incoming), closed: make(chan struct{}), open: map[any]bool{}}
	go c.read(bufio.NewReaderSize(t.in, 64<<10), t.ended)
	return c, nil
}

// incoming is a message, or the end of the input.
type incoming struct {
	message jsonrpc.Message
	err     error
}

type connection struct {
	incoming chan incoming
	closed   chan struct{}
	once     sync.Once

	out     io.Writer
	writing chan struct{} // has an element while out is written to

	mu   sync.Mutex   // guards what follows
	open map[any]bool // the calls without an answer, by id: whether one is due
	// answered is closed when no answer is due; nil until the input has ended.
	answered chan struct{}
}

// drainTime is how long calls may be answered after the input has ended.
const drainTime = 2 * time.Second

// drain waits until all calls are answered: the input may be a file. A call that waits for the
// client is never answered.
func (c *connection) drain() {
	answered := make(chan struct{})
	c.mu.Lock()
	if !c.due() {
		close(answered)
	} else {
		c.answered = answered
	}
	c.mu.Unlock()
	patience := time.NewTimer(drainTime)
	defer patience.Stop()
	select {
	case <-answered:
	case <-patience.C:
	case <-c.closed:
	}
}

// due reports whether a call waits for its answer. The caller holds mu.
func (c *connection) due() bool {
	for _, due := range c.open {
		if due {
			return true
		}
	}
	return false
}

func (c *connection) SessionID() string { return "" }

func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message. After the end of the input, the error is io.EOF.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case next, ok := <-c.incoming:
		if !ok {
			return nil, io.EOF
		}
		return next.message, next.err
	}
}

// read reads lines until the input ends. It is the only goroutine that does.
func (c *connection) read(in *bufio.Reader, ended chan<- struct{}) {
	defer close(c.incoming)
	for {
		line, long, err := readLine(in)
		var next incoming
		switch text := bytes.TrimSpace(line); {
		case long:
			c.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has more than %s; send less at a time", units.Bytes(maxLine)))
		case len(text) > 0:
			next.message = c.accept(text)
		}
		if next.message != nil && !c.deliver(next) {
			return
		}
		if err != nil {
			close(ended)
			c.drain()
			c.deliver(incoming{err: err})
			return
		}
	}
}

// deliver passes on what was read, unless the connection is closed.
func (c *connection) deliver(next incoming) bool {
	select {
	case c.incoming <- next:
		return true
	case <-c.closed:
		return false
	}
}

// readLine returns the next line. A line that is too long is skipped; the memory that it takes is
// bounded.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// accept decodes a message. One that cannot be served is answered, and nil.
func (c *connection) accept(text []byte) jsonrpc.Message {
	if text[0] == '[' {
		c.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "batches are not served: send one message per line")
		return nil
	}
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		code := int64(jsonrpc.CodeInvalidRequest)
		if !json.Valid(text) {
			code = jsonrpc.CodeParseError
		}
		c.refuse(jsonrpc.ID{}, code, units.Cut(err.Error(), maxError))
		return nil
	}
	call, ok := message.(*jsonrpc.Request)
	if !ok || !call.IsCall() {
		return message
	}
	id := call.ID.Raw()
	c.mu.Lock()
	_, twice := c.open[id]
	full := len(c.open) >= maxCalls
	if !full && !twice {
		c.open[id] = call.Method != listenMethod
	}
	c.mu.Unlock()
	switch {
	case twice: // its answer would be taken for that of the first
		c.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the id of a call is that of one that is still open")
		return nil
	case full:
		c.refuse(call.ID, jsonrpc.CodeInternalError, fmt.Sprintf("%d calls are open; wait for an answer", maxCalls))
		return nil
	}
	return message
}

// refuse answers a message that is not served. The client may be gone.
func (c *connection) refuse(id jsonrpc.ID, code int64, why string) {
	_ = c.send(map[string]any{"jsonrpc": "2.0", "id": id.Raw(), "error": map[string]any{"code": code, "message": why}})
}

// Write sends a message. Characters that a terminal obeys are escaped.
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	err = c.write(text)
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, answer.ID.Raw())
		if c.answered != nil && !c.due() {
			close(c.answered)
			c.answered = nil
		}
	}
	return err
}

func (c *connection) send(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return c.write(text)
}

func (c *connection) write(text []byte) error {
	line := append(cli.AppendEscaped(nil, text), '\n')
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-c.closed:
		return io.ErrClosedPipe
	}
	_, err := c.out.Write(line)
	return err
}
