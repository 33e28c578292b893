package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/internal/trust"
	"github.com/ralph-loop/ralph/journal/event"
)

// Settings that come with a project may be anybody's. Those that run programs or change what they find in their environment count
// only once a person has seen and trusted them. See docs/decisions/0027-trust.md.

// trustVariable lets the settings of every project count, for machines on which nobody can be asked.
const trustVariable = "RALPH_TRUST"

// standing of a project's settings.
const (
	trustNeedless  = "needless" // they set nothing that needs it
	trustGiven     = "trusted"
	trustNever     = "untrusted"
	trustOvertaken = "changed" // since they were trusted
)

// confidence is what a person has said of the settings of this project.
type confidence struct {
	parts  []config.Part
	masker *secret.Masker
	record *trust.Record // nil where there is none
	err    error         // why the record cannot be read: it trusts nothing
}

// confidence holds what the files set against what is trusted.
func (e *env) confidence(loaded config.Loaded) confidence {
	// Of the person's own secrets alone: settings that call a command a secret would hide it.
	c := confidence{parts: loaded.Parts, masker: secret.New(e.environ)}
	if len(c.parts) == 0 {
		return c
	}
	switch record, err := trust.Get(e.home, e.root()); {
	case err == nil:
		c.record = &record
	case !errors.Is(err, trust.ErrNotTrusted):
		c.err = err
	}
	return c
}

func (c confidence) standing() string {
	switch {
	case len(c.parts) == 0:
		return trustNeedless
	case c.record == nil:
		return trustNever
	case c.record.Fingerprint != config.Fingerprint(c.parts):
		return trustOvertaken
	}
	return trustGiven
}

// give records that a person trusts them.
func (c confidence) give(e *env) error {
	r := trust.Record{Project: e.root(), Fingerprint: config.Fingerprint(c.parts), At: e.now().UTC()}
	for _, p := range c.parts {
		r.Parts = append(r.Parts, trust.NewPart(p.Key, p.Value, c.shown(p.Key, p.Value)))
	}
	return trust.Put(e.home, r)
}

// valueMost is how much of a value is shown, in characters: more than anybody writes by hand.
const valueMost = 4000

// shown returns a value for a person: in one line, its secrets masked. All of it is shown, since what it does may stand at its end.
func (c confidence) shown(key, value string) string {
	masked, _ := c.masker.Mask([]byte(withoutKeys(key, value)))
	text := string(masked)
	if strings.ContainsFunc(text, unicode.IsControl) || text != strings.TrimSpace(text) || text == "" {
		text = strconv.Quote(text)
	}
	if r := []rune(text); len(r) > valueMost {
		text = fmt.Sprintf("%s… and %d characters more", string(r[:valueMost]), len(r)-valueMost)
	}
	return text
}

// withoutKeys masks what an agent is given under a name that credentials have.
func withoutKeys(key, value string) string {
	if name, ok := strings.CutPrefix(key, "agent.env."); ok && secret.Name(name) {
		return "[masked:" + name + "]"
	}
	switch {
	case key == "agents":
		d := document{{key, json.RawMessage(value)}}
		agents, err := d.objects(key)
		if err != nil {
			return value
		}
		for i := range agents {
			agents[i] = withoutKeysOf(agents[i])
		}
		d.setObjects(key, agents)
		return string(d.get(key))
	case strings.HasPrefix(key, "agents["):
		if agent, err := parseDocument([]byte(value)); err == nil {
			return string(withoutKeysOf(agent).append(nil))
		}
	}
	return value
}

// withoutKeysOf masks in the environment of an agent.
func withoutKeysOf(agent document) document {
	env, err := parseDocument(agent.get("env"))
	if err != nil {
		return agent // it has none
	}
	for _, m := range env {
		if secret.Name(m.name) {
			env.set(m.name, "[masked:"+m.name+"]")
		}
	}
	agent.put("env", env.append(nil))
	return agent
}

// lines show the parts, each in a line, and what has changed since they were trusted.
func (c confidence) lines(parts []config.Part) []string {
	var before map[string]trust.Part
	if c.record != nil {
		before = map[string]trust.Part{}
		for _, p := range c.record.Parts {
			before[p.Key] = p
		}
	}
	var lines []string
	for _, p := range parts {
		line := fmt.Sprintf("%s = %s (%s)", p.Key, c.shown(p.Key, p.Value), p.Origin)
		if p.Own != "" {
			line += ", in the place of your own " + c.shown(p.Key, p.Own)
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
	if c.record != nil {
		for _, was := range c.record.Parts {
			if !slices.ContainsFunc(c.parts, func(p config.Part) bool { return p.Key == was.Key }) {
				lines = append(lines, fmt.Sprintf("%s is not set any more; it was %s", was.Key, was.Value))
			}
		}
	}
	return lines
}

// about says in one line how the settings stand.
func (c confidence) about() string {
	const which = "settings of this project that run programs or replace your own "
	switch c.standing() {
	case trustOvertaken:
		return which + "have changed since they were trusted"
	case trustGiven:
		return which + "are trusted"
	}
	return which + "are not trusted yet"
}

// trusts lets the settings of the project count where a person trusts them. Where one can be asked, one is.
func (o *loopOptions) trusts(e *env, loaded config.Loaded) error {
	if len(loaded.Asked()) == 0 {
		return nil
	}
	once, err := o.trustsOnce(e)
	if err != nil || once {
		return err
	}
	c := e.confidence(loaded)
	if c.standing() == trustGiven {
		return nil
	}
	if c.err != nil {
		tell(e.stderr, "%v", c.err)
	}
	// All of them, also those in whose place there is a flag now: what is trusted was shown.
	said, err := e.consents(c.about(), c.lines(c.parts), "look at them, then 'ralph trust'; "+countOnce)
	if err != nil {
		return err
	}
	if !said {
		return refuse("nothing was started; 'ralph trust' asks again", "the settings of this project are not trusted")
	}
	return c.give(e)
}

// trustsOnce reports whether somebody said that whatever stands there counts, this once.
func (o *loopOptions) trustsOnce(e *env) (bool, error) {
	if o.Trust {
		return true, nil
	}
	return e.trustsAll()
}

// trustsAll reports whether the environment says that the settings of every project count.
func (e *env) trustsAll() (bool, error) {
	said := e.variable(trustVariable)
	if said == "" {
		return false, nil
	}
	all, err := strconv.ParseBool(said)
	if err != nil {
		return false, refuse("set it to 1, or leave it out", "%s is %q", trustVariable, said)
	}
	return all, nil
}

const countOnce = "--trust or " + trustVariable + "=1 lets them count this once"

// consents shows what would run and asks a person, who must be there: else it is refused with what was to be shown.
func (e *env) consents(about string, lines []string, hint string) (bool, error) {
	return e.agrees(about, lines, "Trust them?", hint)
}

// agrees shows what a question is about and asks a person, who must be there: else it is refused with what was to be shown.
func (e *env) agrees(about string, lines []string, question, hint string) (bool, error) {
	list := "\n" + strings.Join(lines, "\n")
	stdin, ok := e.stdin.(*os.File)
	if !ok || !e.typed() || !onTerminal(e.stderr) {
		return false, refuse(hint, "%s:%s", about, list)
	}
	tell(e.stderr, "%s:%s", about, list)
	asker := newAsker(stdin, e.stderr)
	defer asker.close()
	answer, err := asker.confirm(question + " (y/N): ")
	if errors.Is(err, errGone) {
		fmt.Fprintln(e.stderr)
		return false, exit(event.ExitInterrupted)
	}
	return answer == yes, err
}

// inProject reports whether a program is found in this project, where anybody may have put it.
func (e *env) inProject(program string) bool {
	path, err := exec.LookPath(program)
	if err != nil {
		return errors.Is(err, exec.ErrDot)
	}
	return !filepath.IsAbs(path) || within(e.root(), path) || within(e.root(), withoutLinks(path))
}

// within reports whether a path is a folder or stands in it.
func within(folder, path string) bool {
	inside, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(inside)
}

// path is the variable PATH of a program that doctor runs, where that is another one: what is written for "env node" is not to find
// the project's.
func (e *env) path() []string {
	if !e.wary {
		return nil
	}
	var outside []string
	for _, folder := range filepath.SplitList(e.variable("PATH")) {
		real, err := filepath.EvalSymlinks(folder)
		if err == nil && filepath.IsAbs(folder) && !within(e.root(), folder) && !within(e.root(), real) {
			outside = append(outside, folder)
		}
	}
	return []string{"PATH=" + strings.Join(outside, string(filepath.ListSeparator))}
}
