package notify

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// An Occasion is a reason to tell a person something, as notify[].on has it.
type Occasion string

// The occasions.
const (
	Ended    Occasion = "ended"    // the loop ended
	Question Occasion = "question" // the agent asks
	Waiting  Occasion = "waiting"  // the loop waits for a person
	Budget   Occasion = "budget"   // a limit is nearly used up
	Stuck    Occasion = "stuck"    // the loop makes no progress
	Test     Occasion = "test"     // 'ralph notify'; every channel takes it
)

// A Message is one notification. Secrets in it are already redacted.
type Message struct {
	ID       string    `json:"id"` // the same for each try, and for each channel
	Occasion Occasion  `json:"occasion"`
	Loop     string    `json:"loop"`
	LoopID   string    `json:"loopId,omitempty"`
	Project  string    `json:"project"`
	Host     string    `json:"host"`
	At       time.Time `json:"at"`
	Title    string    `json:"title"` // one line
	Text     string    `json:"text"`
	Next     string    `json:"next,omitempty"`    // a command
	Choices  []string  `json:"choices,omitempty"` // of a question
	Number   int       `json:"number,omitempty"`  // of a question
	// Reply is the topic that takes the answer to a question; empty for none.
	Reply string `json:"-"`
	// Status and Reason are those of a loop that ended, and Strength says how well its done is
	// supported.
	Status   string `json:"status,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Strength string `json:"strength,omitempty"`
}

// body is the text with the next step.
func (m Message) body() string {
	if m.Next == "" {
		return m.Text
	}
	return strings.TrimSpace(m.Text + "\n\n" + m.Next)
}

// Wants reports whether a channel takes an occasion.
func Wants(c config.Notification, o Occasion) bool {
	if o == Test || len(c.On) == 0 {
		return true
	}
	for _, on := range c.On {
		if on == string(o) {
			return true
		}
	}
	return false
}

// Shown names a channel without anything that is secret: an address has its host alone, since the
// topic of ntfy and the path of a webhook are often all that protects them.
func Shown(c config.Notification) string {
	switch c.Kind {
	case config.NotifyNtfy, config.NotifyWebhook:
		if u, err := url.Parse(c.URL); err == nil {
			return c.Kind + " " + u.Host
		}
	case config.NotifyMail:
		return c.Kind + " " + c.To
	}
	return c.Kind
}

// sendTime bounds one try.
const sendTime = 15 * time.Second

// A finalError is one that another try does not change.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func final(format string, args ...any) error { return finalError{fmt.Errorf(format, args...)} }

// Final reports whether another try is pointless.
func Final(err error) bool {
	_, ok := errors.AsType[finalError](err)
	return ok
}

// Send sends a message to a channel, in at most 15 seconds. env is the environment of programs, and
// has the secrets that the channel names. The error holds no secret and no address.
func Send(ctx context.Context, c config.Notification, m Message, env []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sendTime, fmt.Errorf("not done after %s", sendTime))
	defer cancel()
	var err error
	switch c.Kind {
	case config.NotifyNtfy:
		err = sendNtfy(ctx, c, m, env)
	case config.NotifyWebhook:
		err = sendWebhook(ctx, c, m, env)
	case config.NotifyDesktop:
		err = sendDesktop(ctx, m, env)
	case config.NotifyMail:
		err = sendMail(ctx, c, m, env)
	case config.NotifyCommand:
		err = sendCommand(ctx, c, m, env)
	default:
		err = final("there is no channel of the kind %q", c.Kind)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// variable returns the value of a variable; the last entry of a name counts.
func variable(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text
		}
	}
	return value
}

// secret returns the secret of a channel; empty if it names none.
func secret(c config.Notification, env []string) (string, error) {
	if c.Secret == "" {
		return "", nil
	}
	value := variable(env, c.Secret)
	if value == "" {
		return "", final("the variable %s is not set", c.Secret)
	}
	return value, nil
}
