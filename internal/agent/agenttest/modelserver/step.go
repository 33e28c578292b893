package modelserver

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A Script gives the answer to a request. The server calls it once per request, from several
// goroutines at the same time when an agent asks in parallel.
type Script func(Request) Step

// Sequence answers the first request with the first step, and so on, whatever the requests hold. A
// request after the last step is a fault of the script.
func Sequence(steps ...Step) Script {
	var next atomic.Int64
	return func(Request) Step {
		i := int(next.Add(1)) - 1
		return pick(steps, i)
	}
}

// PerContext answers by what the request itself holds: the first step where the model has not
// spoken yet, the second where it has spoken once, and so on. Every fresh context thus begins at
// the first step again, and a repeated request gets the same answer again.
func PerContext(steps ...Step) Script {
	return func(r Request) Step {
		spoken := 0
		for _, m := range r.Messages {
			if m.Role == Assistant {
				spoken++
			}
		}
		return pick(steps, spoken)
	}
}

func pick(steps []Step, i int) Step {
	if i >= len(steps) {
		return Step{fault: fmt.Errorf("the script has %d steps, and step %d is asked for", len(steps), i+1)}
	}
	return steps[i]
}

// A Step is one answer. The zero Step is an empty answer that ends normally.
//
// Until comes before the first byte; UntilEnd and Drop come after Text and Tools and before
// whatever ends the answer.
type Step struct {
	Text  string     // what the model says
	Tools []ToolCall // what the model wants to be run

	Chunks int // how many pieces Text is streamed in; 0 means 1
	// before each piece of content; prefer Until and UntilEnd in tests
	Delay time.Duration

	Until    <-chan struct{} // nothing is sent before this is closed
	UntilEnd <-chan struct{} // the content is sent, the end is not, before this is closed
	// the connection is cut in place of the end; without content, before the first byte
	Drop bool

	Usage     Usage
	Truncated bool // the answer ends as one that ran into the output limit
	Refused   bool // the answer ends as one that the model, or a filter around it, declined to give

	// other than "": the answer breaks off with an error of this code, in the stream; responses
	// only
	Fault   string
	Message string // of the Fault

	// other than 0 and 200: the answer is this HTTP status and Body, nothing of the above but Until
	Status int
	Body   string            // "" with a Status: an error object as the wire format has it
	Header map[string]string // added to the answer, whatever its status

	fault error
}

// Usage counts tokens. In holds those that came neither from nor into the cache, as Anthropic
// counts them; the OpenAI formats report the sum as their input.
type Usage struct {
	In, Out, CacheRead, CacheWrite int
}

// Failed is an answer with an HTTP status and the error object of the wire format.
func Failed(status int) Step { return Step{Status: status} }

// Limited is status 429 with a retry-after header, in seconds. Claude Code 2.1.329 waits up
// to 60 s and gives up at once beyond; pi 0.87.1 ignores the header.
func Limited(retryAfter time.Duration) Step {
	seconds := strconv.Itoa(int(retryAfter / time.Second))
	return Step{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": seconds}}
}
