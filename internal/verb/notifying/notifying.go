// Package notifying does what the verb notify does: it tries the channels of the settings.
package notifying

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/effect/notify"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
)

// Outcome is what one channel did with the message.
type Outcome struct {
	Channel string `json:"channel"`
	Sent    bool   `json:"sent"`
	Why     string `json:"why,omitempty"`
}

// Test sends a message to each channel once. The exit code is 3 if one does not take it.
func Test(ctx context.Context, e *cli.Env, asJSON bool) error {
	loaded, err := e.Settings(nil, e.WorkDir())
	if err != nil {
		return err
	}
	channels := loaded.Settings.Notify
	if len(channels) == 0 {
		return cli.Refuse(`set it, such as "notify": [{"kind": "desktop"}] in `+filepath.Join(e.Home, "settings.json"), "notify has no channel")
	}
	if err := launch.CheckTrust(e, loaded, false); err != nil {
		return err
	}
	masker := redact.New(slices.Concat(e.Environ, credentials.Secrets(loaded.Settings)))
	host, _ := os.Hostname() // only to be shown
	m := notify.Message{
		ID: ulid.MustNew(ulid.Timestamp(e.Now()), ulid.DefaultEntropy()).String(), Occasion: notify.Test, Loop: "test", Project: e.Root(), Host: host,
		At: e.Now(), Title: "ralph: a test", Text: "This is what a notification from " + host + " looks like.",
	}
	outcomes, failed := []Outcome{}, false
	for _, c := range channels {
		o := try(ctx, e, masker, c, m)
		outcomes, failed = append(outcomes, o), failed || !o.Sent
		if !asJSON {
			word := "sent"
			if !o.Sent {
				word = "not sent: " + o.Why
			}
			fmt.Fprintf(e.Stdout, "%s: %s\n", cli.Clean(o.Channel), cli.Clean(word))
		}
	}
	if asJSON {
		err = cli.PrintJSON(e.Stdout, outcomes, "")
	}
	if err == nil && failed {
		err = cli.Exit(event.ExitFailed)
	}
	return err
}

func try(ctx context.Context, e *cli.Env, masker *redact.Redactor, c config.Notification, m notify.Message) Outcome {
	shown, _ := masker.Mask([]byte(notify.Shown(c)))
	o := Outcome{Channel: string(shown), Sent: true}
	if err := notify.Send(ctx, c, m, e.Environ); err != nil {
		why, _ := masker.Mask([]byte(err.Error()))
		o.Sent, o.Why = false, string(why)
	}
	return o
}
