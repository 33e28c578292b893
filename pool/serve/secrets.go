package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/store/nats"
)

// secrets are what was made at the first start: server.json.
type secrets struct {
	Token       string `json:"token"`
	Reader      string `json:"reader"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
	// Made says that the bucket was made. A folder that has lost it is not a new one.
	Made bool `json:"made"`
	// Listen is where the server listened last.
	Listen string `json:"listen,omitempty"`
}

func (s secrets) file(dir string) string { return filepath.Join(dir, "server.json") }

func (s secrets) write(dir string) error {
	if err := connect.WriteSecret(s.file(dir), s); err != nil {
		return fmt.Errorf("write the secrets of the server: %w", err)
	}
	return nil
}

// readSecrets makes what is missing.
func readSecrets(dir string) (s secrets, err error) {
	text, err := os.ReadFile(s.file(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Token, s.Reader = rand.Text(), rand.Text()
	case err != nil:
		return s, fmt.Errorf("read the secrets of the server: %w", err)
	default:
		if err := json.Unmarshal(text, &s); err != nil {
			return s, fmt.Errorf("the secrets of the server are torn: restore %s, or remove it and let all hosts join again: %w", s.file(dir), err)
		}
	}
	if len(s.Token) < 16 || len(s.Reader) < 16 || s.Token == s.Reader {
		return s, fmt.Errorf("%s has no token, and a server without one would be anybody's: remove the file, and let all hosts join again", s.file(dir))
	}
	if s.Certificate == "" {
		if err := s.certify(); err != nil {
			return s, fmt.Errorf("make a certificate: %w", err)
		}
		return s, s.write(dir)
	}
	return s, nil
}

// certify makes a certificate.
func (s *secrets) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "ralph pool"},
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // none, by RFC 5280
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, &x509.Certificate{Subject: pkix.Name{CommonName: "ralph pool"}}, key.Public(), key)
	if err != nil {
		return err
	}
	s.Certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	s.Key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return nil
}

// tls returns the certificate for the server, and its fingerprint.
func (s secrets) tls() (*tls.Config, string, error) {
	pair, err := tls.X509KeyPair([]byte(s.Certificate), []byte(s.Key))
	if err != nil {
		return nil, "", fmt.Errorf("the certificate of the server is torn: remove it from server.json, and let all hosts join again: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}, nats.Fingerprint(pair.Certificate[0]), nil
}
