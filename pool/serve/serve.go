package serve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/store/nats"
)

// Options of a server.
type Options struct {
	Listen string // HOST:PORT; port 0 is any that is free
	Dir    string
	// Print gets what the server warns of, one line at a time.
	Print func(line string)
}

// A Server runs.
type Server struct {
	// Host and Reader are what others need to join.
	Host, Reader connect.Pool
	// Listen is where it listens.
	Listen string
	// New says that this start has made the pool.
	New bool

	dir    string
	log    *log
	nats   *server.Server
	locked *os.File
}

// longest is how long a start and a stop may take: a folder of many gigabytes is read from its end.
const longest = 5 * time.Minute

// Start starts a server, which is ready when it returns.
func Start(ctx context.Context, o Options) (*Server, error) {
	host, port, err := listenOn(o.Listen)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the server: %w", err)
	}
	s := &Server{dir: o.Dir, log: &log{print: o.Print, failed: make(chan error, 1)}}
	if s.locked, err = lock(o.Dir); err != nil {
		return nil, err
	}
	if err := s.start(ctx, host, port); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func listenOn(listen string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %s is not of the form HOST:PORT: %w", listen, err)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("--listen %s: %q is no port", listen, text)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

func (s *Server) start(ctx context.Context, host string, port int) error {
	secrets, err := readSecrets(s.dir)
	if err != nil {
		return err
	}
	certificate, fingerprint, err := secrets.tls()
	if err != nil {
		return err
	}
	space, err := limit(s.dir)
	if err != nil {
		return err
	}
	roles := roles{secrets.Token: hosts, secrets.Reader: readers}
	own := rand.Text() // for this process alone
	roles[own] = nil
	s.nats, err = server.NewServer(&server.Options{
		ServerName: "ralph-pool", Host: host, Port: port, NoSigs: true, NoSystemAccount: true,
		TLS: true, TLSConfig: certificate, TLSTimeout: 10, CustomClientAuthentication: roles,
		JetStream: true, StoreDir: s.dir, SyncAlways: true, JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: space,
	})
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	s.nats.SetLoggerV2(s.log, false, false, false)
	go s.nats.Start()
	if err := s.ready(ctx); err != nil {
		return err
	}
	s.Listen = s.nats.Addr().String()
	moved := s.Listen != secrets.Listen
	secrets.Listen = s.Listen
	if moved && secrets.Made { // else they are written with the bucket
		if err := secrets.write(s.dir); err != nil {
			return err
		}
	}
	s.Host, s.Reader = secrets.pools(fingerprint)
	return s.bucket(ctx, secrets, own)
}

// ErrRuns is the error of a start in a folder whose server runs.
var ErrRuns = errors.New("another server runs in the folder")

// Running returns what others need to join the server that runs in a folder, and where it listens.
func Running(dir string) (host, reader connect.Pool, listen string, err error) {
	_, err = os.Stat(secrets{}.file(dir)) // nothing is made for it
	var s secrets
	if err == nil {
		s, err = readSecrets(dir)
	}
	if err == nil && s.Listen == "" {
		err = errors.New("it does not listen yet")
	}
	if err != nil {
		return host, reader, "", fmt.Errorf("read the join lines of the server in %s: %w", dir, err)
	}
	_, fingerprint, err := s.tls()
	host, reader = s.pools(fingerprint)
	return host, reader, s.Listen, err
}

// pools are what hosts and readers need to join.
func (s secrets) pools(fingerprint string) (host, reader connect.Pool) {
	host = connect.Pool{URL: "nats://" + reachable(s.Listen), Token: s.Token, Fingerprint: fingerprint}
	return host, connect.Pool{URL: host.URL, Token: s.Reader, Fingerprint: fingerprint, Reader: true}
}

// ready waits until the server takes connections.
func (s *Server) ready(ctx context.Context) error {
	ready := make(chan bool, 1)
	go func() { ready <- s.nats.ReadyForConnections(longest) }()
	select {
	case ok := <-ready:
		select {
		case err := <-s.log.failed:
			return s.failure(err)
		default:
		}
		if !ok || !s.nats.JetStreamEnabled() {
			return fmt.Errorf("the server in %s has not become ready", s.dir)
		}
		return nil
	case err := <-s.log.failed:
		return s.failure(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bucket makes the bucket at the first start, and looks for it at later ones.
func (s *Server) bucket(ctx context.Context, secrets secrets, token string) error {
	conn, err := client.Connect("", client.InProcessServer(s.nats), client.Token(token), client.MaxReconnects(0))
	if err != nil {
		return fmt.Errorf("connect to the own server: %w", err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	_, err = nats.Exists(ctx, js, nats.DefaultBucket)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if err = s.startOver(secrets); err == nil {
			err = nats.Make(ctx, js, nats.DefaultBucket, 1)
		}
	}
	if err != nil || secrets.Made {
		return err
	}
	secrets.Made, s.New = true, true
	return secrets.write(s.dir)
}

// startOver removes what is left of a first start that was cut off: NATS would take it for complete
// when it makes the bucket, and not find the bucket at the next start. What has messages stays.
func (s *Server) startOver(secrets secrets) error {
	folder, lost := os.DirFS(s.dir), secrets.Made
	left := server.JetStreamStoreDir + "/*/streams/KV_" + nats.DefaultBucket
	unfinished, err := fs.Glob(folder, left)
	for _, name := range unfinished {
		// What cannot be read may have messages.
		err = errors.Join(err, fs.WalkDir(folder, name, func(file string, d fs.DirEntry, err error) error {
			if err != nil || path.Ext(file) != ".blk" {
				return err
			}
			info, err := d.Info()
			lost = lost || err == nil && info.Size() > 0
			return err
		}))
	}
	if err != nil {
		return fmt.Errorf("look for what a start that was cut off has left: %w", err)
	}
	if lost {
		return fmt.Errorf("the folder %s has lost what the pool had stored, which is not taken for a new pool: restore %s, or name a new folder with --dir, let "+
			"all hosts join that, and their mirrors store their loops again", s.dir, filepath.Join(s.dir, server.JetStreamStoreDir))
	}
	for _, name := range unfinished {
		if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
			return fmt.Errorf("remove what a start that was cut off has left: %w", err)
		}
	}
	return nil
}

// failure says what it means that NATS has failed.
func (s *Server) failure(err error) error {
	return fmt.Errorf("the server has ended, and what it acknowledged is stored; see to the folder %s (is its disk full?) and start it again: %w", s.dir, err)
}

// Wait returns when the context has ended, or when the server can store nothing any more.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case err := <-s.log.failed:
		return s.failure(err)
	case <-ctx.Done():
		return nil
	}
}

// Stop ends the server in order.
func (s *Server) Stop() error {
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	return s.locked.Close()
}

// roles has the permissions of each token; nil is all of them.
type roles map[string]*server.Permissions

var hosts, readers = permissions(false), permissions(true)

func permissions(reader bool) *server.Permissions {
	p := nats.Permissions(nats.DefaultBucket, reader)
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: p.Publish},
		Subscribe: &server.SubjectPermission{Allow: p.Subscribe},
	}
}

// Check tells whether a client has a token.
func (r roles) Check(c server.ClientAuthentication) bool {
	given, allowed := []byte(c.GetOpts().Token), false
	for token, permissions := range r {
		if subtle.ConstantTimeCompare(given, []byte(token)) == 1 {
			c.RegisterUser(&server.User{Permissions: permissions})
			allowed = true
		}
	}
	return allowed
}

// reachable is the address by which other hosts may reach a server: where it listens on all
// interfaces, that of the first one that is not loopback.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return listen
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return net.JoinHostPort(n.IP.String(), port)
		}
	}
	if name, err := os.Hostname(); err == nil {
		return net.JoinHostPort(name, port)
	}
	return listen
}
