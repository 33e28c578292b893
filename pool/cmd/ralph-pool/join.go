package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/registry"
)

type joinCommand struct {
	Line    string `arg:"" placeholder:"LINE" help:"- reads what 'ralph pool serve' printed, ralph+nats://…, from standard input. Without a token in it, it may be given here: ralph+s3://BUCKET/PREFIX?endpoint=…, ralph+dir:///FOLDER."`
	Host    string `placeholder:"NAME" help:"The name of this host in the pool. Default: that of the machine."`
	Replace bool   `help:"Leave the pool that this host is in."`
	JSON    bool   `help:"Print what was done as JSON."`
}

// Help says what it is for.
func (joinCommand) Help() string {
	return `It connects to the pool's store, tries whether the store keeps the conditions on which a pool depends, and writes pool.json in ralph's home, which only you can read. Each host of a pool has a name of its own. A line with a token is read from standard input: all users of the machine see the arguments of a command, and a shell keeps them.

Examples:
  ralph pool join -
  ralph pool join 'ralph+s3://bucket/team?endpoint=s3.example.org' --host mill`
}

// joinTimeout bounds how long the store is waited for.
const joinTimeout = time.Minute

// Run joins.
func (c *joinCommand) Run(ctx context.Context) error {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return err
	}
	if c.Line, err = secretLine(c.Line, "the join line"); err != nil {
		return err
	}
	pool, err := connect.ParseLine(c.Line)
	if err != nil {
		return err
	}
	before, known, err := c.before(home)
	if err != nil {
		return err
	}
	if pool.Host, err = c.name(before, known); err != nil {
		return err
	}
	if known && pool != before && !c.Replace {
		return fmt.Errorf("this host is %s in the pool %s already: --replace changes that; mirrors and workers that run go on in the old one until they are "+
			"started again", before.Host, before.URL)
	}
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	s, err := connect.Open(ctx, pool)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	already := known && pool == before
	if !already {
		if err := connect.Save(home, pool); err != nil {
			return err
		}
	}
	return c.print(pool, home, already)
}

// maxLine bounds a line with a secret, in bytes.
const maxLine = 4 << 10

// secretLine returns a line of the command line, or one of standard input if that is "-".
func secretLine(given, what string) (string, error) {
	if given != "-" {
		if strings.Contains(given, "token=") {
			say("other users of this machine could read the token among the arguments: 'ralph pool join -' reads the line from standard input")
		}
		return given, nil
	}
	if isTerminal(os.Stdin) {
		say("enter %s:", what)
	}
	line, err := bufio.NewReaderSize(io.LimitReader(os.Stdin, maxLine), maxLine).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("read %s from standard input: it has none: %w", what, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return line, nil
}

// before returns the pool that this host is in.
func (c *joinCommand) before(home string) (pool connect.Pool, known bool, err error) {
	if _, err := os.Stat(connect.Path(home)); errors.Is(err, fs.ErrNotExist) {
		return pool, false, nil
	}
	if pool, err = connect.Load(home); err != nil && !c.Replace {
		return pool, false, fmt.Errorf("%w; --replace writes it again", err)
	}
	return pool, err == nil, nil
}

// name is the one of the command line, else the one that the host has, else that of the machine.
func (c *joinCommand) name(before connect.Pool, known bool) (string, error) {
	if c.Host != "" {
		return c.Host, connect.CheckHost(c.Host)
	}
	if known {
		return before.Host, nil
	}
	machine, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("look up the name of this machine: %w; --host gives one", err)
	}
	return connect.HostName(machine)
}

func (c *joinCommand) print(pool connect.Pool, home string, already bool) error {
	next := "ralph pool mirror"
	if pool.Reader {
		next = "ralph pool list"
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{
			"url": pool.URL, "host": pool.Host, "reader": pool.Reader, "file": connect.Path(home), "already": already, "next": next,
		})
	}
	joined := "has joined"
	if already {
		joined = "is already in"
	}
	role := ""
	if pool.Reader {
		role = ", as a reader"
	}
	_, err := fmt.Printf("%s %s the pool %s%s\nnext: %s\n", pool.Host, joined, pool.URL, role, next)
	return err
}
