package journaltool

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/otlp"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// OTLPOptions say how a journal is exported as a trace.
type OTLPOptions struct {
	To      string // a collector; empty is that of the settings or the environment
	Output  string // a file in place of a collector; - is stdout
	Force   bool   // Output may exist
	Content bool   // with the texts, whatever the settings say
}

// collectorPatience is how long a collector that takes nothing is tried.
const collectorPatience = 15 * time.Second

// ExportOTLP sends a loop as a trace to a collector, or writes it to a file. To the collector of
// the settings it sends what that does not have yet; to any other, and to a file, all of it.
func ExportOTLP(e *cli.Env, name string, o OTLPOptions) error {
	if o.To != "" && o.Output != "" {
		return cli.Refuse("choose one of them", "--to sends the trace and -o writes it to a file")
	}
	src, err := logs.Open(e, name)
	if err != nil {
		return err
	}
	settings, err := collectorSettings(e)
	if err != nil {
		return err
	}
	target, err := o.target(e, settings)
	if err != nil {
		return err
	}
	target.Content = target.Content || o.Content
	for _, text := range target.Ignored {
		cli.Tell(e.Stderr, "warning: %s", text)
	}
	masker := redact.New(slices.Concat(e.Environ, otlp.Secrets(settings, e.Environ)))
	u := &otlp.Upload{
		Target: target, Now: e.Now, Events: src.Events(0), Dead: true, Patience: collectorPatience,
		Mask: func(text []byte) []byte { masked, _ := masker.Mask(text); return masked },
	}
	if src.Loop {
		live, err := registry.Probe(src.Path)
		if err != nil {
			return err
		}
		u.Dead = !live.Alive
	}
	if o.Output != "" {
		return logs.Write(e, name, o.Output, o.Force, u.Write)
	}
	if src.Loop && o.To == "" {
		if !u.Dead {
			return cli.Refuse("the runner sends it; --to URL sends what there is until now, also a second time", "loop %s is running", filepath.Base(src.Path))
		}
		u.Dir = src.Path
	}
	return sendTrace(e, u)
}

// collectorSettings returns the settings of this project, if a person trusts what they say about
// telemetry.
func collectorSettings(e *cli.Env) (config.OTLP, error) {
	loaded, err := e.Settings(nil, e.WorkDir())
	if err != nil {
		return config.OTLP{}, err
	}
	if slices.ContainsFunc(loaded.Asked(), func(p config.Part) bool { return strings.HasPrefix(p.Key, "telemetry.") }) {
		if err := launch.CheckTrust(e, loaded, false); err != nil {
			return config.OTLP{}, err
		}
	}
	return loaded.Settings.Telemetry.OTLP, nil
}

func (o OTLPOptions) target(e *cli.Env, s config.OTLP) (*otlp.Target, error) {
	const hint = "say --to URL, or -o FILE, or set telemetry.otlp.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT"
	switch {
	case o.Output != "":
		return otlp.ToFile(s, e.Environ), nil
	case o.To != "":
		target, err := otlp.At(o.To, s, e.Environ)
		if err != nil {
			return nil, cli.Refuse("say --to http://HOST:4318", "%w", err)
		}
		return target, nil
	}
	target, err := otlp.Find(s, e.Environ)
	if err != nil {
		return nil, cli.Refuse(hint, "%w", err)
	}
	if target == nil {
		return nil, cli.Refuse(hint, "no collector is set")
	}
	return target, nil
}

func sendTrace(e *cli.Env, u *otlp.Upload) error {
	sent, err := u.Send(context.Background())
	if sent.Taken > 0 || err == nil {
		cli.Tell(e.Stderr, "sent %s to %s", units.Quantity(int(sent.Taken), "span"), u.Target.Shown())
	}
	if sent.Rejected > 0 {
		cli.Tell(e.Stderr, "the collector rejected %s; they are not sent again", units.Quantity(int(sent.Rejected), "span"))
	}
	if err != nil && u.Dir != "" {
		return cli.Failed("the same command sends the rest later", "%w", err)
	}
	return err
}
