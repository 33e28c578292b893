package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// SandboxError says that the sandbox of the settings cannot be made.
type SandboxError struct{ Err error }

func (e *SandboxError) Error() string { return e.Err.Error() }
func (e *SandboxError) Unwrap() error { return e.Err }

// Hint returns the next step.
func (e *SandboxError) Hint() string {
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](e.Err); ok {
		return hinted.Hint()
	}
	return "'ralph doctor --sandbox' shows what works here; sandbox.mode chooses another, or none"
}

// sandboxFolder is the folder in the loop's with the caches of sandboxed programs, and with what
// agents keep.
const sandboxFolder = "sandbox"

// openSandbox opens the sandbox of the settings. It ends what a dead runner left in it.
func (r *runner) openSandbox(ctx context.Context) error {
	mode := sandbox.Mode(r.Settings.Sandbox.Mode)
	if mode == sandbox.None || mode == "" {
		return nil
	}
	if mode != sandbox.Auto {
		return r.openMode(ctx, mode)
	}
	var why []string
	if ServedByVM(r.Settings) == nil && sandbox.DockerSandbox.Check() == nil {
		err := r.openMode(ctx, sandbox.DockerSandbox)
		if err == nil {
			return nil
		}
		r.warn(fmt.Errorf("%w; auto looks for another sandbox", err))
		why = append(why, err.Error())
	}
	mode, others := Strongest(ctx, r.Home, r.Tree != r.Project)
	if mode == sandbox.None {
		r.sandboxed = &event.SandboxOpened{Mode: string(mode), Network: string(sandbox.Open), Why: strings.Join(append(why, others), "; ")}
		return nil
	}
	return r.openMode(ctx, mode)
}

// openMode opens a sandbox of that mode.
func (r *runner) openMode(ctx context.Context, mode sandbox.Mode) error {
	p, err := r.sandboxPolicy(ctx, mode)
	if err == nil {
		r.sandbox, err = sandbox.OpenBox(ctx, p)
	}
	if err == nil {
		err = r.sandbox.Sweep(ctx)
	}
	if err == nil && mode == sandbox.DockerSandbox {
		err = r.beginExchange()
	}
	if err == nil && !mode.Contained() { // a policy that cannot be kept, before an agent needs it
		_, _, err = r.sandbox.Wrap([]string{OwnProgram()}, nil)
	}
	if err != nil {
		err = &SandboxError{errors.Join(err, r.sandbox.Close())}
		r.sandbox = nil
		return err
	}
	r.sandboxed = &event.SandboxOpened{Mode: string(mode), Network: string(p.Network), Hosts: p.Hosts}
	return nil
}

// ServedByVM returns an error that names an agent which docker-sandbox does not serve: its machines
// have Claude Code.
func ServedByVM(s config.Settings) error {
	agents := s.AllAgents()
	if len(agents) == 0 {
		return errors.New("there is no agent")
	}
	for _, a := range agents {
		if known, ok := config.KnownProgram(a.Program()); !ok || known.Program != "claude" {
			return fmt.Errorf("sandbox %s is for Claude Code, and an agent of this loop is %s", sandbox.DockerSandbox,
				cmp.Or(a.Program(), a.ResolvedProtocol()))
		}
	}
	return nil
}

// Strongest returns the strongest sandbox without a container that holds here, for a loop in a
// worktree of its own or not, or none with the reasons.
func Strongest(ctx context.Context, home string, worktree bool) (mode sandbox.Mode, why string) {
	var reasons []string
	for _, mode := range sandbox.Local() {
		err := holds(ctx, mode, home)
		if err == nil && mode == sandbox.Landlock && !worktree {
			err = fmt.Errorf("%s needs a loop in a worktree", mode)
		}
		if err == nil {
			return mode, ""
		}
		reasons = append(reasons, err.Error())
	}
	return sandbox.None, strings.Join(reasons, "; ")
}

// holds tries to escape from a sandbox without a container, and returns how that is possible.
func holds(ctx context.Context, mode sandbox.Mode, home string) error {
	attempts, err := sandbox.Escape(ctx, mode, OwnProgram(), "", home)
	if err != nil {
		return err
	}
	var ways []string
	for _, a := range attempts {
		if a.Escaped && !slices.Contains(sandbox.Known(mode), a.What) {
			ways = append(ways, a.What)
		}
	}
	if len(ways) > 0 {
		return fmt.Errorf("%s does not hold here: %s", mode, strings.Join(ways, ", "))
	}
	return nil
}

// sandboxPolicy says what the agents of this loop may do.
func (r *runner) sandboxPolicy(ctx context.Context, mode sandbox.Mode) (sandbox.Policy, error) {
	s := r.Settings.Sandbox
	home := lastOf(r.Env, "HOME")
	p := sandbox.Policy{
		Mode: mode, Dir: r.WorkDir, Network: sandbox.Network(s.Network), Hosts: s.Hosts, Self: OwnProgram(),
		Name: "ralph-" + strings.ToLower(r.id), Temp: filepath.Join(r.Dir, sandboxFolder), Aside: filepath.Join(r.Dir, keep.FoundDir),
		Image: s.Image, Memory: s.Memory, CPUs: s.CPUs, Pass: slices.Concat(s.Pass, r.passedKeys()), State: filepath.Join(r.Home, "docker-sandbox"),
		Loop: r.Name, Linux: sandbox.LinuxProgram(OwnProgram(), r.Home),
	}
	if (mode == sandbox.Docker || mode == sandbox.Podman) && p.Image == "" {
		return p, fmt.Errorf("sandbox %s needs sandbox.image, an image with the agent's program", mode)
	}
	if _, err := inbox.Open(r.Dir); err != nil { // makes both parts: a link in their place would lead elsewhere
		return p, err
	}
	people, agents := filepath.Join(r.Dir, inbox.Folder), filepath.Join(r.Dir, inbox.AgentFolder)
	for _, dir := range []string{filepath.Join(p.Temp, "cache"), p.Aside} { // a name that is missing is not protected
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return p, err
		}
	}
	tree, err := repo.WorkTree(r.Tree)
	if err != nil {
		return p, err
	}
	p.Write = append(p.Write, tree, r.WorkDir)
	if p.Tree = tree; mode == sandbox.DockerSandbox {
		p.Name, p.Machine = sandbox.MachineOf(r.Home, tree)
	}
	git, err := repo.GitFolders(ctx, r.Tree, r.Env...)
	if err != nil && !repo.Absent(err) {
		return p, err
	}
	if len(git) > 0 {
		p.Git = sandbox.Repository{Tree: tree, Common: git[0], Own: git[len(git)-1]}
	}
	p.Write = append(p.Write, agents) // so mounted, it cannot be replaced by a link
	if mode == sandbox.Landlock {     // it cannot take files out of a folder
		p.Write = append(p.Write, filepath.Join(r.Dir, task.TaskFile), filepath.Join(r.Dir, task.ReflectFile))
	} else {
		p.Write, p.Hide = append(p.Write, r.Dir), append(p.Hide, people)
	}
	p.Protect = append(p.Protect, filepath.Join(agents, inbox.RejectedFolder))
	p.Ralph = append(p.Ralph, loopfolder.Files(r.Dir)...)
	if r.Tree == r.Project {
		p.Ralph = append(p.Ralph, filepath.Join(r.Project, ".ralph"))
	}
	if err := r.protectGuardrails(&p); err != nil {
		return p, err
	}
	if home != "" {
		p.HideHome(home)
		p.Show = append(p.Show, r.Project, r.Dir)
		r.addStates(&p, home)
	}
	p.Hide = append(p.Hide, r.Home)
	for _, name := range []string{"pool.json", "pool.key"} { // the secrets of a pool may be links, as in a pod
		if real, err := filepath.EvalSymlinks(filepath.Join(r.Home, name)); err == nil {
			p.Hide = append(p.Hide, real)
		}
	}
	p.Show = append(p.Show, filepath.Join(r.Home, "registry"))
	place := func(names []string) (paths []string) {
		for _, name := range names {
			paths = append(paths, placeOf(name, r.Project, home))
		}
		return paths
	}
	p.Write, p.Show, p.Hide = append(p.Write, place(s.Write)...), append(p.Show, place(s.Read)...), append(p.Hide, place(s.Hide)...)
	p.Hide = slices.DeleteFunc(p.Hide, func(path string) bool {
		return slices.Contains(p.Show, path) || slices.ContainsFunc(p.Write, func(write string) bool { return write == path })
	})
	if err := r.hideHeldOut(&p); err != nil {
		return p, err
	}
	if mode == sandbox.Landlock {
		p.Write = existing(p.Write)
	}
	return p, nil
}

// addStates names what the loop's agents keep. Where pi keeps sessions by a setting, it may write.
func (r *runner) addStates(p *sandbox.Policy, home string) {
	for place, a := range r.Settings.AllAgents() {
		program := a.Program()
		if known, ok := a.Known(); ok {
			program = known.Program
		}
		var sessions []string
		if a.Session != "" {
			sessions = append(sessions, a.Session)
		}
		for _, s := range sandbox.StatesOf(program, home, r.environment(place, 0), sessions...) {
			at := slices.IndexFunc(p.States, func(other sandbox.State) bool { return other.Name == s.Name })
			if at >= 0 {
				p.States[at].Wanted = append(p.States[at].Wanted, sessions...)
			} else {
				p.States = append(p.States, s)
			}
		}
		if a.SessionDir != "" {
			p.Write = append(p.Write, placeOf(a.SessionDir, r.WorkDir, home))
		}
	}
}

// placeOf returns the path that a name in sandbox.write and its like means.
func placeOf(name, project, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(project, name)
}

func existing(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { _, err := os.Stat(path); return err != nil })
}

// protectGuardrails protects the files of the guardrails that have to stay as they are.
func (r *runner) protectGuardrails(p *sandbox.Policy) error {
	var protected []guardrail.Guardrail
	for _, g := range Guards(r.Settings) {
		if g.Protect {
			protected = append(protected, g)
		}
	}
	if len(protected) == 0 {
		return nil
	}
	snapshot, err := guardrail.NewSnapshot(guardrail.Place{Work: r.Tree, Settings: r.Project}, protected)
	if err != nil {
		return err
	}
	for _, record := range snapshot.Records() {
		if record.Protected && record.Kind == guardrail.KindFile {
			p.Protect = append(p.Protect, filepath.Join(r.Tree, filepath.FromSlash(record.Path)))
		}
	}
	return nil
}

// passedKeys are the variables with keys that agents get.
func (r *runner) passedKeys() (names []string) {
	for _, a := range r.Settings.AllAgents() {
		if known, ok := a.Known(); ok {
			names = append(names, known.Keys...)
		}
		for name := range a.Env {
			names = append(names, name)
		}
	}
	return names
}

// reportSandbox records in which sandbox the agents are.
func (r *runner) reportSandbox() {
	if r.sandboxed != nil {
		r.recordLater(*r.sandboxed)
	}
}

// closeSandbox ends the sandbox, and says which hosts it kept from the agent.
func (r *runner) closeSandbox() {
	if r.sandbox == nil {
		return
	}
	r.endExchange()
	_ = r.putBack() // the journal is closed; the log has them
	if n, hosts := r.sandbox.Refused(); n > 0 {
		r.warn(fmt.Errorf("the sandbox refused %s, to %s", units.Quantity(n, "connection"), strings.Join(hosts, ", ")))
	}
	if err := r.sandbox.Sweep(context.Background()); err != nil {
		r.warn(err)
	}
	if err := r.sandbox.Close(); err != nil {
		r.warn(err)
	}
	r.sandbox = nil
}

// wrap returns the command that runs an agent in the sandbox.
func (r *runner) wrap(argv, env []string) (wrapped, environment []string, err error) {
	// What an agent left that was killed; settle did it for others.
	if notes := r.putBack(); len(notes) > 0 {
		r.recordLater(event.SandboxCorrected{Did: notes})
	}
	ctx := context.Background() // each of these has a limit of its own
	err = r.sandbox.Sweep(ctx)
	if err == nil && r.interrupted.Swap(false) {
		err = r.sandbox.Refresh(ctx)
	}
	if err == nil && r.sandbox.Settle() > 0 {
		err = r.sandbox.Put(ctx, filepath.Join(r.Tree, plan.Active), plan.Path(r.Tree, plan.Tasks))
		err = errors.Join(err, r.bringFiles(ctx))
	}
	if err != nil {
		return nil, nil, err
	}
	return r.sandbox.Wrap(argv, env)
}

// settle waits until the files are those that the agent wrote, and puts git's own files back.
func (r *runner) settle(ctx context.Context) (notes []string) {
	if wait := r.sandbox.Settle(); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		notes = r.fetchFiles(slices.Concat(memory, marks))
	}
	return append(notes, r.putBack()...)
}

// putBack returns what ralph did, for the journal.
func (r *runner) putBack() (notes []string) {
	notes, err := r.sandbox.PutBack()
	for _, note := range notes {
		r.warn(errors.New("the sandbox " + note))
	}
	if err != nil {
		r.warn(fmt.Errorf("put back what the agent changed around its sandbox: %w", err))
	}
	return notes
}

// wrapProbe is wrap for a question to the agent's program.
func (r *runner) wrapProbe(argv, env []string) (wrapped, environment []string, err error) {
	if r.sandbox == nil || !r.sandbox.Mode.Contained() {
		return argv, env, nil
	}
	return r.sandbox.Probe().Wrap(argv, env)
}
