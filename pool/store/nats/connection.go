package nats

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// patience bounds how long a call waits for a connection, and for its answer.
	patience = 10 * time.Second
	// ping is how often a client tries a connection on which nothing happens. After two that were not
	// answered, it connects again.
	ping = 20 * time.Second
	// slowest is the longest pause between two attempts to connect.
	slowest = 2 * time.Second
)

// errLost is why a call ended whose connection was lost.
var errLost = errors.New("the connection was lost before the answer")

// A link knows whether the connection is there.
type link struct {
	mu sync.Mutex
	// now ends when the connection is lost. While there is none, it is nil.
	now  context.Context
	lose context.CancelCauseFunc
	// changed is closed when that changes.
	changed chan struct{}
	closed  error // why there will be no connection any more
}

func newLink() *link { return &link{changed: make(chan struct{})} }

// set records that the connection is there, is lost, or will not come back.
func (l *link) set(up bool, closed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lose != nil {
		l.lose(errLost)
	}
	l.now, l.lose, l.closed = nil, nil, closed
	if up {
		l.now, l.lose = context.WithCancelCause(context.Background())
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// state returns the connection that is there, if one is, and when that changes.
func (l *link) state() (now context.Context, changed <-chan struct{}, closed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.changed, l.closed
}

// wait waits for a connection, as long as the context lasts.
func (l *link) wait(ctx context.Context) (now context.Context, err error) {
	for {
		now, changed, closed := l.state()
		if now != nil || closed != nil {
			return now, closed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// dial connects to the servers of an address.
func dial(ctx context.Context, address *url.URL, token, fingerprint string, l *link) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("ralph-pool"),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(func(attempts int) time.Duration { return min(slowest, 20*time.Millisecond<<min(attempts, 10)) }),
		nats.ReconnectBufSize(-1), // a write that waits there would be sent long after its caller gave up
		nats.PingInterval(ping),
		nats.Timeout(timeLeft(ctx)),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { l.set(false, nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { l.set(true, nil) }),
		nats.ClosedHandler(func(c *nats.Conn) { l.set(false, closedError(c)) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default prints
	}
	if user, password, both := strings.Cut(token, ":"); both {
		options = append(options, nats.UserInfo(user, password))
	} else if token != "" {
		options = append(options, nats.Token(token))
	}
	if fingerprint != "" {
		options = append(options, nats.Secure(pinned(fingerprint)))
	}
	server := url.URL{Scheme: address.Scheme, Host: address.Host}
	conn, err := nats.Connect(server.String(), options...)
	if err != nil {
		return nil, explain(err, address)
	}
	l.set(true, nil)
	return conn, nil
}

func timeLeft(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return max(time.Millisecond, min(patience, time.Until(deadline)))
	}
	return patience / 2
}

func closedError(c *nats.Conn) error {
	if err := c.LastError(); err != nil {
		return fmt.Errorf("the connection was closed: %w", err)
	}
	return nats.ErrConnectionClosed
}

// errPin is the error of a server with another certificate than the one that was named.
var errPin = errors.New("its certificate is not the one of the join line")

// explain says what a person can do.
func explain(err error, address *url.URL) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("the server at %s refuses the token: ask for the join line that 'ralph pool serve' prints there: %w", address.Host, err)
	case errors.Is(err, errPin) || errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("the server at %s is another than the one that was joined, or somebody is between: ask for the join line that 'ralph pool serve' "+
			"prints there: %w", address.Host, err)
	}
	return fmt.Errorf("connect to the server at %s: %w", address.Host, err)
}

// pinned accepts the one certificate with this fingerprint, whoever signed it and however old it is.
func pinned(fingerprint string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 || Fingerprint(c.PeerCertificates[0].Raw) != fingerprint {
				return errPin
			}
			return nil
		},
	}
}

// Fingerprint is the SHA-256 of a certificate, in hexadecimal.
func Fingerprint(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return hex.EncodeToString(sum[:])
}
