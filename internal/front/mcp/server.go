package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/remote"
)

// Options say what is served.
type Options struct {
	Env *cli.Env
	// ReadOnly leaves out the tools that change anything.
	ReadOnly bool
	// Sources are those of loops of other machines that a client may ask for.
	Sources []string
}

// Server serves the loops of this machine to one client.
type Server struct {
	env      *cli.Env
	readOnly bool
	sdk      *sdk.Server
	watches  watches
	distant  *remote.Watch // the loops of other machines; nil without any source
	declined declined

	// work has an element for each call that is carried out now.
	work chan struct{}
}

const (
	// maxWork is how many calls read journals at a time.
	maxWork = 4
	// endTime is how long the calls that are carried out may take after the input has ended, and
	// how long the client may take to read their answers.
	endTime = 5 * time.Second
)

// instructions are what a model reads about the server.
const instructions = `ralph runs a coding agent again and again, each time with a fresh context, until a task is done or a limit is reached. ` +
	`Start a loop for work that takes longer than this conversation: it runs detached and continues when this session ends. ` +
	`Look at it with ralph_status and ralph_logs, send it a message with ralph_steer, and read what it came to with ralph_report.`

// New returns a server. Nothing is read before Serve.
func New(o Options) *Server {
	s := &Server{env: o.Env, readOnly: o.ReadOnly, distant: remote.NewWatch(o.Env, o.Sources), work: make(chan struct{}, maxWork)}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "ralph", Title: "ralph", Version: cli.BuildVersion()}, &sdk.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.DiscardHandler), Capabilities: capabilities(),
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe,
	})
	s.addTools()
	s.addResources()
	if err := s.addTasks(); err != nil {
		panic(err) // the methods have names of their own
	}
	s.sdk.AddReceivingMiddleware(s.asTasks, s.serveLists, s.withoutForms)
	return s
}

func capabilities() *sdk.ServerCapabilities {
	// The loops come and go: a client lists them when it wants to know.
	can := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}}
	can.AddExtension(tasksExtension, nil)
	return can
}

// Serve serves one client until the input ends or ctx does. Loops that it started continue.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.distant.Close()
	s.watches.begin(ctx)
	t := &lines{in: in, out: out, ended: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- s.sdk.Run(ctx, t) }()
	err := await(ctx, served, t.ended)
	cancel()
	s.finish()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || errors.Is(err, syscall.EPIPE) {
		return nil // the client is gone, or a person ended the server
	}
	if err != nil {
		return fmt.Errorf("serve the client: %w", err)
	}
	return nil
}

var errUnread = errors.New("the client does not read what it is answered")

// await returns how the session ended. It is errUnread if an answer that is not read holds it up
// after the input or ctx has ended: such a write cannot be interrupted.
func await(ctx context.Context, served <-chan error, inputEnded <-chan struct{}) error {
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	case <-inputEnded:
	}
	patience := time.NewTimer(endTime)
	defer patience.Stop()
	select {
	case err := <-served:
		return err
	case <-patience.C:
		return errUnread
	}
}

// finish waits for the calls that are carried out, so that a loop is started whole.
func (s *Server) finish() {
	patience := time.NewTimer(endTime)
	defer patience.Stop()
	for range maxWork {
		select {
		case s.work <- struct{}{}:
		case <-patience.C:
			return
		}
	}
}

// Run serves the client on stdin and stdout until it closes stdin.
func Run(e *cli.Env, o Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A client that is gone ends the server as the end of the input does, and not in the middle of
	// a start. The signal is received, not ignored: children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if e.StdinIsTerminal() {
		return cli.Refuse("let a client start it, such as 'claude mcp add ralph -- ralph mcp'", "ralph mcp speaks with a program on stdin, which is a terminal")
	}
	own := *e
	own.Stdin = nothing{} // what the verbs ask is no message of the client
	o.Env = &own
	return New(o).Serve(ctx, e.Stdin, e.Stdout)
}

// nothing is an input that has ended.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// slot waits until this call may be carried out, and returns what ends it.
func (s *Server) slot(ctx context.Context) (release func(), err error) {
	select {
	case s.work <- struct{}{}:
		return func() { <-s.work }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serveLists answers the lists that are not fixed.
func (s *Server) serveLists(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if list, ok := req.(*sdk.ListResourcesRequest); ok {
			release, err := s.slot(ctx)
			if err != nil {
				return nil, err
			}
			defer release()
			return s.listResources(list)
		}
		return next(ctx, method, req)
	}
}
