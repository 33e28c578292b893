package fault

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Agent is a column of the table.
type Agent uint8

// The columns.
const (
	Claude  Agent = iota
	Variant       // Amp and Qwen Code, which print Claude Code's stream-json
	Codex         // app-server and exec
	Pi
	ACP

	agents
)

// Fault is an error as an agent reports it.
type Fault struct {
	Names  []string // what programs call it: types, codes, reasons
	Status int      // HTTP; 0 where none is told
	Words  string   // for a person
	// Quoted says that the words are those of a provider's answer, which may quote what it was sent. Only those that tell more than
	// a status count of them.
	Quoted bool
}

// precedence is which kind counts where the words tell of several: first what waiting does not mend.
var precedence = []string{
	event.KindRefusal, event.KindQuota, event.KindAuth, event.KindContext, event.KindRate, event.KindOverload, event.KindNetwork,
}

// Kind names the fault, and returns "" where nothing tells. Rows that say what has to be done come before the HTTP status, those that only
// say whose fault it is come after it. A quota that states when it comes back is a rate limit.
func (a Agent) Kind(f Fault) string {
	words := strings.ToLower(strings.TrimSpace(f.Words))
	kind := a.search(f, words, true)
	if kind == "" && f.Status != 0 {
		kind = ByStatus(f.Status)
	}
	if kind == "" {
		kind = a.search(f, words, false)
	}
	if kind == event.KindQuota && States(f.Words) {
		return event.KindRate
	}
	return kind
}

func (a Agent) search(f Fault, words string, first bool) string {
	best := len(precedence)
	for i := range table {
		row := &table[i]
		if how := row.in[a]; how == 0 || row.first != first || !how.matches(row.text, f.Names, words, first || !f.Quoted) {
			continue
		}
		best = min(best, slices.Index(precedence, row.kind))
	}
	if best == len(precedence) {
		return ""
	}
	return precedence[best]
}

// how is where a column looks for the text of a row.
type how uint8

const (
	is     how = 1 << iota // one of the names
	begins                 // how the words begin
	holds                  // anywhere in the words
)

func (h how) matches(text string, names []string, words string, spoken bool) bool {
	return h&is != 0 && slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, text) }) ||
		spoken && (h&begins != 0 && strings.HasPrefix(words, text) || h&holds != 0 && strings.Contains(words, text))
}

// ByStatus names a failed exchange with a model's server by its HTTP status.
func ByStatus(status int) string {
	switch {
	case status == 401, status == 403:
		return event.KindAuth
	case status == 402:
		return event.KindQuota
	case status == 408:
		return event.KindNetwork
	case status == 413:
		return event.KindContext
	case status == 429:
		return event.KindRate
	case status >= 500:
		return event.KindOverload
	}
	return event.KindOther
}

// IsStatus reports whether a number is an HTTP status that tells of a fault.
func IsStatus(n int64) bool { return n >= 400 && n <= 599 }

// Waits reports whether a kind of fault is one that waiting or a person mends: see [event.AgentLimited].
func Waits(kind string) bool {
	switch kind {
	case event.KindRate, event.KindOverload, event.KindQuota, event.KindAuth, event.KindNetwork:
		return true
	}
	return false
}

// bodyWithin is how far into a message the provider's answer may begin; what comes later is quoted.
const bodyWithin = 60

// Body is a provider's answer in a message.
type Body struct {
	Whole jsonscan.Value // the JSON object
	about jsonscan.Value // what in it is about the error
}

// BodyIn finds the JSON object with which a message ends, behind a few words at the most; ok is false where there is none.
func BodyIn(message string) (b Body, ok bool) {
	at := strings.IndexByte(message, '{')
	if at < 0 || at > bodyWithin {
		return Body{}, false
	}
	whole, err := new(jsonscan.Document).Read([]byte(message[at:]))
	if err != nil || !whole.IsObject() {
		return Body{}, false
	}
	b = Body{whole, whole}
	if inner := whole.Get("error"); inner.IsObject() {
		b.about = inner
	}
	return b, true
}

// Fault returns what the body tells: its names for the error, a status where it has one, and its words.
func (b Body) Fault() Fault {
	f := Fault{Words: b.about.Get("message").Text(), Quoted: true}
	for _, key := range []string{"status", "type", "code"} {
		value := b.about.Get(key)
		if name := value.Text(); name != "" {
			f.Names = append(f.Names, name)
		} else if n, ok := value.Int(); ok && f.Status == 0 && IsStatus(n) {
			f.Status = int(n)
		}
	}
	return f
}
