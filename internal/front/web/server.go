package web

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/projector"
)

// Limits of a server.
const (
	maxBody    = 1 << 20 // bytes of a request
	maxHeader  = 64 << 10
	maxStreams = 128 // that are open at a time; each costs a goroutine and a watch
)

// Times of a server.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	writeTime  = time.Minute      // of an answer, and of one frame of a stream
	idleTime   = 2 * time.Minute  // of a connection without a request
	endTime    = 2 * time.Second  // for requests that are open when the server ends
	aliveTime  = 15 * time.Second // between two signs of life of a silent stream
)

// Options configure a server.
type Options struct {
	Env    *cli.Env
	Tokens Tokens
	// ReadOnly lets no visitor send commands: the full token is not valid.
	ReadOnly bool
	// Public is the address that browsers use if a port is forwarded to this server, a scheme and a
	// host; nil if there is none.
	Public *url.URL
	// Reviews are those of a person; nil if an agent started the server.
	Reviews Reviews
	// Sources are those of loops of other machines that are shown as well.
	Sources []string
}

// Server serves the loops of this machine. Its handler may be used by any number of goroutines.
type Server struct {
	env      *cli.Env // its Stderr is not written to
	visitors []visitor
	public   *url.URL
	handler  http.Handler
	loops    survey
	distant  *remote.Watch // the loops of other machines; nil without any source
	reviews  Reviews
	// reviewing is held while work trees are compared or changed.
	reviewing sync.Mutex
	streams   atomic.Int32
	ends      chan struct{} // closed when the server ends
	once      sync.Once
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{env: o.Env, public: o.Public, reviews: o.Reviews, ends: make(chan struct{})}
	if !o.ReadOnly {
		s.visitors = append(s.visitors, newVisitor(o.Tokens.Full, true))
	}
	s.visitors = append(s.visitors, newVisitor(o.Tokens.ReadOnly, false))
	s.loops = survey{env: o.Env, loader: listing.NewLoader(o.Env)}
	s.distant = remote.NewWatch(o.Env, o.Sources)
	s.loops.loader.Distant = func() []*projector.View {
		loops, _ := s.distant.Loops()
		return loops
	}
	s.handler = s.protect(s.authenticate(s.guardWrites(s.routes())))
	return s
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.showList)
	m.HandleFunc("GET /loops/{id}", s.showLoop)
	m.HandleFunc("GET /loops/{id}/report", s.showReport)
	m.HandleFunc("GET /loops/{id}/changes", s.showChanges)
	m.HandleFunc("GET /loops/{id}/review", s.showReview)
	m.Handle("GET /static/", static())
	m.HandleFunc("GET /api/loops", s.getLoops)
	m.HandleFunc("GET /api/loops/{id}", s.getLoop)
	m.HandleFunc("GET /api/loops/{id}/events", s.getEvents)
	m.HandleFunc("GET /api/loops/{id}/entries", s.getEntries)
	m.HandleFunc("GET /api/loops/{id}/live", s.getLive)
	m.HandleFunc("POST /api/loops/{id}/commands", s.postCommand)
	m.HandleFunc("POST /api/loops/{id}/resume", s.postResume)
	m.HandleFunc("GET /api/loops/{id}/review", s.getReview)
	m.HandleFunc("POST /api/loops/{id}/review", s.postReview)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is nothing at "+clip(r.URL.Path), "the API is described in docs/reference/web-api.md")
	})
	return m
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers requests until ctx ends, then ends all streams and waits for open requests, for two
// seconds at most. It closes the listener.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	server := &http.Server{
		Handler: s, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		// What a client does wrong is its own concern.
		ErrorLog: log.New(discard{}, "", 0),
	}
	defer s.distant.Close()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(on) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve at %s: %w", on.Addr(), err)
	case <-ctx.Done():
	}
	s.end()
	patience, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve at %s: %w", on.Addr(), err)
	}
	return nil
}

// end ends all streams.
func (s *Server) end() { s.once.Do(func() { close(s.ends) }) }

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Link returns the address that lets a browser in. write chooses the token that may send commands,
// and not only read.
func (o Options) Link(at net.Addr, write bool) string {
	to := url.URL{Scheme: "http", Host: hostOf(at), Path: "/"}
	if o.Public != nil {
		to.Scheme, to.Host = o.Public.Scheme, o.Public.Host
	}
	token := o.Tokens.ReadOnly
	if write {
		token = o.Tokens.Full
	}
	to.RawQuery = url.Values{"token": {token}}.Encode()
	return to.String()
}

// hostOf names an address as a browser reaches it.
func hostOf(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = reachable()
	}
	return net.JoinHostPort(host, port)
}

// reachable returns an address of this machine that others can reach; without one, the loopback
// interface's.
func reachable() string {
	all, err := net.InterfaceAddrs()
	if err == nil {
		for _, at := range all {
			if network, ok := at.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
				return network.IP.String()
			}
		}
	}
	return "127.0.0.1"
}
