package s3_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/storetest"
)

// gateway is a real S3 server that keeps a folder: versitygw.
type gateway struct {
	program, folder, address string
	command                  *exec.Cmd
}

// startGateway needs the program that 'make test-stores' builds.
func startGateway(t testing.TB) *gateway {
	program := os.Getenv("STORE_VERSITYGW")
	if program == "" {
		t.Skip("STORE_VERSITYGW names no versitygw: 'make test-stores' builds it")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{program: program, folder: t.TempDir(), address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "something")
	g.start(t)
	t.Cleanup(func() { g.kill(t) })
	client, err := minio.New(g.address, &minio.Options{Creds: credentials.NewStaticV4("someone", "something", ""), Region: "us-east-1"})
	if err == nil {
		err = client.MakeBucket(t.Context(), "bucket", minio.MakeBucketOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gateway) start(t testing.TB) {
	log, err := os.OpenFile(filepath.Join(filepath.Dir(g.folder), "gateway.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	g.command = exec.Command(g.program, "--port", g.address, "--access", "someone", "--secret", "something", "posix", g.folder)
	g.command.Stdout, g.command.Stderr = log, log
	if err := g.command.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", g.address); err == nil {
			c.Close()
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatal("versitygw does not answer")
}

func (g *gateway) kill(t testing.TB) {
	if err := g.command.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = g.command.Wait() // killed
}

func TestVersityKeepsContract(t *testing.T) {
	g := startGateway(t)
	storetest.Run(t, storetest.Engine{
		Open: func(t testing.TB) store.Store {
			c, err := open(g.address, "")
			if err == nil {
				err = store.Probe(t.Context(), c)
			}
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
		Keys: 1100,
		Kill: func(t testing.TB) {
			g.kill(t)
			g.start(t)
		},
		Address: g.address,
		OpenAt:  func(_ context.Context, address string) (store.Store, error) { return open(address, "") },
	})
}

func BenchmarkVersity(b *testing.B) {
	g := startGateway(b)
	c, err := open(g.address, "")
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	storetest.Bench(b, c)
}
