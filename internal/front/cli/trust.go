package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/trust"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Anyone may have written the settings that come with a project. Those that run programs or change
// their environment count only once a person has seen and trusted them. See
// docs/decisions/0027-trust.md.

// TrustVariable lets the settings of every project count, for machines without a person to ask; or
// those alone whose fingerprints it names, separated by commas.
const TrustVariable = "RALPH_TRUST"

// Statuses of a project's settings.
const (
	TrustNotNeeded = "needless" // they set nothing that needs it
	TrustGiven     = "trusted"
	TrustMissing   = "untrusted"
	TrustChanged   = "changed" // since they were trusted
)

// TrustReview is whether a person trusts the settings of this project, or other commands of it.
type TrustReview struct {
	Of     string // the path that the record is about
	What   string // what is trusted or not
	Parts  []config.Part
	Masker *redact.Redactor
	Record *trust.Record // nil where there is none
	Err    error         // why the record cannot be read: it trusts nothing
}

// ReviewTrust compares what the files set with what is trusted.
func (e *Env) ReviewTrust(loaded config.Loaded) TrustReview {
	return e.reviewTrust(TrustReview{Of: e.Root(), What: "settings of this project that run programs or replace your own", Parts: loaded.Parts})
}

// planFile has the stories of a plan, in the folder of the project.
const planFile = "ralph/tasks.json"

// ReviewCommands compares the verifyCommands of ralph/tasks.json with what is trusted. They have a
// record of their own, because most loops of the project do not run them.
func (e *Env) ReviewCommands(commands []string) TrustReview {
	c := TrustReview{Of: filepath.Join(e.Root(), planFile), What: "verifyCommands of ralph/tasks.json, which ralph runs after each iteration,"}
	for i, command := range commands {
		c.Parts = append(c.Parts, config.Part{
			Key: fmt.Sprintf("verifyCommands[%d]", i), Value: command, Origin: config.Origin{Layer: config.LayerProject, Name: planFile},
		})
	}
	return e.reviewTrust(c)
}

func (e *Env) reviewTrust(c TrustReview) TrustReview {
	// Mask only the person's own secrets: settings that call a command a secret would hide it.
	c.Masker = redact.New(e.Environ)
	if len(c.Parts) == 0 {
		return c
	}
	switch record, err := trust.Get(e.Home, c.Of); {
	case err == nil:
		c.Record = &record
	case !errors.Is(err, trust.ErrNotTrusted):
		c.Err = err
	}
	return c
}

// Status is one of TrustNotNeeded, TrustMissing, TrustChanged and TrustGiven.
func (c TrustReview) Status() string {
	switch {
	case len(c.Parts) == 0:
		return TrustNotNeeded
	case c.Record == nil:
		return TrustMissing
	case c.Record.Fingerprint != c.Fingerprint():
		return TrustChanged
	}
	return TrustGiven
}

// Grant records that a person trusts them.
func (c TrustReview) Grant(e *Env) error {
	r := trust.Record{Project: c.Of, Fingerprint: c.Fingerprint(), At: e.Now().UTC()}
	for _, p := range c.Parts {
		r.Parts = append(r.Parts, trust.NewPart(p.Key, p.Value, c.Shown(p.Key, p.Value)))
	}
	return trust.Put(e.Home, r)
}

// RevokeTrust removes what a person trusts in a project, and reports whether there was anything.
func RevokeTrust(home, project string) (was bool, err error) {
	for _, of := range []string{filepath.Join(project, planFile), project} {
		switch err := trust.Remove(home, of); {
		case err == nil:
			was = true
		case !errors.Is(err, trust.ErrNotTrusted):
			return was, err
		}
	}
	return was, nil
}

// valueMost is how much of a value is shown, in characters: more than people write by hand.
const valueMost = 4000

// Shown returns a value for a person: in one line, its secrets masked. A long value is shown too,
// since its end may say what it does.
func (c TrustReview) Shown(key, value string) string {
	masked, _ := c.Masker.Mask([]byte(WithoutKeys(key, value)))
	text := string(masked)
	if strings.ContainsFunc(text, unicode.IsControl) || text != strings.TrimSpace(text) || text == "" {
		text = strconv.Quote(text)
	}
	if r := []rune(text); len(r) > valueMost {
		text = fmt.Sprintf("%s… and %d characters more", string(r[:valueMost]), len(r)-valueMost)
	}
	return text
}

// headersKey begins the keys of the headers that the collector of telemetry gets.
const headersKey = "telemetry.otlp.headers."

// WithoutKeys masks the headers of the collector, and variables of agents whose names are those of
// credentials. value is as [config.Text] prints it.
func WithoutKeys(key, value string) string {
	switch variable := agentVariable().FindStringSubmatch(key); {
	case variable != nil && redact.Name(variable[1]):
		return "[masked:" + variable[1] + "]"
	case strings.HasPrefix(key, headersKey):
		return "[masked:" + key[len(headersKey):] + "]"
	}
	return value
}

// agentVariable matches the key of a variable of an agent.
var agentVariable = units.Pattern(`^agents\.[^.]+\.env\.(.+)$`)

// Lines show the parts, each in a line, and what has changed since they were trusted.
func (c TrustReview) Lines(parts []config.Part) []string {
	var before map[string]trust.Part
	if c.Record != nil {
		before = map[string]trust.Part{}
		for _, p := range c.Record.Parts {
			before[p.Key] = p
		}
	}
	var lines []string
	for _, p := range parts {
		line := fmt.Sprintf("%s = %s (%s)", p.Key, c.Shown(p.Key, p.Value), p.Origin)
		if p.Own != "" {
			line += ", in the place of your own " + c.Shown(p.Key, p.Own)
		}
		was, known := before[p.Key]
		switch {
		case before == nil:
		case !known:
			line += ", which is new"
		case was.SHA256 != trust.NewPart(p.Key, p.Value, "").SHA256:
			line += ", which was " + was.Value
		}
		lines = append(lines, line)
	}
	if c.Record != nil {
		for _, was := range c.Record.Parts {
			if !slices.ContainsFunc(c.Parts, func(p config.Part) bool { return p.Key == was.Key }) {
				lines = append(lines, fmt.Sprintf("%s is not set any more; it was %s", was.Key, was.Value))
			}
		}
	}
	return lines
}

// About says in one line whether the settings are trusted.
func (c TrustReview) About() string {
	switch c.Status() {
	case TrustChanged:
		return c.What + " have changed since they were trusted"
	case TrustGiven:
		return c.What + " are trusted"
	}
	return c.What + " are not trusted yet"
}

// TrustsOnce reports whether the environment says that settings with this fingerprint count. An
// empty one is of what only a trust in everything includes.
func (e *Env) TrustsOnce(fingerprint string) (bool, error) {
	said := e.Variable(TrustVariable)
	if said == "" {
		return false, nil
	}
	if all, err := strconv.ParseBool(said); err == nil {
		return all, nil
	}
	if !fingerprints().MatchString(said) {
		return false, Refuse("set it to 1, or leave it out", "%s is %q", TrustVariable, said)
	}
	return fingerprint != "" && slices.Contains(strings.Split(said, ","), fingerprint), nil
}

// fingerprints matches what Fingerprint returns, once or several times.
var fingerprints = units.Pattern(`^[0-9a-f]{64}(,[0-9a-f]{64})*$`)

// Fingerprint identifies what is reviewed.
func (c TrustReview) Fingerprint() string { return config.Fingerprint(c.Parts) }

const CountOnce = "--trust or " + TrustVariable + "=1 lets them count this once"

// ConfirmTrust shows what would run and asks a person at the terminal. Without a terminal, the
// error shows the same.
func (e *Env) ConfirmTrust(about string, lines []string, hint string) (bool, error) {
	return e.ConfirmAll(about, lines, "Trust them?", hint)
}

// ConfirmAll shows what a question is about and asks a person at the terminal. Without a terminal,
// the error shows the same.
func (e *Env) ConfirmAll(about string, lines []string, question, hint string) (bool, error) {
	list := "\n" + strings.Join(lines, "\n")
	stdin, ok := e.Stdin.(*os.File)
	if !ok || e.Agent || !e.StdinIsTerminal() || !OnTerminal(e.Stderr) {
		return false, Refuse(hint, "%s:%s", about, list)
	}
	Tell(e.Stderr, "%s:%s", about, list)
	asker := NewAsker(stdin, e.Stderr)
	defer asker.Close()
	answer, err := asker.Confirm(question + " (y/N): ")
	if errors.Is(err, ErrGone) {
		fmt.Fprintln(e.Stderr)
		return false, Exit(event.ExitInterrupted)
	}
	return answer == Yes, err
}

// Within reports whether a path is a folder or is in it.
func Within(folder, path string) bool {
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}

// trustReport is what is printed as JSON.
type trustReport struct {
	Project string      `json:"project"`
	Status  string      `json:"status"` // needless, trusted, untrusted or changed
	Since   *time.Time  `json:"since,omitempty"`
	Parts   []trustPart `json:"parts"`
	// Plan is the same about the verifyCommands of ralph/tasks.json, where there are some.
	Plan *trustReport `json:"plan,omitempty"`
}

type trustPart struct {
	Key   string `json:"key"`
	Value string `json:"value"` // secrets masked
	From  string `json:"from"`
	Own   string `json:"own,omitempty"` // the person's own value, which it replaces
}

// Report is what a person or a program reads before trust is given. Secrets are masked. commands is
// the review of the verifyCommands.
func (c TrustReview) Report(commands TrustReview) trustReport {
	r := c.report()
	if commands.Status() != TrustNotNeeded {
		plan := commands.report()
		r.Plan = &plan
	}
	return r
}

func (c TrustReview) report() trustReport {
	r := trustReport{Project: c.Of, Status: c.Status(), Parts: []trustPart{}}
	if r.Status == TrustGiven {
		r.Since = &c.Record.At
	}
	for _, p := range c.Parts {
		part := trustPart{Key: p.Key, Value: c.Shown(p.Key, p.Value), From: p.Origin.String()}
		if p.Own != "" {
			part.Own = c.Shown(p.Key, p.Own)
		}
		r.Parts = append(r.Parts, part)
	}
	return r
}
