package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// A refusal is the body of an answer that is an error.
type refusal struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

func refuse(w http.ResponseWriter, status int, problem, hint string) {
	answer(w, status, refusal{problem, hint})
}

// refuseFor refuses with an error and its next step.
func refuseFor(w http.ResponseWriter, status int, err error) {
	hint := ""
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		hint = hinted.Hint()
	}
	refuse(w, status, err.Error(), hint)
}

// answer writes JSON whose control characters are escaped: it may be shown on a terminal.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(cli.AppendEscaped(nil, text), '\n')) // the client may be gone
}

// wantsJSON reports whether a program asks, and not a person's browser for a page.
func wantsJSON(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/api/") || !accepts(r, "text/html")
}

func wantsStream(r *http.Request) bool { return accepts(r, "text/event-stream") }

func accepts(r *http.Request, kind string) bool {
	for _, given := range r.Header.Values("Accept") {
		if strings.Contains(given, kind) {
			return true
		}
	}
	return false
}
