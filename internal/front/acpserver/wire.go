package acpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// maxLine is the longest message of a client, in bytes. A prompt longer than that belongs into a
// file.
const maxLine = 4 << 20

// maxID is the longest id of a request, in bytes of JSON.
const maxID = 256

// object is a JSON object that is written.
type object = map[string]any

// message is a request, a notification or a response of the client.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *problem        `json:"error"`
}

// problem is an error of JSON-RPC.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (p *problem) Error() string { return p.Message }

// Codes of errors: those of JSON-RPC, and two of ACP.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeCancelled = -32800
	codeNotFound  = -32002
)

// invalid is the error of params that cannot be used.
func invalid(why string) *problem { return &problem{Code: codeParams, Message: why} }

// errTooLong is the error of a line that is longer than maxLine; the line has been skipped.
var errTooLong = errors.New("the message is longer than 4 MiB")

// readLine returns the next line without its end. The slice is valid until the next call. A line
// that is too long is skipped and never in memory as a whole.
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	line = line[:0]
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err // a line without an end was not sent completely
		case long:
			return nil, errTooLong
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// parse reads a message. The error says what is wrong, for the client.
func parse(line []byte) (message, *problem) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
			return m, &problem{Code: codeParse, Message: "the line is no JSON: " + err.Error()}
		}
		return m, &problem{Code: codeRequest, Message: "the line is no message of JSON-RPC"}
	}
	if string(m.ID) == "null" { // it asks for no answer
		m.ID = nil
	}
	if why := wrongID(m.ID); why != "" {
		m.ID = nil
		return m, &problem{Code: codeRequest, Message: why}
	}
	if m.Method == "" && len(m.ID) == 0 {
		return m, &problem{Code: codeRequest, Message: "the message has neither a method nor an id"}
	}
	return m, nil
}

// wrongID says what is wrong with an id; empty if nothing is.
func wrongID(id json.RawMessage) string {
	switch {
	case len(id) > maxID:
		return "the id is too long"
	case len(id) > 0 && !bytes.ContainsRune([]byte(`"-0123456789`), rune(id[0])):
		return "an id is a string or a number"
	}
	return ""
}

// writer writes messages, one per line. A client that does not read delays each writer, and
// nothing is kept for it. After an error nothing more is written: the client is gone.
type writer struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

// write writes one message.
func (w *writer) write(m object) error {
	var line bytes.Buffer
	m["jsonrpc"] = "2.0"
	to := json.NewEncoder(&line)
	to.SetEscapeHTML(false)
	if err := to.Encode(m); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = w.out.Write(line.Bytes())
	}
	return w.err
}

// call is a request of the client that has to be answered once. Any goroutine may answer it.
type call struct {
	id   json.RawMessage
	s    *Server
	once *sync.Once
	// answered, unless nil, is called after the answer is written.
	answered func()
}

func (c call) reply(result any) { c.answer("result", result) }

func (c call) fail(p *problem) { c.answer("error", p) }

// finish answers with the result, or with the problem if there is one.
func (c call) finish(result any, p *problem) {
	if p != nil {
		c.fail(p)
		return
	}
	c.reply(result)
}

func (c call) answer(member string, value any) {
	c.once.Do(func() {
		c.s.done(c)
		_ = c.s.out.write(object{"id": c.id, member: value}) // a client that is gone ends Serve
		if c.answered != nil {
			c.answered()
		}
	})
}
