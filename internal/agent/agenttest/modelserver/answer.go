package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// A wire knows one format: how its requests read and how its answers are written. Wires do no I/O
// and hold no state.
type wire interface {
	// read fills Model, Stream, Messages and Tools from the body.
	read(body []byte, r *Request) error
	// stream lists the events of a streamed answer.
	stream(answer) []sse
	// whole is the complete answer as one JSON value.
	whole(answer) any
	// failure is the error object for an HTTP status.
	failure(status int, message string) any
}

// An answer is a step made ready for its request: the text in pieces, the tools resolved and
// encoded.
type answer struct {
	request Request
	text    []string
	calls   []encodedCall
	usage   Usage
	cutoff  bool
	refused bool
	fault   string // code of an error in the stream; "" for none
	message string // of the fault
	at      int64  // seconds since 1970
}

type encodedCall struct {
	id, namespace, name, args string
}

// An sse is one server-sent event. A piece carries content: a delay comes before it, and the end of
// an answer after the last one.
type sse struct {
	name  string // "" for a format whose events have none
	data  any
	piece bool
}

// object keeps the wires readable; its keys go out in alphabetical order, so that no reader can
// rely on "type" first.
type object = map[string]any

func prepare(r Request, s Step) (answer, error) {
	a := answer{request: r, text: pieces(s.Text, s.Chunks), usage: s.Usage, cutoff: s.Truncated, refused: s.Refused,
		fault: s.Fault, message: s.Message, at: time.Now().Unix()}
	for i, c := range s.Tools {
		if c.resolve != nil {
			var err error
			if c, err = c.resolve(r); err != nil {
				return answer{}, err
			}
		}
		args, err := encodeArgs(c.Args)
		if err != nil {
			return answer{}, fmt.Errorf("encode the arguments of %s: %w", c.Name, err)
		}
		a.calls = append(a.calls, encodedCall{id: fmt.Sprintf("call_%d_%d", r.N, i), namespace: c.Namespace, name: c.Name, args: args})
	}
	return a, nil
}

func encodeArgs(args any) (string, error) {
	switch v := args.(type) {
	case nil:
		return "{}", nil
	case json.RawMessage:
		return string(v), nil
	}
	encoded, err := json.Marshal(args)
	return string(encoded), err
}

// pieces cuts a text into n parts of about the same length, never inside a character. No text is no
// piece.
func pieces(text string, n int) []string {
	if text == "" {
		return nil
	}
	runes := []rune(text)
	n = min(max(n, 1), len(runes))
	cut := make([]string, n)
	for i := range cut {
		cut[i] = string(runes[i*len(runes)/n : (i+1)*len(runes)/n])
	}
	return cut
}

func (a answer) id(prefix string) string { return fmt.Sprintf("%s_%d", prefix, a.request.N) }

func (u Usage) input() int { return u.In + u.CacheRead + u.CacheWrite }

// errorKind names an HTTP status as both vendors do.
func errorKind(status int, server string) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return server
	}
	return "invalid_request_error"
}

// openAIFailure is the error object of both OpenAI formats.
func openAIFailure(status int, message string) any {
	return object{"error": object{"message": message, "type": errorKind(status, "server_error"), "code": nil, "param": nil}}
}
