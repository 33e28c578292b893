package kubernetes

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mostMemory is what the control plane and kwok may have had at most, all together.
const mostMemory = 2 << 30

// A cluster is the processes of a control plane on loopback, and kwok.
type cluster struct {
	folder, bin string
	running     []*exec.Cmd
}

// env is the environment of all programs: nothing of a person's own clusters, and no proxy.
func (c *cluster) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.folder, "KUBECONFIG=" + c.path("kubeconfig")}
}

func (c *cluster) path(name string) string { return filepath.Join(c.folder, name) }

// theCluster is that of all tests: they have namespaces of their own.
var theCluster *cluster

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes: error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "ralph-kubernetes-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	c := &cluster{folder: folder, bin: os.Getenv("RALPH_TEST_KUBERNETES")}
	theCluster = c
	begun := time.Now()
	err = c.start()
	if err == nil {
		fmt.Printf("the cluster is ready after %v\n", time.Since(begun).Round(100*time.Millisecond))
		code = m.Run()
	}
	if memory := c.memory(); memory > mostMemory {
		err = errors.Join(err, fmt.Errorf("the cluster had %d MB of memory, at most %d are allowed", memory>>20, mostMemory>>20))
	}
	c.stop()
	if err != nil || code != 0 {
		c.tails()
	}
	return code, err
}

// start starts the programs, one after the other, and makes the nodes.
func (c *cluster) start() error {
	if _, err := os.Stat(filepath.Join(c.bin, "kwok")); err != nil {
		return fmt.Errorf("the programs of the cluster are missing: 'make test-kubernetes' builds them: %w", err)
	}
	port, err := freePorts(3)
	if err != nil {
		return err
	}
	if err := c.files("https://127.0.0.1:" + port[2]); err != nil {
		return err
	}
	client, peer := "http://127.0.0.1:"+port[0], "http://127.0.0.1:"+port[1]
	key, config := c.path("account.pem"), c.path("kubeconfig")
	for _, words := range [][]string{
		{
			"etcd", "--data-dir", c.path("etcd"), "--unsafe-no-fsync", "--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
		},
		{
			"kube-apiserver", "--etcd-servers", client, "--bind-address", "127.0.0.1", "--secure-port", port[2], "--cert-dir", c.path("certificates"),
			"--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.0.0.0/24",
			"--authorization-mode", "RBAC", "--token-auth-file", c.path("tokens"), "--service-account-issuer", "https://kubernetes.default.svc",
			"--service-account-key-file", key, "--service-account-signing-key-file", key,
		},
		{
			"kube-controller-manager", "--kubeconfig", config, "--leader-elect=false", "--secure-port", "0",
			"--service-account-private-key-file", key,
		},
		{"kube-scheduler", "--kubeconfig", config, "--leader-elect=false", "--secure-port", "0"},
		{"kwok", "--kubeconfig", config, "--config", "testdata/stages.yaml", "--manage-all-nodes", "--node-lease-duration-seconds", "40"},
	} {
		if err := c.begin(words); err != nil {
			return err
		}
		if words[0] == "kube-apiserver" {
			if err := c.await("https://127.0.0.1:" + port[2] + "/readyz"); err != nil {
				return err
			}
		}
	}
	for _, words := range []string{
		"apply -f testdata/nodes.yaml", "wait --for=condition=Ready node --all --timeout=2m",
		"wait --for=create serviceaccount/default --timeout=2m",
	} {
		if out, err := c.kubectl("", strings.Fields(words)...); err != nil {
			return fmt.Errorf("kubectl %s: %w\n%s", words, err, out)
		}
	}
	return nil
}

// files writes the key of service accounts, a token for all programs, and where the API server is.
func (c *cluster) files(server string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	token := rand.Text()
	return errors.Join(
		os.WriteFile(c.path("account.pem"), text, 0o600),
		os.WriteFile(c.path("tokens"), []byte(token+",admin,admin,system:masters\n"), 0o600),
		os.WriteFile(c.path("kubeconfig"), fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: %q}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
`, server, token), 0o600),
	)
}

func (c *cluster) begin(words []string) error {
	log, err := os.Create(c.path(words[0] + ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(filepath.Join(c.bin, words[0]), words[1:]...)
	command.Env, command.Stdout, command.Stderr = c.env(), log, log
	if err := command.Start(); err != nil {
		return err
	}
	c.running = append(c.running, command)
	return nil
}

// await waits until the API server says that it is ready.
func (c *cluster) await(address string) error {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // polling a service, which has no event for this
		answer, err := client.Get(address)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(answer.Status)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the API server is not ready: %w", err)
		}
	}
}

// stop ends the programs, the last one first.
func (c *cluster) stop() {
	for i := len(c.running) - 1; i >= 0; i-- {
		_ = c.running[i].Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(20*time.Second, func() { _ = c.running[i].Process.Kill() })
		_ = c.running[i].Wait()
		timer.Stop()
	}
}

// memory prints the most that each program had so far, and returns the sum of them.
func (c *cluster) memory() (sum int) {
	for _, command := range c.running {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
		_, peak, found := strings.Cut(string(status), "VmHWM:")
		if err != nil || !found {
			continue
		}
		kilobytes, _ := strconv.Atoi(strings.Fields(peak)[0])
		fmt.Printf("%-24s %4d MB\n", filepath.Base(command.Path), kilobytes>>10)
		sum += kilobytes << 10
	}
	fmt.Printf("%-24s %4d MB\n", "all", sum>>20)
	return sum
}

// tails prints the end of each log.
func (c *cluster) tails() {
	for _, command := range c.running {
		text, _ := os.ReadFile(c.path(filepath.Base(command.Path) + ".log"))
		lines := strings.Split(string(text), "\n")
		fmt.Printf("\n== the end of the log of %s:\n%s\n", filepath.Base(command.Path), strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
}

// kubectl runs kubectl with a text as its input. A warning of the API server is an error.
func (c *cluster) kubectl(input string, words ...string) (string, error) {
	var out, problem bytes.Buffer
	command := exec.Command(filepath.Join(c.bin, "kubectl"), append(words, "--warnings-as-errors")...)
	command.Env, command.Stdin, command.Stdout, command.Stderr = c.env(), strings.NewReader(input), &out, &problem
	err := command.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimSpace(out.String()), err
}

func freePorts(n int) (ports []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		ports = append(ports, port)
	}
	return ports, nil
}
