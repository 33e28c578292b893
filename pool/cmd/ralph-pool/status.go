package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/nats"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type statusCommand struct {
	JSON bool `help:"Print JSON."`
}

// Help says what it is for.
func (statusCommand) Help() string {
	return `It shows where the pool is stored, how its server does, which hosts it has and when they were last heard of, and how many specifications wait. It writes nothing.

Examples:
  ralph pool status
  ralph pool status --json`
}

// A state is what --json prints. What a store does not say is absent.
type state struct {
	URL      string  `json:"url"`
	Host     string  `json:"host"`
	Reader   bool    `json:"reader"`
	Server   *server `json:"server,omitempty"`
	Waiting  int     `json:"waiting"`
	Hosts    []host  `json:"hosts"`
	Fleets   []whole `json:"fleets,omitempty"`
	answered time.Time
}

type server struct {
	Version      string  `json:"version"`
	Replicas     int     `json:"replicas"`
	Bytes        uint64  `json:"bytes"`
	Keys         uint64  `json:"keys"`
	Milliseconds float64 `json:"milliseconds"` // until it answered
}

// A whole is a fleet.
type whole struct {
	Name  string        `json:"name"`
	State string        `json:"state"`
	Parts []fleet.State `json:"parts"`
}

// A host has no beat if its key holds something else.
type host struct {
	Name  string     `json:"name"`
	Beat  *time.Time `json:"beat,omitempty"`
	Loops *int       `json:"loops,omitempty"`
	Alive *int       `json:"alive,omitempty"`
	// Draining says that it claims no loops, because a person said so.
	Draining bool `json:"draining,omitempty"`
}

// Run prints it.
func (c *statusCommand) Run(ctx context.Context) error {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return err
	}
	pool, err := connect.Load(home)
	if err != nil {
		return err
	}
	st := state{URL: pool.URL, Host: pool.Host, Reader: pool.Reader, Hosts: []host{}}
	pool.Reader = true // nothing is written, also not by the probe
	s, err := connect.Open(ctx, pool)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := st.read(ctx, s); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(st)
	}
	return st.print()
}

func (st *state) read(ctx context.Context, s store.Store) error {
	if n, ok := s.(*nats.Store); ok {
		u, err := n.Usage(ctx)
		if err != nil {
			return err
		}
		st.Server = &server{u.Server, u.Replicas, u.Bytes, u.Keys, float64(u.Answered.Microseconds()) / 1000}
	}
	var names, beats []string
	for key, err := range s.List(ctx, keys.Hosts, "") {
		if err != nil {
			return err
		}
		if name, found := strings.CutSuffix(strings.TrimPrefix(key, keys.Hosts), "/beat"); found {
			names, beats = append(names, name), append(beats, key)
		}
	}
	entries, err := store.GetAll(ctx, s, beats)
	draining, err2 := worker.Draining(ctx, s, names)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	for i, name := range names {
		h := readHost(name, entries[i].Value)
		h.Draining = slices.Contains(draining, name)
		st.Hosts = append(st.Hosts, h)
	}
	if st.Waiting, err = queue.CountWaiting(ctx, s); err != nil {
		return err
	}
	if err := st.readFleets(ctx, s); err != nil {
		return err
	}
	st.answered = time.Now()
	return nil
}

// readFleets reads the fleets, each part from its log.
func (st *state) readFleets(ctx context.Context, s store.Store) error {
	fleets, err := fleet.List(ctx, s)
	if err != nil {
		return err
	}
	for _, f := range fleets {
		one := whole{Name: f.Name, State: fleet.ErrDamaged.Error(), Parts: []fleet.State{}}
		for _, part := range f.Parts {
			state, err := fleet.Observe(ctx, s, part.ID, part.Loop)
			if err != nil {
				return err
			}
			one.Parts = append(one.Parts, state)
		}
		if f.Version > 0 {
			one.Parts = f.Judge(one.Parts)
			one.State = f.Summary(one.Parts)
		}
		st.Fleets = append(st.Fleets, one)
	}
	return nil
}

func readHost(name string, beat []byte) host {
	h := host{Name: name}
	var b live.Beat
	if json.Unmarshal(beat, &b) == nil && !b.At.IsZero() {
		h.Beat, h.Loops, h.Alive = &b.At, &b.Loops, &b.Alive
	}
	return h
}

func (st *state) print() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	role := "host"
	if st.Reader {
		role = "reader"
	}
	fmt.Fprintf(w, "pool\t%s\nthis host\t%s, a %s\n", st.URL, st.Host, role)
	if s := st.Server; s != nil {
		fmt.Fprintf(w, "server\tNATS %s, answers in %.1f ms\n", render.Clean(s.Version), s.Milliseconds)
		fmt.Fprintf(w, "stored\t%.1f MB in %d keys, replicas: %d\n", float64(s.Bytes)/1e6, s.Keys, s.Replicas)
	}
	fmt.Fprintf(w, "waiting\t%d in the queue\n", st.Waiting)
	if len(st.Hosts) == 0 {
		fmt.Fprint(w, "\nno host has been heard of: 'ralph pool mirror' lets a host be heard\n")
	} else {
		fmt.Fprint(w, "\nHOST\tLAST BEAT\tLOOPS\tRUNNING\n")
	}
	for _, h := range st.Hosts {
		if h.Beat == nil {
			fmt.Fprintf(w, "%s\tnot understood\t-\t-\n", render.Clean(h.Name))
			continue
		}
		drains := ""
		if h.Draining {
			drains = "\tdrains"
		}
		fmt.Fprintf(w, "%s\t%s ago\t%d\t%d%s\n", render.Clean(h.Name), max(0, st.answered.Sub(*h.Beat)).Round(time.Second), *h.Loops, *h.Alive, drains)
	}
	if len(st.Fleets) > 0 {
		fmt.Fprint(w, "\nFLEET\tSTATE\n")
	}
	for _, f := range st.Fleets {
		fmt.Fprintf(w, "%s\t%s\n", render.Clean(f.Name), f.State)
		for _, part := range f.Parts {
			fmt.Fprintf(w, "  %s\t%s\n", render.Clean(part.Name), part.Phase)
			if part.Phase == fleet.Failed || part.Phase == fleet.Stopped {
				fmt.Fprintf(w, "\t  %s\n", render.Clean(part.Why))
			}
		}
	}
	return w.Flush()
}
