package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
)

// container runs the agent in a container of an image. It sees the tree and the loop's files at the
// paths that they have here, and nothing else of this machine. It has the person's uid, so that its
// files belong to that person.
func (b *Box) container(argv, env []string) (wrapped, environment []string) {
	engine := string(b.Mode)
	wrapped = []string{engine, "run", "--rm", "--interactive", "--init", "--name",
		fmt.Sprintf("%s-%d-%d", b.Name, os.Getpid(), b.count.Add(1)), "--label", labelKey + "=" + b.Name, "--workdir",
		b.Dir, "--security-opt", "no-new-privileges", "--cap-drop", "all", "--pids-limit", "4096"}
	switch uid := os.Getuid(); {
	case uid == 0:
		wrapped = append(wrapped, "--user", "0:0", "--cap-add", "dac_override")
	case b.Mode == Podman: // without root, the person is root of its own users
		wrapped = append(wrapped, "--userns", "keep-id")
	default:
		wrapped = append(wrapped, "--user", fmt.Sprintf("%d:%d", uid, os.Getgid()))
	}
	if b.Memory != "" {
		wrapped = append(wrapped, "--memory", b.Memory)
	}
	if b.CPUs != "" {
		wrapped = append(wrapped, "--cpus", b.CPUs)
	}
	if b.Network != Open {
		wrapped = append(wrapped, "--network", "none")
	} else {
		wrapped = append(wrapped, "--network", "host") // as the person
	}
	mount := func(path, options string) {
		if _, err := os.Stat(path); err == nil {
			wrapped = append(wrapped, "--volume", path+":"+path+options)
		}
	}
	write := b.writable()
	for _, path := range write {
		mount(path, "")
	}
	empty := b.Temp + "/empty"
	for _, path := range b.protected() {
		switch {
		case !slices.ContainsFunc(write, func(dir string) bool { return within(dir, path) }):
		case b.closed(path) && os.MkdirAll(empty, 0o700) == nil: // podman fills a tmpfs with what is there
			wrapped = append(wrapped, "--volume", empty+":"+path+":ro")
		default:
			mount(path, ":ro")
		}
	}
	for _, s := range b.States {
		for _, l := range s.links() {
			if !l.others { // the programs are those of the image, and such a folder may hold a login
				mount(l.to, ":ro")
			}
		}
	}
	var inside []string
	if b.proxy != nil {
		wrapped = append(wrapped, "--volume", b.proxy.Socket+":"+b.proxy.Socket, "--volume", b.Self+":"+selfInside+":ro")
		inside = []string{selfInside, "inside", "--proxy", b.proxy.Socket, "--"}
	}
	for _, entry := range slices.Concat(b.passed(env), b.leads(env), b.caches()) {
		wrapped = append(wrapped, "--env", b.argument(entry))
	}
	return slices.Concat(append(wrapped, b.Image), inside, argv), env
}

const (
	labelKey = "ralph.loop"
	// selfInside is where ralph is in a container.
	selfInside = "/.ralph-inside"
)

// own are variables that ralph sets for an agent's program.
var own = []string{
	"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "CLAUDE_CODE_DISABLE_AUTO_MEMORY", "DISABLE_AUTOUPDATER", "MAX_THINKING_TOKENS",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
}

// passed are the variables that the agent in a container gets: those of the loop, of the language
// and of its program, and what the policy names. PATH is that of the image.
func (b *Box) passed(env []string) (passed []string) {
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "RALPH_") || strings.HasPrefix(name, "LC_") ||
			slices.Contains([]string{"TASK_FOLDER", "TRACEPARENT", "HOME", "LANG", "TERM", "TZ"}, name) ||
			slices.Contains(own, name) || slices.Contains(b.Pass, name) {
			passed = append(passed, entry)
		}
	}
	return passed
}

// argument is a variable as an argument of the engine, which other users see. What may be a secret
// is its name alone: the engine takes the value from its own environment.
func (b *Box) argument(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	plain := []string{"RALPH_LOOP", "RALPH_LOOP_DIR", "RALPH_ITERATION", "RALPH_PORT_BASE", "RALPH_OUTLIVE", "RALPH_MACHINE"}
	if slices.Contains(b.Pass, name) || strings.HasPrefix(name, "RALPH_") && !slices.Contains(plain, name) {
		return name
	}
	return entry
}

// sweepTime bounds one call of the engine.
const sweepTime = 30 * time.Second

// Sweep removes the container of the loop, which outlives its client if that was killed, or ends
// what it runs in a machine. Without one it does nothing.
func (b *Box) Sweep(ctx context.Context) error {
	switch {
	case b != nil && b.Mode == DockerSandbox:
		if err := b.sweepVM(ctx); err != nil {
			return fmt.Errorf("end what runs in the sandbox %s: %w", b.Name, err)
		}
		return nil
	case b == nil || b.Mode != Docker && b.Mode != Podman:
		return nil
	}
	found, err := b.engine(ctx, "ps", "--all", "--quiet", "--filter", "label="+labelKey+"="+b.Name)
	if err == nil && strings.TrimSpace(found) != "" {
		_, err = b.engine(ctx, append([]string{"rm", "--force"}, strings.Fields(found)...)...)
	}
	if err != nil {
		return fmt.Errorf("remove the container %s: %w", b.Name, err)
	}
	return nil
}

func (b *Box) engine(ctx context.Context, args ...string) (string, error) {
	return call(ctx, b.Mode.program(), args...)
}

// call runs a program of containers and returns what it prints.
func call(ctx context.Context, program string, args ...string) (string, error) {
	return feed(ctx, sweepTime, nil, program, args...)
}

// feed is call for a program that reads input, or needs longer.
func feed(ctx context.Context, patience time.Duration, input []byte, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out bytes.Buffer
	errs := process.Tail{Max: 2000}
	exit, err := process.Run(ctx, process.Command{Argv: append([]string{program}, args...), Stdin: input, Stdout: &out,
		Stderr: &errs, Session: true, LeaveStrays: true})
	if err == nil {
		err = exit.Failure()
	}
	if err != nil {
		if args[0] == "sandbox" { // docker sandbox has several commands
			program, args = program+" "+args[0], args[1:]
		}
		return "", fmt.Errorf("%s %s: %w%s", program, args[0], err, strings.TrimSuffix(": "+strings.Join(strings.Fields(errs.String()), " "), ": "))
	}
	return out.String(), nil
}
