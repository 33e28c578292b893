package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/otlp"
	"github.com/ralph-loop/ralph/journal/event"
)

// flushLimit is how long the end of a loop waits for its collector. What is not sent then is in
// the journal, and the next runner or 'ralph journal export --otlp' sends it.
const flushLimit = 3 * time.Second

// exportTrace sends the loop's trace to the collector of the settings or of the environment, if
// there is one. It follows the journal beside the loop, so the loop never waits for it. The
// function that it returns ends that.
func (r *runner) exportTrace() (finish func()) {
	none := func() {}
	target, err := otlp.Find(r.Settings.Telemetry.OTLP, r.Env)
	if err != nil {
		r.recordLater(event.TelemetryFailed{Why: err.Error()})
		return none
	}
	if target == nil {
		return none
	}
	f := &otlp.Follower{Dir: r.Dir, Target: target, Now: r.clock, Mask: func(text []byte) []byte {
		masked, _ := r.redactor.Mask(text)
		return masked
	}}
	f.Report = func(why string) {
		if why == "" {
			r.recordLater(event.TelemetryRestored{To: target.Shown()})
			return
		}
		r.recordLater(event.TelemetryFailed{To: target.Shown(), Why: why})
	}
	if err := f.Start(); err != nil {
		r.recordLater(event.TelemetryFailed{To: target.Shown(), Why: err.Error()})
		return none
	}
	return func() {
		if err := f.Finish(flushLimit); err != nil {
			r.warn(fmt.Errorf("%w; 'ralph journal export %s --otlp' sends them", err, r.Name))
		}
	}
}

// outerTrace returns the TRACEPARENT of an environment, if a loop can continue that trace.
func outerTrace(env []string) string {
	text := lastOf(env, "TRACEPARENT")
	if _, ok := otlp.ParseParent(text); ok {
		return text
	}
	return ""
}

// lastOf returns the value of a variable; the last entry of a name counts.
func lastOf(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
