package notifying

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/effect/notify"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

// Refused tells people that a schedule could not start its loop, as they learn of the end of one.
// The settings of a project that no person trusts do not count. It returns what was not sent.
func Refused(ctx context.Context, e *cli.Env, schedule, why, hint string) (failed []error) {
	loaded, err := e.Settings(nil, e.WorkDir())
	if err == nil && len(loaded.Asked()) > 0 {
		if s := e.ReviewTrust(loaded).Status(); s != cli.TrustGiven && s != cli.TrustNotNeeded {
			err = cli.Refuse("", "the settings are not trusted")
		}
	}
	if err != nil {
		if loaded, err = config.Load(config.Source{HomeDir: e.Home, Env: e.Environ}); err != nil {
			return []error{fmt.Errorf("notify: %w", err)}
		}
	}
	masker := redact.New(slices.Concat(e.Environ, credentials.Secrets(loaded.Settings)))
	masked, _ := masker.Mask([]byte(why))
	host, _ := os.Hostname() // only to be shown
	m := notify.Message{
		ID: ulid.MustNew(ulid.Timestamp(e.Now()), ulid.DefaultEntropy()).String(), Occasion: notify.Ended, Loop: schedule, Project: e.Root(), Host: host,
		At: e.Now(), Title: "ralph: schedule " + schedule + " could not start its loop", Text: string(masked), Next: hint, Status: string(event.StatusFailed),
	}
	for _, c := range loaded.Settings.Notify {
		if !notify.Wants(c, m.Occasion) {
			continue
		}
		if o := try(ctx, e, masker, c, m); !o.Sent {
			failed = append(failed, fmt.Errorf("%s: not sent: %s", o.Channel, o.Why))
		}
	}
	return failed
}
