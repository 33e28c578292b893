package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// Line returns a message as a line of JSON. Messages have no values that cannot be encoded.
func Line(message any) []byte {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}

// Object is a JSON object that is written.
type Object = map[string]any

// Requests names the requests to an agent: ralph-1, ralph-2 and so on.
type Requests int

// Next returns the id of another request.
func (r *Requests) Next() string {
	*r++
	return "ralph-" + strconv.Itoa(int(*r))
}

// Answers reports whether an answer with this id is for the request that is awaited; "" is none.
func Answers(id jsonscan.Value, awaited string) bool { return awaited != "" && id.Says(awaited) }

// UUID returns an id as a UUID of that version.
func UUID(id [16]byte, version byte) string {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// UnixTime returns Unix seconds as RFC 3339 in UTC, "" for what is no such time.
func UnixTime(seconds int64) string {
	const year9999 = 253402300799
	if seconds <= 0 || seconds > year9999 {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}
