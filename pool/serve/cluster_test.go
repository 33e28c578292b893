package serve_test

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/nats"
	"github.com/ralph-loop/ralph/pool/store/storetest"
)

// startCluster starts servers of somebody else.
func startCluster(t testing.TB, n int) *url.URL {
	routes := make([]*url.URL, n)
	for i := range routes {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		routes[i] = &url.URL{Scheme: "nats", Host: listener.Addr().String()}
		if n > 1 {
			listener.Close()
		}
	}
	servers := make([]*server.Server, n)
	for i := range servers {
		o := &server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, NoSystemAccount: n == 1,
			JetStream: true, StoreDir: t.TempDir(), Authorization: "somebody",
		}
		if n > 1 {
			port, err := strconv.Atoi(routes[i].Port())
			if err != nil {
				t.Fatal(err)
			}
			o.Routes, o.Cluster = routes, server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}
		}
		var err error
		if servers[i], err = server.NewServer(o); err != nil {
			t.Fatal(err)
		}
		go servers[i].Start()
		t.Cleanup(func() {
			servers[i].Shutdown()
			servers[i].WaitForShutdown()
		})
	}
	for _, s := range servers {
		if !s.ReadyForConnections(time.Minute) {
			t.Fatal("a server has not become ready")
		}
	}
	return &url.URL{Scheme: "nats", Host: servers[0].Addr().String()}
}

func TestClusterKeepsThreeReplicas(t *testing.T) {
	for servers, want := range map[int]int{1: 1, 3: 3} {
		address := startCluster(t, servers)
		o := nats.Options{Token: "somebody"}
		for range 2 { // makes it, and finds it
			var got int
			err := fmt.Errorf("not tried")
			for err != nil { // a cluster elects its leader after it took connections
				if got, err = nats.Adopt(t.Context(), address, o); t.Context().Err() != nil {
					t.Fatal(err)
				}
			}
			if got != want {
				t.Fatalf("%d servers: %d replicas", servers, got)
			}
		}
		s, err := nats.Open(t.Context(), address, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := store.Probe(t.Context(), s); err != nil {
			t.Error(err)
		}
		if u, err := s.Usage(t.Context()); err != nil || u.Replicas != want || u.Keys != 1 || u.Bytes == 0 {
			t.Errorf("Usage: %+v, %v", u, err)
		}
		if servers == 3 {
			storetest.Run(t, storetest.Engine{Open: func(testing.TB) store.Store {
				s, err := nats.Open(t.Context(), address, o)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}})
		}
	}
}
