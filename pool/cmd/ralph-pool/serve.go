package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/serve"
	"github.com/ralph-loop/ralph/pool/store/nats"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type serveCommand struct {
	Listen string `placeholder:"HOST:PORT" default:"127.0.0.1:4222" help:"Where to listen; 0.0.0.0:4222 lets other hosts in. Default: ${default}."`
	Dir    string `placeholder:"DIR" type:"path" help:"The folder of all that the pool stores. Default: pool in ralph's home."`
	URL    string `name:"url" placeholder:"nats://…" help:"Run no server, and use this one or this cluster: nats://TOKEN@HOST:PORT, or USER:PASSWORD; - reads it from standard input."`
	Lines  bool   `help:"Print the join lines, also if this is not the first start; of a server that runs in the folder, print them and end."`
	JSON   bool   `help:"Print the join lines as JSON."`
}

// Help says what it is for.
func (serveCommand) Help() string {
	return `It runs the pool's server, a NATS server with JetStream, until it is interrupted, and at the first start prints the line that 'ralph pool join -' reads on each host, also on this one. Who has the line may run loops on all hosts of the pool. A token and a certificate are made at the first start and kept.

With --url the pool is on NATS servers that run already: it makes a bucket there, with three replicas where there are three servers, prints the line, and ends.

Examples:
  ralph pool serve --listen 0.0.0.0:4222
  ralph pool serve --url -`
}

// served is what --json prints.
type served struct {
	Listen      string `json:"listen,omitempty"`
	Dir         string `json:"dir,omitempty"`
	Replicas    int    `json:"replicas"`
	Join        string `json:"join"`
	Reader      string `json:"reader,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Run serves until it is interrupted.
func (c *serveCommand) Run(ctx context.Context) error {
	if c.URL != "" {
		return c.adopt(ctx)
	}
	if c.Dir == "" {
		home, err := registry.Home(os.Getenv)
		if err != nil {
			return err
		}
		c.Dir = filepath.Join(home, "pool")
	}
	s, err := serve.Start(ctx, serve.Options{Listen: c.Listen, Dir: c.Dir, Print: func(line string) { say("%s", line) }})
	if c.Lines && errors.Is(err, serve.ErrRuns) {
		host, reader, listen, err := serve.Running(c.Dir)
		if err != nil {
			return err
		}
		return c.print(served{listen, c.Dir, 1, "", "", host.Fingerprint}, host, &reader)
	}
	if err != nil {
		return err
	}
	say("the pool is served at %s, from %s", s.Listen, c.Dir)
	if host, port, err := net.SplitHostPort(s.Listen); err == nil && net.ParseIP(host).IsLoopback() {
		say("only this machine reaches it; --listen 0.0.0.0:%s lets other hosts in", port)
	}
	if s.New || c.Lines || c.JSON {
		err = c.print(served{s.Listen, c.Dir, 1, "", "", s.Host.Fingerprint}, s.Host, &s.Reader)
	} else {
		say("hosts that have joined reach it; 'ralph pool serve --lines' prints the lines for others")
	}
	if err == nil {
		err = s.Wait(ctx)
	}
	err = errors.Join(err, s.Stop())
	if err == nil {
		say("the server has stopped; all that it acknowledged is stored")
	}
	return err
}

// adopt prepares servers that exist.
func (c *serveCommand) adopt(ctx context.Context) error {
	line, err := secretLine(c.URL, "the address of the servers")
	if err != nil {
		return err
	}
	address, err := url.Parse(line)
	if err != nil || address.Host == "" || address.Scheme != "nats" && address.Scheme != "tls" {
		return errors.New("--url is not of the form nats://TOKEN@HOST:PORT")
	}
	pool := connect.Pool{URL: (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String()}
	if address.User != nil {
		pool.Token = address.User.Username()
		if password, both := address.User.Password(); both {
			pool.Token += ":" + password
		}
	}
	replicas, err := nats.Adopt(ctx, address, nats.Options{Token: pool.Token})
	if err != nil {
		return err
	}
	if replicas == 1 {
		say("the bucket has one copy: if that server does not sync each write (jetstream { sync: always }), a power cut loses what was acknowledged")
	}
	return c.print(served{Replicas: replicas}, pool, nil)
}

// print prints the line of hosts on stdout, and that of readers where it is not part of it.
func (c *serveCommand) print(s served, host connect.Pool, reader *connect.Pool) (err error) {
	if s.Join, err = host.Line(); err != nil {
		return err
	}
	if reader != nil {
		if s.Reader, err = reader.Line(); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(s)
	}
	if reader != nil {
		say("who may look and not steer gives this line to 'ralph pool join -': %s", s.Reader)
	}
	say("'ralph pool join -' on each host reads this line, which is a secret:")
	_, err = fmt.Println(s.Join)
	return err
}

// say prints what is no result.
func say(format string, v ...any) {
	fmt.Fprintf(os.Stderr, "ralph pool: %s\n", indented(fmt.Sprintf(format, v...)))
}

// indented makes a text safe to print that may be of another host: without sequences for a
// terminal, and with no line that could be taken for one of this program's.
func indented(text string) string {
	return strings.ReplaceAll(string(render.CleanText(text)), "\n", "\n  ")
}
