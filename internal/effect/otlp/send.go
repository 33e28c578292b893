package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Verdict is what a request to a collector came to.
type Verdict int

// The verdicts.
const (
	Taken   Verdict = iota // all of it, except for Answer.Rejected spans
	Later                  // the same request may succeed later
	Refused                // this request will never succeed; others may
	Blocked                // no request will succeed before a person changes something
)

// Answer is the answer of a collector.
type Answer struct {
	Verdict  Verdict
	After    time.Duration // the collector asks to wait so long; 0 if it does not
	Rejected int64         // spans that it did not take
	Why      string        // one line, without secrets of the request; empty if all was taken
}

// Sender sends requests to a collector. It follows no redirect, since the headers are for one host.
// It may be used by several goroutines.
type Sender struct {
	target *Target
	client *http.Client
	now    func() time.Time
}

// NewSender returns a sender. now is for dates in answers.
func NewSender(t *Target, now func() time.Time) *Sender {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 1
	return &Sender{target: t, now: now, client: &http.Client{
		Transport: transport, Timeout: t.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// answerMost bounds what is read of an answer.
const answerMost = 64 << 10

// Send sends spans of one trace in one request.
func (s *Sender) Send(ctx context.Context, trace string, spans []Span) Answer {
	body, err := Encode(trace, spans, s.target.Resource, s.target.Encoding)
	if err != nil {
		return Answer{Verdict: Refused, Why: fmt.Sprintf("encode spans: %v", err)}
	}
	request, err := s.request(ctx, body)
	if err != nil {
		return Answer{Verdict: Blocked, Why: err.Error()}
	}
	response, err := s.client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the address: it may have a password
		}
		return Answer{Verdict: Later, Why: err.Error()}
	}
	defer response.Body.Close()
	said, err := io.ReadAll(io.LimitReader(response.Body, answerMost))
	if err != nil && response.StatusCode/100 == 2 {
		return Answer{Verdict: Later, Why: fmt.Sprintf("read the answer: %v", err)}
	}
	return s.judge(response, said)
}

func (s *Sender) request(ctx context.Context, body []byte) (*http.Request, error) {
	if s.target.Gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body) // a buffer takes everything
		_ = w.Close()
		body = packed.Bytes()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the collector is no URL")
	}
	for name, value := range s.target.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("User-Agent", "ralph")
	r.Header.Set("Content-Type", "application/x-protobuf")
	if s.target.Encoding == JSON {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.target.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	return r, nil
}

// judge reads an answer as the specification of OTLP over HTTP says.
func (s *Sender) judge(r *http.Response, said []byte) Answer {
	why := "HTTP " + r.Status
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Answer{Verdict: Later, After: s.retryAfter(r.Header.Get("Retry-After")), Why: why}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return Answer{Verdict: Refused, Why: why}
	}
	if r.StatusCode/100 != 2 {
		return Answer{Verdict: Blocked, Why: why}
	}
	rejected, message := partial(r.Header.Get("Content-Type"), said)
	a := Answer{Rejected: max(rejected, 0)}
	if a.Rejected > 0 || message != "" {
		a.Why = units.Cut(units.FirstLine(strings.ToValidUTF8(message, "\uFFFD")), nameMost)
		if a.Why == "" {
			a.Why = "the collector rejected spans"
		}
	}
	return a
}

// waitMost bounds how long a collector may ask to wait.
const waitMost = 10 * time.Minute

// retryAfter reads seconds or a date.
func (s *Sender) retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return min(max(time.Duration(seconds)*time.Second, 0), waitMost)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(s.now()), 0), waitMost)
	}
	return 0
}

// partial returns how many spans a collector rejected, and what it says about them.
func partial(contentType string, said []byte) (rejected int64, message string) {
	if strings.HasPrefix(contentType, "application/json") {
		var answer struct {
			Partial struct {
				Rejected json.RawMessage `json:"rejectedSpans"` // a number, or a text with one
				Message  string          `json:"errorMessage"`
			} `json:"partialSuccess"`
		}
		_ = json.Unmarshal(said, &answer) // anything else says nothing
		rejected, _ = strconv.ParseInt(strings.Trim(string(answer.Partial.Rejected), `"`), 10, 64)
		return rejected, answer.Partial.Message
	}
	_, inner := field(said, 1)
	number, _ := field(inner, 1)
	_, text := field(inner, 2)
	return int64(min(number, 1<<31)), string(text)
}

// field returns a field of a message in the encoding of protocol buffers: a number or bytes.
// Anything else ends the search.
func field(message []byte, want uint64) (number uint64, text []byte) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return 0, nil
		}
		message = message[n:]
		value, n := binary.Uvarint(message)
		if n <= 0 {
			return 0, nil
		}
		message = message[n:]
		var found []byte
		switch tag & 7 {
		case 0:
		case 2:
			if value > uint64(len(message)) {
				return 0, nil
			}
			found, message = message[:value], message[value:]
		default:
			return 0, nil
		}
		if tag>>3 == want {
			return value, found
		}
	}
	return 0, nil
}
