package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// binary is a compiled suite.
type binary struct {
	suite
	path    string
	dir     string // in which its tests run
	took    time.Duration
	reaches map[int]bool
}

// run builds the tests and runs them on each mutant.
func run(o options, work, overlay string, chosen []*change) (result, error) {
	binaries, err := build(o, work, overlay)
	if err != nil {
		return result{}, err
	}
	for _, b := range binaries {
		if err := b.explore(work); err != nil {
			return result{}, err
		}
	}
	slices.SortFunc(binaries, func(a, b *binary) int { return int(a.took - b.took) })
	var r result
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := make(chan *change)
	for n := range o.jobs {
		workers.Go(func() {
			temp := filepath.Join(work, "tmp"+strconv.Itoa(n))
			for c := range next {
				killed, late := judge(c, binaries, temp)
				mu.Lock()
				if killed {
					r.killed++
				} else {
					r.survivors = append(r.survivors, c)
				}
				if late {
					r.late++
				}
				if r.run()%200 == 0 {
					fmt.Fprintf(os.Stderr, "mutate: %d of %d, %d survive\n", r.run(), len(chosen), len(r.survivors))
				}
				mu.Unlock()
			}
		})
	}
	began := time.Now()
	for _, c := range chosen {
		if o.within > 0 && time.Since(began) >= o.within {
			break
		}
		next <- c
	}
	close(next)
	workers.Wait()
	slices.SortFunc(r.survivors, func(a, b *change) int { return a.id - b.id })
	return r, nil
}

func build(o options, work, overlay string) ([]*binary, error) {
	var binaries []*binary
	for i, s := range o.suites {
		b := &binary{suite: s, path: filepath.Join(work, fmt.Sprintf("tests%d", i)), dir: filepath.Join(o.dir, filepath.FromSlash(s.pkg))}
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", b.path, "./"+s.pkg)
		cmd.Dir, cmd.Stderr, cmd.Stdout = o.dir, os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("build the tests of %s: %w", s.pkg, err)
		}
		binaries = append(binaries, b)
	}
	return binaries, nil
}

// explore runs the tests without a mutant, to find how long they take and which functions they
// reach.
func (b *binary) explore(work string) error {
	reached := filepath.Join(work, "reached_"+filepath.Base(b.path))
	if _, out, err := b.start(work, 10*time.Minute, "MUTANT_REACHED="+reached); err != nil {
		return fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", b.pkg, err, out)
	}
	began := time.Now()
	if _, out, err := b.start(work, 10*time.Minute); err != nil {
		return fmt.Errorf("the tests of %s fail sometimes: %w\n%s", b.pkg, err, out)
	}
	b.took = time.Since(began)
	data, err := os.ReadFile(reached)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	b.reaches = map[int]bool{}
	for word := range strings.FieldsSeq(string(data)) {
		id, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		b.reaches[id] = true
	}
	return nil
}

// judge runs the tests with a mutant. late means that they did not end.
func judge(c *change, binaries []*binary, temp string) (killed, late bool) {
	for _, b := range binaries {
		if c.place != 0 && !b.reaches[c.place] {
			continue
		}
		c.reached = true
		late, _, err := b.start(temp, 10*time.Second+8*b.took, "MUTANT="+strconv.Itoa(c.id))
		if err != nil {
			return true, late
		}
	}
	return false, false
}

// start runs the tests in a process group of their own, which is killed with them, and with at most
// 4 GB of memory, because a mutant may allocate endlessly.
func (b *binary) start(temp string, limit time.Duration, env ...string) (late bool, output []byte, err error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return false, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append([]string{"-c", `ulimit -v 4194304 2>/dev/null; exec "$0" "$@"`, b.path, "-test.failfast", "-test.timeout=0"}, b.args...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = b.dir
	cmd.Env = append(append(os.Environ(), "TMPDIR="+temp), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	return ctx.Err() != nil, out.Bytes(), err
}
