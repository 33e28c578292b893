//go:build containers

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/manifest"
	"github.com/ralph-loop/ralph/pool/pooltest"
)

// This test builds the image of 'make image' with an agent, and runs it with podman as a kubelet
// would run a pod of the manifest: with its command, a root file system that cannot be written, no
// capabilities, and another user than root. It needs root, podman and runc.

const testImage = "ralph-test:1"

// An agent commits in each iteration, and completes the loop "quick" in the second one.
const painter = `#!/bin/sh
cat > /dev/null
echo "iteration $RALPH_ITERATION" >> work.txt
git add work.txt && git commit -q -m work || exit 1
case $RALPH_LOOP,$RALPH_ITERATION in
quick,1) ;;
quick,*) echo '<promise>COMPLETE</promise>' ;;
*) sleep 1 ;;
esac
`

// An imageTest is a pool on loopback, a person's host, and what is mounted into a pod.
type imageTest struct {
	*testing.T
	person *pooltest.Host
	agents string
	mounts map[string]string
	server *servedProcess
}

func newImageTest(t *testing.T) *imageTest {
	t.Helper()
	i := &imageTest{T: t, person: pooltest.NewHost(t), agents: t.TempDir()}
	program := filepath.Join(i.agents, "bin", "painter")
	i.person.Write(program, painter)
	t.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
	conf := filepath.Join(t.TempDir(), "containers.conf")
	i.person.Write(conf, "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\nnetns = \"host\"\n[engine]\nruntime = \"runc\"\n")
	t.Setenv("CONTAINERS_CONF", conf)
	i.server = serveIn(t, programAt(t, i.person.Home, serveArguments(t.TempDir())...))
	i.pool("join", i.server.Join, "--host", "desk")

	// A Secret is mounted as links to files that only its group can read.
	secret := t.TempDir()
	key, _, _ := strings.Cut(i.pool("key"), "\n")
	address, err := os.ReadFile(filepath.Join(i.person.Home, "pool.json"))
	err = errors.Join(err, os.Chmod(program, 0o755), os.Chmod(secret, 0o755), os.Mkdir(filepath.Join(secret, "..1"), 0o755), os.Symlink("..1", filepath.Join(secret, "..data")))
	for file, text := range map[string]string{"pool.json": string(address), "pool.trust": strings.Fields(key)[0] + " desk\n"} {
		path := filepath.Join(secret, "..1", file)
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o440), os.Chown(path, 0, 1000), os.Symlink("..data/"+file, filepath.Join(secret, file)))
	}
	i.mounts = map[string]string{"/etc/ralph-pool": secret + ":ro"}
	for _, folder := range []string{"/work", "/tmp"} {
		dir := t.TempDir()
		err = errors.Join(err, os.Chmod(dir, 0o755), os.Chown(dir, 1000, 1000))
		i.mounts[folder] = dir
	}
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// pool runs ralph-pool on the person's host.
func (i *imageTest) pool(words ...string) string {
	i.Helper()
	return i.person.Run(i.person.Dir, "ralph-pool", words...)
}

func (i *imageTest) podman(words ...string) string {
	i.Helper()
	out, err := exec.Command("podman", words...).CombinedOutput()
	if err != nil {
		i.Fatalf("podman %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// begin starts the only container of a worker's pod.
func (i *imageTest) begin(host string) (name string) {
	i.Helper()
	objects, err := manifest.Make(manifest.Options{Workers: 1, Slots: 2, Image: testImage})
	if err != nil {
		i.Fatal(err)
	}
	pod := objects[0]["spec"].(manifest.Object)["template"].(manifest.Object)["spec"].(manifest.Object)
	container := pod["containers"].([]any)[0].(manifest.Object)
	words := []string{
		"run", "--detach", "--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges",
		fmt.Sprintf("--user=%v:%v", pod["securityContext"].(manifest.Object)["runAsUser"], pod["securityContext"].(manifest.Object)["runAsGroup"]),
	}
	for folder, dir := range i.mounts {
		from, option, _ := strings.Cut(dir, ":")
		words = append(words, "--volume="+strings.TrimSuffix(from+":"+folder+":"+option, ":"))
	}
	for _, variable := range container["env"].([]any) {
		v := variable.(manifest.Object)
		words = append(words, fmt.Sprintf("--env=%v=%v", v["name"], v["value"]))
	}
	words = append(words, "--env=RALPH_POOL_HOST="+host, "--env=RALPH_POD_DRAIN=3", "--env=RALPH_POD_LAST=30", "--entrypoint=")
	words = append(words, testImage)
	for _, word := range container["command"].([]any) {
		words = append(words, word.(string))
	}
	name = i.podman(append(words, container["args"].([]string)...)...)
	i.Cleanup(func() { i.podman("rm", "--force", "--time=0", name) })
	return name
}

// build builds the image with an agent, and returns its ID.
func (i *imageTest) build() string {
	i.Helper()
	command := exec.Command("../../../tools/image/build.sh")
	command.Env = append(os.Environ(), "IMAGE="+testImage, "AGENTS="+i.agents)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		i.Fatal(err)
	}
	i.Cleanup(func() { i.podman("rmi", "--force", testImage) })
	return i.podman("image", "inspect", "--format={{.Id}}", testImage)
}

// repository is a bare one, which the pod can read.
func (i *imageTest) repository() string {
	i.Helper()
	dir := i.person.Repository("")
	bare := filepath.Join(i.TempDir(), "app.git")
	i.person.Run(dir, "git", "clone", "-q", "--bare", dir, bare)
	err := filepath.WalkDir(bare, func(path string, _ os.DirEntry, err error) error { return errors.Join(err, os.Chown(path, 1000, 1000)) })
	if err := errors.Join(err, os.Chmod(filepath.Dir(bare), 0o755)); err != nil {
		i.Fatal(err)
	}
	i.mounts[bare] = bare + ":ro"
	return bare
}

// await waits until the list of the pool says of a loop what it is waited for.
func (i *imageTest) await(container, name string, is func(state, host string, iteration int) bool) {
	i.Helper()
	for deadline := time.Now().Add(pooltest.Deadline); ; time.Sleep(200 * time.Millisecond) { // polling a command
		out := i.pool("list", "--json")
		var all []struct {
			Name, State, Host string
			Iteration         int
		}
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			i.Fatalf("%v: %s", err, out)
		}
		for _, l := range all {
			if l.Name == name && is(l.State, l.Host, l.Iteration) {
				return
			}
		}
		if time.Now().After(deadline) || strings.Contains(out, "given up") {
			i.Fatalf("%s\n%s", out, i.podman("logs", container))
		}
	}
}

func TestImageRunsLoops(t *testing.T) {
	i := newImageTest(t)
	id := i.build()
	repository := i.repository()
	container := i.begin("pod-1")
	submit := func(name string) {
		i.pool("submit", "--name", name, "-p", "Work.", "-a", "painter", "-m", "1000", "--repository", repository)
	}
	submit("quick")
	i.await(container, "quick", func(state, host string, _ int) bool { return state == "completed" && host == "pod-1" })

	// Each program and each library finds the libraries that it needs.
	const libraries = `for f in /usr/bin/git /usr/bin/ssh /usr/bin/bash /usr/lib/git-core/* /usr/lib/*-linux-gnu/*.so*; do ` +
		`/lib64/ld-linux* --list $f 2>&1; done | grep 'not found' || :`
	for words, want := range map[string]string{
		"id -u":                                       "1000",
		"grep CapEff /proc/1/status":                  "0000000000000000",
		"grep NoNewPrivs /proc/1/status":              "1",
		"find / -xdev -perm /6000":                    "",
		"touch /x 2>&1 || :":                          "Read-only file system",
		"ssh -V 2>&1":                                 "OpenSSH",
		"git ls-remote https://127.0.0.1:9 2>&1 || :": "onnect to 127.0.0.1",
		"bash -c 'timeout 9 true' && ralph --version": "ralph",
		libraries: "",
	} {
		if out := i.podman("exec", container, "sh", "-c", words); !strings.Contains(out, want) || want == "" && out != "" {
			t.Errorf("%s: %q, want %q", words, out, want)
		}
	}

	submit("slow")
	i.await(container, "slow", func(state, host string, iteration int) bool { return state == "running" && iteration >= 2 })
	begun := time.Now()
	i.podman("stop", "--time=120", container)
	t.Logf("the container has ended %v after SIGTERM, of which loops had 3 s", time.Since(begun).Round(100*time.Millisecond))
	if code := i.podman("inspect", "--format={{.State.ExitCode}}", container); code != "143" {
		t.Errorf("exit code %s\n%s", code, i.podman("logs", container))
	}

	// Another host continues it, with its files.
	into := filepath.Join(t.TempDir(), "taken")
	i.pool("take", "slow", "--now", "--trust", "--into", into)
	t.Cleanup(func() { _, _ = i.person.Try(into, "ralph", "kill", "slow") })
	work, err := os.ReadFile(filepath.Join(into, "work.txt"))
	if lines := strings.Fields(string(work)); err != nil || !slices.Contains(lines, "2") {
		t.Errorf("%q, %v", work, err)
	}
	if again := i.build(); again != id {
		t.Errorf("another build of the same files is %s and not %s", again, id)
	}
}
