package storetest

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// A Proxy passes connections on to a server and cuts most of them: within a request, within an
// answer, or between the two.
type Proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	rand  *rand.Rand
	conns map[net.Conn]bool
	ended bool
}

// NewProxy listens on loopback. Where it cuts is drawn from a seed.
func NewProxy(t testing.TB, target string, seed uint64) *Proxy {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target, rand: rand.New(rand.NewPCG(seed, 1)), conns: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(p.Close)
	return p
}

// Address is where clients connect to.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close ends all connections.
func (p *Proxy) Close() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil { // the server has been killed
			client.Close()
			continue
		}
		p.mu.Lock()
		toServer, toClient := int64(p.rand.IntN(30_000)), int64(p.rand.IntN(30_000))
		for _, c := range []net.Conn{client, server} {
			if p.conns[c] = true; p.ended {
				c.Close()
			}
		}
		p.mu.Unlock()
		go p.copy(server, client, toServer)
		go p.copy(client, server, toClient)
	}
}

// copy passes on so many bytes and then cuts both directions.
func (p *Proxy) copy(to, from net.Conn, bytes int64) {
	_, _ = io.CopyN(to, from, bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range []net.Conn{to, from} {
		c.Close()
		delete(p.conns, c)
	}
}
