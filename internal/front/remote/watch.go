package remote

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// A Watch has the loops of several hosts as they were last, for a screen that does not wait for
// any host.
type Watch struct {
	mu    sync.Mutex
	hosts []Loops
}

// watchEvery is how often a host is asked.
const watchEvery = 3 * time.Second

// NewWatch asks the hosts until ctx ends. ssh never asks the person.
func NewWatch(ctx context.Context, e *cli.Env, hosts []string) *Watch {
	w := &Watch{hosts: make([]Loops, len(hosts))}
	for i, host := range hosts {
		go w.ask(ctx, e, i, host)
	}
	return w
}

func (w *Watch) ask(ctx context.Context, e *cli.Env, i int, host string) {
	for ok := true; ok; ok = pause(ctx, watchEvery) {
		loops, err := listInTime(ctx, e, host)
		w.mu.Lock()
		if err != nil {
			loops = w.hosts[i].Loops // as they were last
		}
		w.hosts[i] = Loops{host, loops, err}
		w.mu.Unlock()
	}
}

// listInTime ends with an error where a host says nothing: else the board would show its loops for
// ever as they were.
func listInTime(ctx context.Context, e *cli.Env, host string) ([]*projector.View, error) {
	ctx, stop := context.WithTimeoutCause(ctx, doTime, fmt.Errorf("%s: ralph there has not answered for %s", host, doTime))
	defer stop()
	return list(ctx, e, host, false, true)
}

// Loops are those of all hosts, with errors where a host did not answer the last time. The views
// are not changed any more.
func (w *Watch) Loops() (loops []*projector.View, errs []error) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, host := range w.hosts {
		loops = append(loops, host.Loops...)
		if host.Err != nil {
			errs = append(errs, host.Err)
		}
	}
	return loops, errs
}

// entryPrefix begins the file of the entry of a loop of another host. No entry of the registry has
// such a file.
const entryPrefix = "ssh:"

// found is how screens pass on which loop is meant.
func found(v *projector.View) registry.Status {
	return registry.Status{
		Entry: registry.Entry{Name: v.Call, Dir: v.Dir, Project: v.Project, ID: v.ID, Agent: v.Agent, Host: v.Remote, Started: v.Started, Parent: v.Parent},
		File:  entryPrefix + v.Call, Head: v.Summary,
	}
}

// Of returns the host of a loop that a screen shows, and its name there; ok is false for a loop of
// this machine.
func Of(s registry.Status) (host, loop string, ok bool) {
	call, there := strings.CutPrefix(s.File, entryPrefix)
	host, loop, ok = Split(call)
	return host, loop, ok && there
}

// Do runs a command line there, without a terminal, and returns what ralph there prints.
func Do(e *cli.Env, host string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), doTime)
	defer stop()
	h, err := Connect(e, host)
	if err != nil {
		return "", err
	}
	text, err := h.output(ctx, true, args...)
	return string(text), h.explained(ctx, err)
}

// doTime is the longest that a screen waits for a command there.
const doTime = time.Minute
