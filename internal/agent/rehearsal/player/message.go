package player

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// input is what the player is asked to do; see the package's doc for the words.
type input struct {
	Do        string `json:"do"`
	Iteration int    `json:"iteration"`
	Purpose   string `json:"purpose"`
	Prompt    string `json:"prompt"`
	ID        string `json:"id"`
	Text      string `json:"text"`
}

// listen hands on each line of r until r or done ends, and then closes the channel.
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

// Version is that of the protocol: it changes when one of its words comes to mean another thing.
const Version = 1

// The lines that the player prints.
type (
	readyLine struct {
		Type     string `json:"type"`
		Scenario string `json:"scenario"`
		Version  int    `json:"version"`
	}
	begunLine struct {
		Type      string `json:"type"`
		Iteration int    `json:"iteration"`
	}
	textLine struct { // said, thought
		Type  string `json:"type"`
		Block string `json:"block"`
		Text  string `json:"text"`
		Final bool   `json:"final,omitempty"`
	}
	calledLine struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input,omitempty"`
	}
	progressedLine struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	returnedLine struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		OK     bool   `json:"ok"`
		Output string `json:"output"`
		Took   int64  `json:"took,omitempty"` // milliseconds
	}
	usedLine struct {
		Type       string   `json:"type"`
		In         int64    `json:"in"`
		Out        int64    `json:"out"`
		CacheRead  int64    `json:"cacheRead"`
		CacheWrite int64    `json:"cacheWrite"`
		USD        *float64 `json:"usd,omitempty"`
		Model      string   `json:"model,omitempty"`
	}
	plannedLine struct {
		Type  string `json:"type"`
		Todos []todo `json:"todos"`
	}
	limitedLine struct {
		Type  string `json:"type"`
		Kind  string `json:"kind"`
		Until string `json:"until,omitempty"`
		Text  string `json:"text,omitempty"`
	}
	retriedLine struct {
		Type    string `json:"type"`
		Attempt int    `json:"attempt"`
		Max     int    `json:"max,omitempty"`
		Delay   int64  `json:"delay,omitempty"` // milliseconds
		Text    string `json:"text,omitempty"`
	}
	compactedLine struct {
		Type   string `json:"type"`
		Before int64  `json:"before"`
		After  int64  `json:"after"`
	}
	noticedLine struct {
		Type string `json:"type"`
		What string `json:"what"`
		Text string `json:"text,omitempty"`
	}
	steeredLine struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	resetLine struct { // fresh, stale
		Type string `json:"type"`
		Why  string `json:"why,omitempty"`
	}
	finishedLine struct {
		Type    string `json:"type"`
		Outcome string `json:"outcome"`
		Kind    string `json:"kind,omitempty"`
		Error   string `json:"error,omitempty"`
	}
)

type todo struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

// print writes one line.
func (p *player) print(line any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return err
	}
	return p.write(text.Bytes())
}

// write prints bytes as they are. Nobody reads what cannot be written, so there is
// nothing left to play for.
func (p *player) write(text []byte) error {
	if _, err := p.Out.Write(text); err != nil {
		return errQuit
	}
	return nil
}
