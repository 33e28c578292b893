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

// launch forks the process and opens its streams. The child's ends of the pipes are closed here in
// every case, so that a stream ends when the last process of the tree closes it.
func (p *Process) launch() (err error) {
	var ours, theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err != nil {
			err = fmt.Errorf("open pipe: %w", err)
		}
		return r, w
	}
	// output opens a pipe for an output stream of the child.
	output := func(name string, to sink) *os.File {
		r, w := pipe()
		if err != nil {
			return nil
		}
		ours, theirs = append(ours, r), append(theirs, w)
		p.readers = append(p.readers, &reader{name: name, file: r, sink: to})
		return w
	}

	cmd := exec.Command(p.spec.Argv[0], p.spec.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.spec.Dir, p.environment(), p.attributes()
	var stdin *os.File
	var input []byte
	if c := p.command; c == nil {
		cmd.Stdout = output("standard output", p.splitter(Stdout, stdoutBuffer))
		cmd.Stderr = output("standard error", p.splitter(Stderr, stderrBuffer))
	} else {
		input = c.Stdin
		if c.Stdout != nil {
			cmd.Stdout = output("standard output", newWriterSink(c.Stdout))
		}
		if c.Stderr != nil && c.Stderr == c.Stdout {
			cmd.Stderr = cmd.Stdout
		} else if c.Stderr != nil {
			cmd.Stderr = output("standard error", newWriterSink(c.Stderr))
		}
	}
	if p.spec.KeepStdin || len(input) > 0 {
		r, w := pipe()
		if err == nil {
			cmd.Stdin, stdin = r, w
			ours, theirs = append(ours, w), append(theirs, r)
		}
	}
	if err != nil {
		return err
	}
	if p.command == nil {
		enlargePipe(p.readers[0].file)
	}
	p.cmd = cmd
	p.started = time.Now()
	if err := p.fork(); err != nil {
		return diagnose(p.spec, err)
	}
	p.stdin = newStdinWriter(stdin, input, p.spec.KeepStdin)
	return nil
}

func (p *Process) splitter(stream Stream, size int) *splitter {
	return newSplitter(stream, size, p.spec.maxLine, p.spec.Raw, p.deliver)
}

// fork starts the child and registers it in one step: another agent that ends at the same time
// looks for adopted processes, and would take an unregistered child for one.
func (p *Process) fork() error {
	roots.mu.Lock()
	defer roots.mu.Unlock()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	start, _ := StartTime(p.pid) // the pid is the child's until it is reaped
	id := identity{p.pid, start}
	group := p.command != nil && p.command.Mark == ""
	roots.known[id] = root{mark: p.spec.Mark, group: group}
	p.tree = newTree(id, p.spec.Mark)
	p.tree.group = group
	return nil
}

func (p *Process) environment() []string {
	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.Clone(env)
	if p.command == nil || p.spec.Mark != "" {
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, MarkVariable+"=") })
	}
	if p.spec.Mark != "" {
		env = append(env, MarkVariable+"="+p.spec.Mark)
	}
	// A PWD inherited from the caller names another directory, and some programs believe it.
	if dir, err := filepath.Abs(p.spec.Dir); err == nil && p.spec.Dir != "" {
		env = append(env, "PWD="+dir)
	}
	return env
}

// diagnose states what the kernel's answer to fork and exec is about. The kernel answers "no such
// file or directory" alike for a missing working directory, a missing program, and a script whose
// interpreter is missing.
func diagnose(spec Spec, err error) error {
	if dirErr := checkDir(spec.Dir); dirErr != nil {
		return fmt.Errorf("working directory: %w", dirErr)
	}
	// The *PathError of os.StartProcess repeats the program's name.
	cause := err
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pathErr.Err
	}
	program := programIn(spec.Argv[0], spec.Dir)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return err
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(program); errors.Is(statErr, fs.ErrNotExist) {
			return &absentError{spec.Argv[0]}
		}
		return fmt.Errorf("the interpreter or loader it names is missing: %w", cause)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("neither a program for this machine nor a script with a #! line: %w", cause)
	}
	return cause
}

// programIn returns the path of a program that is named by a path, seen from a working directory.
func programIn(program, dir string) string {
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		return filepath.Join(dir, program)
	}
	return program
}

// CheckProgram returns the error with which the start of a program in a working directory would
// fail because there is no such program, or because it may not be run.
func CheckProgram(program, dir string) error {
	_, err := exec.LookPath(programIn(program, dir))
	if errors.Is(err, fs.ErrNotExist) {
		return &absentError{program}
	}
	return err
}

// absentError says that a path leads to no program. It is an exec.ErrNotFound, whose own text is
// about PATH.
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
