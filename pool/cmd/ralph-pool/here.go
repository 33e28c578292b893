package main

import (
	"context"
	"os"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/registry"
)

// A place is this host, connected to its pool.
type place struct {
	home  string
	host  string
	store store.Store
}

// here connects this host to its pool. The caller closes it.
func here(ctx context.Context) (*place, error) {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return nil, err
	}
	pool, err := connect.Load(home)
	if err != nil {
		return nil, err
	}
	s, err := connect.Open(ctx, pool)
	if err != nil {
		return nil, err
	}
	return &place{home: home, host: pool.Host, store: s}, nil
}

// find returns the loop that a name or an ID means, and all rows.
func (p *place) find(ctx context.Context, name string) (row listing.Row, rows []listing.Row, err error) {
	if rows, err = listing.Read(ctx, p.store); err == nil {
		row, err = listing.Find(rows, name)
	}
	return row, rows, err
}

// Close ends the connection. Nothing that was acknowledged depends on it.
func (p *place) Close() { _ = p.store.Close() }
