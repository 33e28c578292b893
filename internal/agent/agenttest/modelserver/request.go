package modelserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// A Format is one of the wire formats.
type Format string

const (
	Chat      Format = "chat"      // OpenAI chat completions
	Responses Format = "responses" // OpenAI responses
	Messages  Format = "messages"  // Anthropic messages
	Google    Format = "google"    // Google generateContent
)

// A Request is what an agent sent to the model. Its slices are shared between copies: read, do not
// change.
type Request struct {
	N      int // from 1, in the order of arrival
	Format Format
	Path   string // with its query
	Header http.Header
	Body   []byte
	Model  string
	Stream bool

	Messages []Message // the conversation as plain text, in order
	Tools    []Tool

	Outcome Outcome
}

// A Role says whose words a message holds.
type Role string

const (
	System     Role = "system" // also what OpenAI calls developer or instructions
	User       Role = "user"
	Assistant  Role = "assistant"
	ToolOutput Role = "tool"
)

// A Message is one entry of a conversation. A tool's output is an entry of its own, also where the
// wire format wraps it into a message of the user; all that the model said in one answer is one
// entry.
type Message struct {
	Role  Role
	Text  string // parts are joined by a newline
	Calls []Call // of the assistant
}

// A Call is a tool call in a conversation. Args is decoded JSON, or the string itself where that is
// no JSON.
type Call struct {
	Name string
	Args any
}

// An Outcome says how far an answer has come.
type Outcome string

const (
	Answering Outcome = "answering" // not over yet, or held back
	Answered  Outcome = "answered"  // sent to its end
	Dropped   Outcome = "dropped"   // cut by the script
	Left      Outcome = "left"      // the agent hung up first
	Closed    Outcome = "closed"    // the server was closed first
)

// Text is the text of all messages of the given roles, or of all roles when none is given, one
// message after the other with a newline between. The arguments of tool calls are not part of it.
func (r Request) Text(roles ...Role) string {
	var texts []string
	for _, m := range r.Messages {
		if len(roles) == 0 || slices.Contains(roles, m.Role) {
			texts = append(texts, m.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Holds reports whether the conversation holds a text anywhere, the arguments of tool calls
// included.
func (r Request) Holds(text string) bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool {
		return strings.Contains(m.Text, text) ||
			slices.ContainsFunc(m.Calls, func(c Call) bool { return valueHolds(c.Args, text) })
	})
}

// valueHolds looks at decoded strings, because a quote or a newline looks different inside JSON.
func valueHolds(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return valueHolds(element, text) })
	case map[string]any:
		for _, element := range v {
			if valueHolds(element, text) {
				return true
			}
		}
	}
	return false
}

// part is a piece of content in any of the formats.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`    // of tool_use
	Input   json.RawMessage `json:"input"`   // of tool_use
	Content content         `json:"content"` // of tool_result
}

// content is what all formats allow for the words of a message: a string, a list of parts, or null.
type content []part

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = nil
		if text != "" {
			*c = content{{Type: "text", Text: text}}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]part)(c))
}

// text joins the parts that carry text; a thought has its own field and is not among them.
func (c content) text() string {
	var texts []string
	for _, p := range c {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// say adds to a conversation. What the assistant says right after the assistant belongs to one
// answer: the responses format lists its text and its calls as separate items.
func say(conversation []Message, m Message) []Message {
	last := len(conversation) - 1
	if m.Role != Assistant || last < 0 || conversation[last].Role != Assistant {
		return append(conversation, m)
	}
	prior := &conversation[last]
	if prior.Text != "" && m.Text != "" {
		prior.Text += "\n"
	}
	prior.Text += m.Text
	prior.Calls = append(prior.Calls, m.Calls...)
	return conversation
}

func roleOf(name string) Role {
	if name == "developer" {
		return System
	}
	return Role(name)
}

func decodeArgs(raw string) any {
	var args any
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		return raw
	}
	return args
}
