package event

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Payload is what one type of event says: the structs of this package.
type Payload interface{ EventType() Type }

// appender is a payload that occurs by the thousand and encodes itself.
type appender interface{ appendJSON(dst []byte) []byte }

// Draft is an event that does not have its place in the journal yet. Data and Raw hold one valid
// JSON value each, without a newline; Raw may be nil.
type Draft struct {
	Type  Type
	By    string
	Iter  int
	Cause Seq
	Data  []byte
	Raw   []byte
}

// Encode makes a draft of a payload. It panics if the payload cannot be JSON: for the payloads of
// this package, only if one contains invalid JSON or an infinite number.
func Encode(p Payload, by string) Draft {
	return Draft{Type: p.EventType(), By: by, Data: AppendData(nil, p)}
}

// AppendData appends the JSON of a payload. It panics as [Encode] does.
func AppendData(dst []byte, p Payload) []byte {
	if a, ok := p.(appender); ok {
		return a.appendJSON(dst)
	}
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		panic(fmt.Sprintf("event: encode %s: %v", p.EventType(), err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
