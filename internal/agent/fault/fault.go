package fault

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
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
	Text // the last words of a command that failed, if they state when a limit ends

	agents
)

// Fault is an error as an agent reports it.
type Fault struct {
	Names  []string // its types, codes, reasons
	Status int      // HTTP; 0 if there is none
	Words  string   // for a person
	// Quoted says that the words are those of a provider's answer, which may quote what it was
	// sent. Only rows that are more precise than a status are searched for in them.
	Quoted bool
}

// AddInfo adds what Codex's codexErrorInfo says: a name, or an object whose member has the name.
func (f *Fault) AddInfo(info jsonscan.Value) {
	if name := info.Text(); name != "" {
		f.Names = append(f.Names, name)
	}
	for name, about := range info.Members() {
		f.Names = append(f.Names, string(name))
		if status, ok := about.Get("httpStatusCode").Int(); ok && IsStatus(status) {
			f.Status = int(status)
		}
	}
}

// precedence says which kind counts if the words match several: first what waiting does not mend.
var precedence = []event.FaultKind{
	event.KindRefusal, event.KindQuota, event.KindAuth, event.KindContext, event.KindRate, event.KindOverload, event.KindNetwork,
}

// Kind returns the kind of the fault, "" if nothing names it. Rows that are first count more than
// the HTTP status, the others less. A quota that states when it comes back is a rate limit.
func (a Agent) Kind(f Fault) event.FaultKind {
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

func (a Agent) search(f Fault, words string, first bool) event.FaultKind {
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

// how says where a column searches for the text of a row.
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

var statuses = map[int]event.FaultKind{
	401: event.KindAuth, 402: event.KindQuota, 403: event.KindAuth, 408: event.KindNetwork, 413: event.KindContext, 429: event.KindRate,
}

// ByStatus names a failed exchange with a model's server by its HTTP status.
func ByStatus(status int) event.FaultKind {
	if status >= 500 {
		return event.KindOverload
	}
	return cmp.Or(statuses[status], event.KindOther)
}

// IsStatus reports whether a number is an HTTP status of a fault.
func IsStatus(n int64) bool { return n >= 400 && n <= 599 }

// Waits reports whether waiting or a person mends a kind of fault: see [event.AgentLimited].
func Waits(kind event.FaultKind) bool {
	return slices.Contains([]event.FaultKind{event.KindRate, event.KindOverload, event.KindQuota, event.KindAuth, event.KindNetwork}, kind)
}

// bodyWithin is how far into a message the provider's answer may begin. A later one is quoted.
const bodyWithin = 60

// InBody reads the provider's answer in a message: the JSON object with which it ends, after a few
// words at most. ok is false if there is none.
func InBody(message string) (f Fault, body jsonscan.Value, ok bool) {
	at := strings.IndexByte(message, '{')
	if at < 0 || at > bodyWithin {
		return f, body, false
	}
	body, err := new(jsonscan.Document).Read([]byte(message[at:]))
	if err != nil || !body.IsObject() {
		return f, body, false
	}
	about := body.Get("error")
	if !about.IsObject() {
		about = body
	}
	f = Fault{Words: about.Get("message").Text(), Quoted: true}
	for _, key := range []string{"status", "type", "code"} {
		value := about.Get(key)
		if name := value.Text(); name != "" {
			f.Names = append(f.Names, name)
		} else if n, ok := value.Int(); ok && f.Status == 0 && IsStatus(n) {
			f.Status = int(n)
		}
	}
	return f, body, true
}
