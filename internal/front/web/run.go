package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Flags are what a person says on the command line.
type Flags struct {
	Port     int
	Listen   string // an IP address; empty for the loopback interface
	Public   string
	Open     bool
	ReadOnly bool
	NewLinks bool
	Reviews  Reviews // nil if an agent starts the server
	Sources  []string
}

const maxPort = 1<<16 - 1

// Run serves until ctrl-c, after it has printed the links.
func Run(e *cli.Env, f Flags) error {
	public, err := ParsePublic(f.Public)
	if err != nil {
		return cli.Refuse("write it as in --public-url https://mill.example.org", "--public-url: %w", err)
	}
	if _, err := netip.ParseAddr(f.Listen); f.Listen != "" && f.Listen != "localhost" && err != nil {
		return cli.Refuse("an address such as 192.168.1.20, or 0.0.0.0 for all of this machine", "--listen: %q is not an IP address", f.Listen)
	}
	if f.Port < 0 || f.Port > maxPort {
		return cli.Refuse(fmt.Sprintf("a number up to %d", maxPort), "--port: %d is not a port", f.Port)
	}
	tokens, err := LoadTokens(e.Home, f.NewLinks)
	if open, ok := errors.AsType[*OpenFileError](err); ok {
		return cli.Refuse("'ralph web --new-links' makes new links in a file that only you can read", "%w", open)
	}
	if err != nil {
		return err
	}
	on, usual, err := Listen(f.Listen, f.Port)
	if errors.Is(err, syscall.EADDRINUSE) {
		return cli.Refuse("choose another one with --port, or leave --port out", "port %d is taken", f.Port)
	}
	if err != nil {
		return err
	}
	silent := *e
	o := Options{Env: &silent, Tokens: tokens, ReadOnly: f.ReadOnly, Public: public, Reviews: f.Reviews, Sources: f.Sources}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !usual {
		cli.Tell(e.Stderr, "port %d is taken, so the links have another one; --port chooses it", UsualPort)
	}
	if !IsLoopback(f.Listen) {
		cli.Tell(e.Stderr, "warning: %s can be reached from other machines, and what is sent is not encrypted: who reads a link on its way can do what you can; use ssh or a proxy with TLS, and --public-url", on.Addr())
	}
	if err := announce(e, o, on.Addr()); err != nil {
		_ = on.Close()
		return err
	}
	if f.Open {
		if err := openBrowser(e, o.Link(on.Addr(), !f.ReadOnly)); err != nil {
			cli.Tell(e.Stderr, "no browser can be opened: %v; open the link yourself", err)
		}
	}
	return New(o).Serve(ctx, on)
}

// announce prints the links.
func announce(e *cli.Env, o Options, at net.Addr) error {
	if !o.ReadOnly {
		if _, err := fmt.Fprintf(e.Stdout, "%s\n", o.Link(at, true)); err != nil {
			return err
		}
		cli.Tell(e.Stderr, "this link lets its owner steer, stop and continue your loops; ctrl-c ends the server, and no loop")
	}
	if o.ReadOnly {
		_, err := fmt.Fprintf(e.Stdout, "%s\n", o.Link(at, false))
		cli.Tell(e.Stderr, "this link can only read; ctrl-c ends the server, and no loop")
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "%s  (read only)\n", o.Link(at, false))
	return err
}

// openFile is a page in ralph's home that leads to the link.
const openFile = "web-open.html"

// openBrowser shows a link in the person's browser, which outlives this process. All users of the
// machine can see the arguments of a program, so the browser opens a file that only this user can
// read, and that leads to the link.
func openBrowser(e *cli.Env, link string) error {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, "enter.html", link); err != nil {
		return err
	}
	path := filepath.Join(e.Home, openFile)
	if err := safefile.WriteFile(path, page.Bytes(), 0o600); err != nil {
		return err
	}
	argv := opener((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = e.Environ
	process.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it may live as long as the browser
	return nil
}

func opener(link string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", link}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", link}
	}
	return []string{"xdg-open", link}
}
