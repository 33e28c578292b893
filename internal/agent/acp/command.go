package acp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
)

// Command returns the argv of the agent as an ACP server. Flags of the user, in agent.command or agent.flags, replace those
// made from settings. A model without a flag for it is chosen in each session.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	if len(spec.Command) == 0 {
		return agent.Command{}, fmt.Errorf("acp: agent.command is empty")
	}
	p := d.profile
	users := slices.Concat(spec.Command[1:], spec.Flags)
	argv := slices.Clone(spec.Command)
	if !p.speaks(users) {
		argv = append(argv, p.speak[0])
	}
	model, provider := spec.Model, spec.Provider
	if p.joined && provider != "" && model != "" {
		model, provider = provider+"/"+model, ""
	}
	switch {
	case model == "":
	case p.model == "":
		d.wants.model = model
	case !given(users, p.model):
		argv = append(argv, p.model, model)
	}
	if provider != "" {
		return agent.Command{}, fmt.Errorf("acp: %s takes no agent.provider: choose it in its own settings", p.name)
	}
	d.permissions = spec.Permissions
	may, lax := "everything: what it asks about is allowed", false
	if spec.Confined() {
		may, lax = answered[spec.Permissions], !slices.Contains(p.holds, spec.Permissions)
	}
	switch decided := slices.ContainsFunc(p.yes, func(flag string) bool { return given(users, flag) }); {
	case decided:
		may, lax = agent.ByItsFlags, false
	case len(p.yes) > 0 && spec.Confined():
		argv = append(argv, p.modes...)
	case len(p.yes) > 0:
		argv = append(argv, p.yes[0])
	}
	for _, flag := range p.logFlags {
		if name, _, _ := strings.Cut(flag, "="); !given(users, name) {
			argv = append(argv, flag)
		}
	}
	d.wants.thinking, d.dir = spec.Thinking, spec.Dir
	return agent.Command{Argv: append(argv, spec.Flags...), Env: slices.Clone(p.env), May: may, Lax: lax}, nil
}

// answered says what the agent may do of what it asks about.
var answered = map[string]string{
	agent.PermitWorkspace: "of what it asks about: read, and change files in its folder",
	agent.PermitAsk:       "nothing that it asks about",
}

// given reports whether a flag is among the arguments, `--flag value` or `--flag=value`; -m is short for --model wherever
// there is one.
func given(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == flag || flag == "--model" && name == "-m"
	})
}
