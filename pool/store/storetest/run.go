package storetest

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
)

var (
	seeds = flag.Uint64("store.seeds", 0, "how many seeds a store is tried with, after the fixed ones")
	first = flag.Uint64("store.seed", 1000, "the first of them")
)

// fixedSeeds are tried always.
const fixedSeeds = 3

// limit ends a promise that waits for something that never comes.
const limit = 3 * time.Minute

// clients is how many clients a test uses at most.
const clients = 8

// An Engine is a store under test. All clients share its keys with the clients before.
type Engine struct {
	// Open returns a client with a connection of its own, which the suite closes.
	Open func(testing.TB) store.Store
	// Keys is how many keys a long list has: more than fit into one answer. 0 means 60.
	Keys int
	// Kill ends the server as kill -9 does, and starts it with what it has stored. It is nil
	// where there is no server.
	Kill func(testing.TB)
	// Address is that of a server on TCP, and OpenAt opens a client that connects to another
	// address, from where all is passed on to it until the connection is cut. Both may be absent.
	Address string
	OpenAt  func(ctx context.Context, address string) (store.Store, error)
}

// Run tries each promise.
func Run(t *testing.T, e Engine) {
	s := newSuite(t, e)
	for _, p := range promises(e) {
		t.Run(p.name, func(t *testing.T) {
			if err := s.try(p); err != nil {
				t.Error(err)
			}
		})
	}
}

// A promise is one thing that an engine has to keep. check gets keys of its own.
type promise struct {
	name  string
	check func(ctx context.Context, s *suite) error
}

func promises(e Engine) []promise {
	all := append(sequential(), concurrent()...)
	for i := range fixedSeeds + *seeds {
		seed := i
		if i >= fixedSeeds {
			seed = *first + i - fixedSeeds
		}
		add := func(name string, with disturbance) {
			all = append(all, promise{fmt.Sprintf("%s/%d", name, seed), func(ctx context.Context, s *suite) error {
				return linearizable(ctx, s, seed, with)
			}})
		}
		add("Linearizable", disturbance{})
		add("LinearizableWithLostAnswers", disturbance{faults: true})
		if e.OpenAt != nil {
			add("LinearizableWithCutConnections", disturbance{cuts: true})
		}
		if e.Kill != nil {
			add("LinearizableWithKills", disturbance{kills: true})
			add("LinearizableWithAll", disturbance{faults: true, cuts: e.OpenAt != nil, kills: true})
		}
	}
	return all
}

// A suite has the clients of one run.
type suite struct {
	t      testing.TB
	engine Engine
	limit  time.Duration
	prefix string // of the keys of the promise that is tried

	mu      sync.Mutex
	clients map[int]store.Store
}

func newSuite(t testing.TB, e Engine) *suite {
	if e.Keys == 0 {
		e.Keys = 60
	}
	s := &suite{t: t, engine: e, limit: limit, clients: map[int]store.Store{}}
	t.Cleanup(func() {
		for _, c := range s.clients {
			c.Close()
		}
	})
	return s
}

func (s *suite) try(p promise) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), s.limit)
	defer cancel()
	s.prefix = "storetest/" + rand.Text() + "/"
	return p.check(ctx, s)
}

// client returns client i.
func (s *suite) client(i int) store.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[i] == nil {
		s.clients[i] = s.engine.Open(s.t)
	}
	return s.clients[i]
}

// each calls f for n clients at once, and returns the first error.
func (s *suite) each(n int, f func(i int, c store.Store) error) error {
	errs := make(chan error, n)
	for i := range n {
		c := s.client(i)
		go func() { errs <- f(i, c) }()
	}
	var failed error
	for range n {
		if err := <-errs; err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}
