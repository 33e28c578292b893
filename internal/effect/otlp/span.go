package otlp

import "time"

// Span is a part of a trace that has ended.
type Span struct {
	ID         string      `json:"id"`
	Parent     string      `json:"parent,omitempty"`
	Name       string      `json:"name"`
	Client     bool        `json:"client,omitempty"` // another process does the work
	Start      time.Time   `json:"start"`
	End        time.Time   `json:"end,omitzero"`
	Attributes []Attribute `json:"attributes,omitempty"`
	Events     []Mark      `json:"events,omitempty"`
	Dropped    uint32      `json:"dropped,omitempty"` // events that were too many
	Failed     bool        `json:"failed,omitempty"`
	Message    string      `json:"message,omitempty"` // of the failure
}

// Mark is an event in a span.
type Mark struct {
	At         time.Time   `json:"at"`
	Name       string      `json:"name"`
	Attributes []Attribute `json:"attributes,omitempty"`
}

// Attribute is a key and its value: the one field that is set.
type Attribute struct {
	Key   string   `json:"key"`
	Text  *string  `json:"text,omitempty"`
	Int   *int64   `json:"int,omitempty"`
	Float *float64 `json:"float,omitempty"`
	Bool  *bool    `json:"bool,omitempty"`
}

const (
	marksMost = 200  // events of a span
	openMost  = 1000 // open spans of each kind
	textMost  = 32 << 10
	nameMost  = 200 // bytes of a name, or of a text that is no content
)

// text adds an attribute, unless the text is empty.
func (s *Span) text(key, value string) {
	if value != "" {
		s.Attributes = append(s.Attributes, Attribute{Key: key, Text: &value})
	}
}

func (s *Span) number(key string, value int64) {
	s.Attributes = append(s.Attributes, Attribute{Key: key, Int: &value})
}

func (s *Span) money(key string, value *float64) {
	if value != nil {
		v := *value
		s.Attributes = append(s.Attributes, Attribute{Key: key, Float: &v})
	}
}

// yes adds an attribute that is true.
func (s *Span) yes(key string, value bool) {
	if value {
		s.Attributes = append(s.Attributes, Attribute{Key: key, Bool: &value})
	}
}

// fail marks the span as failed. kind is one word.
func (s *Span) fail(kind string) {
	s.Failed = true
	s.text("error.type", kind)
}

// end ends the span. Clocks are adjusted: a span never ends before it began.
func (s *Span) end(at time.Time) Span {
	s.End = at
	if at.Before(s.Start) {
		s.End = s.Start
	}
	return *s
}

func (s *Span) mark(m Mark) {
	if len(s.Events) == marksMost {
		s.Dropped++
		return
	}
	s.Events = append(s.Events, m)
}

// marked returns an event with these texts, a key before each value. Empty ones are left out.
func marked(at time.Time, name string, texts ...string) Mark {
	var s Span
	for i := 0; i+1 < len(texts); i += 2 {
		s.text(texts[i], texts[i+1])
	}
	return Mark{At: at, Name: name, Attributes: s.Attributes}
}
