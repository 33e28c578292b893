package player

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// Version is the protocol's. It changes when the meaning of a line changes.
const Version = 1

// input is a line to the player; the package's documentation lists them.
type input struct {
	Do        string `json:"do"`
	Iteration int    `json:"iteration"`
	Purpose   string `json:"purpose"`
	ID        string `json:"id"`
	Text      string `json:"text"`
}

// listen passes on each line of r until r or done ends, and then closes the channel.
func listen(r io.Reader, to chan<- input, done <-chan struct{}) {
	defer close(to)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var in input
			if json.Unmarshal(line, &in) != nil {
				in = input{Do: "unread", Text: string(line)}
			}
			select {
			case to <- in:
			case <-done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// field is one field of a line to ralph.
type field struct {
	key   string
	value any
}

// given returns a field, or one without a key, which is left out, if its value is zero.
func given[T comparable](key string, value T) field {
	var zero T
	if value == zero {
		return field{}
	}
	return field{key, value}
}

// object returns a JSON object with its fields in order.
func object(fields ...field) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encode := func(value any) {
		if err := encoder.Encode(value); err != nil {
			panic(err) // the values are texts, numbers and parsed JSON
		}
		text.Truncate(text.Len() - 1) // the newline
	}
	separator := byte('{')
	for _, f := range fields {
		if f.key == "" {
			continue
		}
		text.WriteByte(separator)
		encode(f.key)
		text.WriteByte(':')
		encode(f.value)
		separator = ','
	}
	if separator == '{' {
		text.WriteByte('{')
	}
	text.WriteByte('}')
	return text.Bytes()
}

func line(kind string, fields ...field) []byte {
	return append(object(append([]field{{"type", kind}}, fields...)...), '\n')
}

// print writes one line.
func (p *player) print(kind string, fields ...field) error { return p.write(line(kind, fields...)) }

func (p *player) notice(what, text string) error {
	return p.print("noticed", field{"what", what}, given("text", text))
}

// write writes bytes as they are. If that fails, the reader has gone and playing ends.
func (p *player) write(text []byte) error {
	if _, err := p.Out.Write(text); err != nil {
		return errQuit
	}
	return nil
}
