package acp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
)

// Command returns the argv of the agent as an ACP server. Flags of the user, in its command or
// flags, replace those made from settings. A model without a flag for it is chosen in each
// session.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	argv, err := spec.Argv(nil)
	if err != nil {
		return agent.Command{}, fmt.Errorf("acp: %w", err)
	}
	p := d.profile
	if len(p.speak) > 0 && !argv.Has(p.speak...) {
		argv.Words = append(argv.Words, p.speak[0])
	}
	model, provider := spec.Model, spec.Provider
	if p.joined && provider != "" && model != "" {
		model, provider = provider+"/"+model, ""
	}
	switch {
	case p.model == "":
		d.wants.model = model
	case !argv.Has("-m"):
		argv.AddValue(p.model, model)
	}
	if provider != "" {
		return agent.Command{}, fmt.Errorf("acp: %s takes no provider: choose it in its own settings", p.name)
	}
	d.permissions = spec.Permissions
	may, lax := "everything: what it asks about is allowed", false
	if spec.Confined() {
		may, lax = answered[spec.Permissions], !slices.Contains(p.holds, spec.Permissions)
	}
	switch {
	case argv.Has(p.yes...):
		may, lax = agent.ByItsFlags, false
	case len(p.yes) > 0 && spec.Confined():
		argv.Words = append(argv.Words, p.modes...)
	case len(p.yes) > 0:
		argv.Add(p.yes[0])
	}
	for _, flag := range p.logFlags {
		if name, _, _ := strings.Cut(flag, "="); !argv.Has(name) {
			argv.Words = append(argv.Words, flag)
		}
	}
	d.wants.thinking, d.dir = spec.Thinking, spec.Dir
	return agent.Command{Argv: argv.End(), Env: slices.Clone(p.env), May: may, Lax: lax}, nil
}

// answered says what the agent may do of what it asks about.
var answered = map[string]string{
	agent.PermitWorkspace: "of what it asks about: read, and change files in its folder",
	agent.PermitAsk:       "nothing that it asks about",
}
