//go:build containers

package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// These tests run real containers: of podman with runc, and of the docker client with podman's API.
// They need the packages podman, runc, busybox-static and, for docker, its client.

const testImage = "ralph-test:1"

// commands are those of busybox in the image.
var commands = []string{"sh", "cat", "ls", "echo", "sleep", "ps", "touch", "wget", "kill", "id", "pwd", "env"}

// engine prepares podman, for a kernel with mixed cgroups and without netavark, and imports an
// image of busybox alone.
func engine(t *testing.T) {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "containers.conf")
	text := "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\nnetns = \"host\"\n[engine]\nruntime = \"runc\"\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTAINERS_CONF", conf)
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("install busybox-static: ", err)
	}
	program, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	for _, dir := range []string{"bin/", "tmp/", "etc/"} {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o777}))
	}
	err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}))
	_, failed := w.Write(program)
	err = errors.Join(err, failed)
	for _, name := range commands {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "podman", "import", "-", testImage)
	cmd.Stdin = &image
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("podman import: %v\n%s", err, out)
	}
}

// engines are podman, and docker where its client is there.
func engines(t *testing.T) []Mode {
	t.Helper()
	engine(t)
	if Docker.Check() != nil {
		return []Mode{Podman}
	}
	socket := filepath.Join(t.TempDir(), "p.sock")
	ctx, cancel := context.WithCancel(context.Background())
	service := exec.CommandContext(ctx, "podman", "system", "service", "--time=0", "unix://"+socket)
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = service.Wait() }) // it was killed
	t.Setenv("DOCKER_HOST", "unix://"+socket)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) { // polling a service, which has no event for this
		if _, err := os.Stat(socket); err == nil {
			return []Mode{Podman, Docker}
		}
		if time.Now().After(deadline) {
			t.Fatal("podman does not serve its socket")
		}
	}
}

// staticSelf builds ralph so that it runs in any image.
func staticSelf(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ralph")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/ralph-loop/ralph/cmd/ralph")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build ralph: %v\n%s", err, out)
	}
	return path
}

func TestContainers(t *testing.T) {
	program := staticSelf(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "LISTED") }))
	defer server.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for _, mode := range engines(t) {
		t.Run(string(mode), func(t *testing.T) {
			open := func(change func(*Policy)) *Box {
				return box(t, mode, func(p *Policy) {
					p.Self, p.Image, p.Network = program, testImage, Closed
					if change != nil {
						change(p)
					}
				})
			}
			t.Run("has the tree and nothing else", func(t *testing.T) {
				b := open(func(p *Policy) { p.Pass = []string{"PASSED"} })
				t.Setenv("PASSED", "passed")
				t.Setenv("SECRET_OF_THE_PERSON", "secret")
				out, err := b.runs(t, `pwd; echo made > made; env; ls /home /root /usr 2>/dev/null; exit 7`)
				// podman's API reports 0 for each container that it removes.
				if failed, ok := errors.AsType[*exec.ExitError](err); mode == Podman && (!ok || failed.ExitCode() != 7) {
					t.Errorf("%v: %s", err, out)
				}
				if !strings.HasPrefix(out, b.Dir+"\n") || !strings.Contains(out, "PASSED=passed") || strings.Contains(out, "SECRET_OF") {
					t.Errorf("%s", out)
				}
				if text, err := os.ReadFile(filepath.Join(b.Dir, "made")); err != nil || string(text) != "made\n" {
					t.Errorf("%q, %v", text, err)
				}
			})
			t.Run("closes the part of the inbox for people", func(t *testing.T) {
				var inbox string
				b := open(func(p *Policy) {
					inbox = filepath.Join(p.Dir, "inbox")
					p.Ralph, p.Hide = append(p.Ralph, inbox), append(p.Hide, inbox)
				})
				if err := errors.Join(os.Mkdir(inbox, 0o700), os.WriteFile(filepath.Join(inbox, "x"), nil, 0o600)); err != nil {
					t.Fatal(err)
				}
				out, _ := b.runs(t, `ls inbox; echo x > inbox/stop.json && echo ESCAPED; mkdir from-agent && echo made`)
				if strings.Contains(out, "ESCAPED") || strings.HasPrefix(out, "x") || !strings.Contains(out, "made") {
					t.Errorf("%s", out)
				}
				if left, err := os.ReadDir(inbox); err != nil || len(left) != 1 {
					t.Errorf("%v, %v", left, err)
				}
			})
			t.Run("holds", func(t *testing.T) {
				attempts, err := Escape(t.Context(), mode, program, testImage, t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range attempts {
					if a.Escaped {
						t.Errorf("%s: %s", a.What, a.Says)
					}
				}
				if len(attempts) < 9 {
					t.Errorf("only %d attempts: %+v", len(attempts), attempts)
				}
			})
			t.Run("reaches listed hosts alone", func(t *testing.T) {
				b := open(func(p *Policy) { p.Network, p.Hosts = Listed, []string{strings.TrimPrefix(server.URL, "http://")} })
				if out, err := b.runs(t, "wget -q -O - "+server.URL); err != nil || out != "LISTED" {
					t.Errorf("a listed host: %q, %v", out, err)
				}
				if out, err := b.runs(t, "wget -q -O - "+other.URL); !strings.Contains(out, "403") {
					t.Errorf("another host: %q, %v", out, err)
				}
				if out, err := b.runs(t, "unset http_proxy HTTP_PROXY; wget -q -T 3 -O - "+server.URL); strings.Contains(out, "LISTED") || mode == Podman && err == nil {
					t.Errorf("around the proxy: %q", out)
				}
			})
			t.Run("is removed after its client was killed", func(t *testing.T) {
				b := open(nil)
				argv, env, err := b.Wrap([]string{"sh", "-c", "echo ready; sleep 300"}, os.Environ())
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Env, cmd.Dir = env, b.Dir
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := out.Read(make([]byte, 5)); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				if err := b.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				if left, err := b.engine(t.Context(), "ps", "--all", "--quiet", "--filter", "label="+labelKey+"="+b.Name); err != nil || strings.TrimSpace(left) != "" {
					t.Errorf("left: %q, %v", left, err)
				}
			})
		})
	}
}
