package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// launch forks the agent and opens its three streams. The child's ends of the pipes are closed here in every case, so that the
// end of a stream is seen when the last process of the agent's tree lets go of it.
func (p *Process) launch() (err error) {
	var ours, theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err != nil {
			return nil, nil, fmt.Errorf("start %s: open pipe: %w", p.spec.Argv[0], err)
		}
		return r, w, nil
	}

	cmd := exec.Command(p.spec.Argv[0], p.spec.Argv[1:]...)
	cmd.Dir = p.spec.Dir
	cmd.Env = p.environment()
	cmd.SysProcAttr = attributes(p.spec)
	var stdinEnd *os.File
	if p.spec.KeepStdin || len(p.spec.Stdin) > 0 {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		cmd.Stdin, stdinEnd = r, w
		ours, theirs = append(ours, w), append(theirs, r)
	}
	stdoutEnd, w, err := pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = w
	ours, theirs = append(ours, stdoutEnd), append(theirs, w)
	stderrEnd, w, err := pipe()
	if err != nil {
		return err
	}
	cmd.Stderr = w
	ours, theirs = append(ours, stderrEnd), append(theirs, w)
	widen(stdoutEnd)

	p.cmd = cmd
	p.started = time.Now()
	if err := p.fork(); err != nil {
		return diagnose(p.spec, err)
	}
	p.stdin = newFeeder(stdinEnd, p.spec.Stdin, p.spec.KeepStdin)
	p.stdout = newReader(Stdout, stdoutEnd, stdoutBuffer, p.spec)
	p.stderr = newReader(Stderr, stderrEnd, stderrBuffer, p.spec)
	p.stderr.tail = p.tail
	return nil
}

// fork starts the child and registers it in one step: another agent that ends meanwhile looks for adopted processes, and would
// take an unregistered child of ours for one.
func (p *Process) fork() error {
	live.mu.Lock()
	defer live.mu.Unlock()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	start, _ := Facts(p.pid) // the pid is ours until it is reaped, so this is the child's own
	root := identity{p.pid, start}
	live.roots[root] = p.spec.Mark
	p.family = newFamily(root, p.spec.Mark)
	return nil
}

func (p *Process) environment() []string {
	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return strings.HasPrefix(entry, MarkVariable+"=")
	})
	if p.spec.Mark != "" {
		env = append(env, MarkVariable+"="+p.spec.Mark)
	}
	// A PWD inherited from the caller names another directory, and some programs believe it.
	if dir, err := filepath.Abs(p.spec.Dir); err == nil && p.spec.Dir != "" {
		env = append(env, "PWD="+dir)
	}
	return env
}

// diagnose finds out what the kernel's answer to fork and exec was about: it says "no such file or directory" alike for a
// missing working directory, a missing program, and a script whose interpreter is missing.
func diagnose(spec Spec, err error) error {
	name := spec.Argv[0]
	if dirErr := checkDir(spec.Dir); dirErr != nil {
		return fmt.Errorf("start %s: working directory: %w", name, dirErr)
	}
	// The *PathError of os.StartProcess repeats the program's name under the operation "fork/exec".
	cause := err
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pathErr.Err
	}
	program := name
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		program = filepath.Join(spec.Dir, name)
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("start agent: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(program); errors.Is(statErr, fs.ErrNotExist) {
			return fmt.Errorf("start agent: %w", &absentError{name})
		}
		return fmt.Errorf("start %s: the interpreter or loader it names is missing: %w", name, cause)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("start %s: neither a program for this machine nor a script with a #! line: %w", name, cause)
	}
	return fmt.Errorf("start %s: %w", name, cause)
}

// absentError says that a path leads to no program. It is an exec.ErrNotFound, whose own words are about PATH.
type absentError struct{ path string }

func (e *absentError) Error() string        { return "there is no program " + e.path }
func (e *absentError) Is(target error) bool { return target == exec.ErrNotFound }

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
	}
	if !enterable(dir) {
		return &fs.PathError{Op: "chdir", Path: dir, Err: syscall.EACCES}
	}
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
