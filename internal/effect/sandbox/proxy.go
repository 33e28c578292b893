package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Proxy lets the agent reach the listed hosts and no others. It speaks HTTP, with CONNECT for
// everything else, on a socket that only this user can open.
type Proxy struct {
	Socket string

	hosts  []string
	folder string
	server *http.Server
	served sync.WaitGroup
	plain  *http.Transport

	mu      sync.Mutex
	count   int
	refused []string
}

const (
	dialTime   = 20 * time.Second
	headerTime = 30 * time.Second
	// maxRefused is how many hosts that were refused are kept by name.
	maxRefused = 20
)

// StartProxy starts a proxy for these hosts, such as example.com, *.example.com (each name below
// it) or 192.0.2.7:8443. Without a port, 443 and 80 are meant. An address of this machine or its
// own network is only reached if it is listed itself, as an address: a name may lead anywhere.
func StartProxy(hosts []string) (*Proxy, error) {
	folder, err := os.MkdirTemp("", "ralph-proxy-") // short: the path of a socket has at most 104 bytes
	if err != nil {
		return nil, fmt.Errorf("start the proxy of the sandbox: %w", err)
	}
	p := &Proxy{Socket: filepath.Join(folder, "s"), hosts: hosts, folder: folder}
	listener, err := net.Listen("unix", p.Socket)
	if err != nil {
		return nil, fmt.Errorf("start the proxy of the sandbox: %w", errors.Join(err, os.RemoveAll(folder)))
	}
	p.plain = &http.Transport{DialContext: p.dial, DisableCompression: true, ForceAttemptHTTP2: false}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: headerTime}
	p.served.Go(func() { _ = p.server.Serve(listener) }) // ends with an error, when Close closes it
	return p, nil
}

// Close ends the proxy. Connections that were taken over end with the agent.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.served.Wait()
	p.plain.CloseIdleConnections()
	return errors.Join(err, os.RemoveAll(p.folder))
}

// Refused returns how many connections were refused, and the hosts of the first ones.
func (p *Proxy) Refused() (int, []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, slices.Clone(p.refused)
}

func (p *Proxy) refuse(w http.ResponseWriter, host string, err error) {
	p.mu.Lock()
	if p.count++; len(p.refused) < maxRefused && !slices.Contains(p.refused, host) {
		p.refused = append(p.refused, host)
	}
	p.mu.Unlock()
	http.Error(w, "ralph's sandbox: "+err.Error(), http.StatusForbidden)
}

// errNotListed says that a host is not among those of sandbox.hosts.
var errNotListed = errors.New("is not in sandbox.hosts")

// ServeHTTP answers one request to the proxy.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	if !r.URL.IsAbs() || r.URL.Scheme != "http" {
		http.Error(w, "ralph's sandbox: this is a proxy", http.StatusBadRequest)
		return
	}
	host := withPort(r.URL.Host, "80")
	if !p.listed(host) {
		p.refuse(w, host, fmt.Errorf("%s %w", host, errNotListed))
		return
	}
	out := r.Clone(r.Context())
	out.RequestURI = ""
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		out.Header.Del(name)
	}
	answer, err := p.plain.RoundTrip(out)
	if err != nil {
		p.fail(w, host, err)
		return
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	stream(w, answer.Body)
}

// stream copies a body as it comes.
func stream(w http.ResponseWriter, body io.Reader) {
	flush := http.NewResponseController(w)
	piece := make([]byte, 32<<10)
	for {
		n, err := body.Read(piece)
		if _, failed := w.Write(piece[:n]); failed != nil || err != nil {
			return // the agent sees a body that ends early
		}
		_ = flush.Flush() // an error of the connection ends the next write
	}
}

func (p *Proxy) fail(w http.ResponseWriter, host string, err error) {
	if errors.Is(err, errPrivate) {
		p.refuse(w, host, err)
		return
	}
	http.Error(w, "ralph's sandbox: "+err.Error(), http.StatusBadGateway)
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	host := withPort(r.Host, "443")
	if !p.listed(host) {
		p.refuse(w, host, fmt.Errorf("%s %w", host, errNotListed))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), dialTime)
	defer cancel()
	there, err := p.dial(ctx, "tcp", host)
	if err != nil {
		p.fail(w, host, err)
		return
	}
	defer there.Close()
	here, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	join(here, rest, there)
}

// join copies between two connections until both directions have ended. said is what comes of the
// first.
func join(a net.Conn, said io.Reader, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { pipe(b, said) })
	both.Go(func() { pipe(a, b) })
	both.Wait()
}

// pipe copies one direction, and ends it at the other side.
func pipe(to io.Writer, from io.Reader) {
	_, _ = io.Copy(to, from) // the end of either side ends the copy
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	} else if c, ok := to.(io.Closer); ok {
		_ = c.Close()
	}
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// listed reports whether a host with its port is allowed.
func (p *Proxy) listed(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(p.hosts, func(pattern string) bool { return fits(pattern, host, port) })
}

// fits reports whether a host with a port is what an entry of sandbox.hosts means.
func fits(pattern, host, port string) bool {
	name, wanted, err := net.SplitHostPort(pattern)
	if err != nil {
		name, wanted = strings.Trim(pattern, "[]"), ""
	}
	if wanted == "" && port != "443" && port != "80" || wanted != "" && wanted != port {
		return false
	}
	name = strings.ToLower(name)
	if below, ok := strings.CutPrefix(name, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == name
}

// errPrivate says that a name leads to this machine or its network.
var errPrivate = errors.New("leads to an address of this machine or its own network, which sandbox.hosts has to name as an address")

// dial connects to a listed host.
func (p *Proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if net.ParseIP(host) != nil { // it is listed as such
		return d.DialContext(ctx, network, address)
	}
	found, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, ip := range found {
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return nil, fmt.Errorf("%s %w", host, errPrivate)
		}
	}
	var failed error
	for _, ip := range found { // the addresses that were checked
		c, err := d.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
		if err == nil {
			return c, nil
		}
		failed = err
	}
	return nil, failed
}
