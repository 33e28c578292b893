//go:build linux

package power

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/store"
)

// clientRole is the variable that makes the test binary a client of a store: the file with all that
// was acknowledged before.
const clientRole = "POWER_CLIENT"

// An ack is one write that the store has acknowledged, or what a client has found of it.
type ack struct {
	Key   string
	Value string         `json:",omitempty"` // its beginning is unique
	Last  store.Revision `json:",omitempty"` // of the key that is replaced again and again
	Lost  string         `json:",omitempty"` // that it is not there any more, and why
	Read  int            `json:",omitempty"` // how many were read again
}

// counter is the key that is replaced again and again.
const counter = "accounts/power"

// playClient reads all that was acknowledged, and then writes until it is killed.
func playClient(acknowledged string) error {
	ctx := context.Background()
	pool, err := connect.Load(os.Getenv("RALPH_HOME"))
	if err != nil {
		return err
	}
	s, err := connect.Open(ctx, pool)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	before, err := readAcks(acknowledged)
	if err != nil {
		return err
	}
	c := client{s, out, rand.New(rand.NewPCG(uint64(len(before)), 2))}
	if err := c.reread(ctx, before); err != nil {
		return err
	}
	return c.write(ctx, len(before))
}

type client struct {
	store.Store
	out  *json.Encoder
	rand *rand.Rand
}

// reread prints what is lost of all that was acknowledged.
func (c client) reread(ctx context.Context, before []ack) error {
	listed := map[string]bool{}
	for key, err := range c.List(ctx, "", "") {
		if err != nil {
			return err
		}
		listed[key] = true
	}
	latest := map[string]ack{}
	for _, a := range before {
		latest[a.Key] = a
	}
	for key, a := range latest {
		entry, err := c.Get(ctx, key)
		lost := ""
		switch {
		case err != nil:
			lost = err.Error()
		case key == counter && string(entry.Value) < a.Value, key != counter && string(entry.Value) != a.Value:
			lost = fmt.Sprintf("it has %.30q", entry.Value)
		case !listed[key]:
			lost = "no list has it"
		default:
			continue
		}
		if err := c.out.Encode(ack{Key: key, Lost: lost}); err != nil {
			return err
		}
	}
	return c.out.Encode(ack{Read: len(latest)})
}

// write writes new keys, and replaces one, for ever. A key whose write had no answer is left alone.
func (c client) write(ctx context.Context, from int) error {
	run := time.Now().UnixNano()
	for n := from; ; n++ {
		// The counter has always the longest value, so that values can be compared.
		a := ack{Key: counter, Value: fmt.Sprintf("%020d.%09d", run, n)}
		entry, err := c.Get(ctx, counter)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if a.Last, err = c.CompareAndSwap(ctx, counter, entry.Revision, []byte(a.Value)); err != nil {
			return err
		}
		if err := c.out.Encode(a); err != nil {
			return err
		}
		size := []int{10, 3000, 60_000, 700_000}[c.rand.IntN(4)]
		a = ack{Key: fmt.Sprintf("parts/%d/%d.%d", n/5, run, n), Value: fmt.Sprintf("%d.%d.%s", run, n, strings.Repeat("x", c.rand.IntN(size)))}
		if _, err := c.PutIfAbsent(ctx, a.Key, []byte(a.Value)); err != nil {
			return err
		}
		if err := c.out.Encode(a); err != nil {
			return err
		}
	}
}

// readAcks reads complete lines; the last one may be unfinished.
func readAcks(files ...string) (all []ack, err error) {
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 2<<20)
		for lines.Scan() {
			var a ack
			if json.Unmarshal(lines.Bytes(), &a) == nil {
				all = append(all, a)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// A storeRun is one store, from its first use on.
type storeRun struct {
	*testing.T
	kind string // dir or serve
	seed uint64
	rng  *rand.Rand
	root string
	disk *disk
	home string // of the host, on a disk whose power is not cut
	loop string // the project of a loop that has ended

	cuts, acks, read, lost, repaired int
	files                            []string // what clients have printed
}

// poolProgram is ralph-pool, built beside ralph.
func poolProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(filepath.Dir(ralph), "ralph-pool")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/ralph-pool")
	build.Dir, build.Stderr = "../../pool", os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal("build ralph-pool: ", err)
	}
	return program
}

func newStoreRun(t *testing.T, kind string, seed uint64) *storeRun {
	r := &storeRun{T: t, kind: kind, seed: seed, rng: rand.New(rand.NewPCG(seed, 3)), root: t.TempDir()}
	r.home = filepath.Join(r.root, "home")
	r.disk = newDisk(r.rng)
	r.disk.keepsNew = kind == "serve" // NATS syncs no folder of a new block
	r.disk.put("pool/", "")
	for _, name := range []string{"mnt", "said", "home", "project"} {
		if err := os.Mkdir(filepath.Join(r.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.loop = filepath.Join(r.root, "project")
	scenario := filepath.Join(r.root, "loop.rehearsal")
	if err := os.WriteFile(scenario, []byte("iteration\n  talk 60KB\n  write notes.txt one\niteration *\n  write notes.txt two\n  promise\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(ralph, "run", "--name", "one", "--anyway", "-p", strings.Repeat(prompt, 2000), "--agent", ralph+" rehearse "+scenario, "--set", "restart.delay=1ms")
	c.Dir, c.Env = r.loop, r.env()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("run a loop: %v\n%s", err, out)
	}
	return r
}

func (r *storeRun) env() []string {
	return []string{"PATH=" + filepath.Dir(ralph) + ":" + os.Getenv("PATH"), "HOME=" + r.root, "RALPH_HOME=" + r.home, "RALPH_TRUST=1", "NO_COLOR=1", "CI=true"}
}

// run cuts the power several times, and then lets everything be read, and repaired.
func (r *storeRun) run(most int) {
	for r.cuts < most && !r.Failed() {
		r.boot(1 + r.rng.IntN([]int{60, 300, 1500}[r.rng.IntN(3)]))
		r.cuts++
		r.disk = r.disk.after()
	}
	if !r.Failed() {
		r.boot(0)
	}
}

// boot turns a machine on, whose power is cut at a change of the disk, or, at 0, when all is done.
func (r *storeRun) boot(cutAt int) {
	r.disk.plan = plan{cutAt: cutAt}
	mnt := filepath.Join(r.root, "mnt")
	mounted, err := mount(r.disk, mnt)
	if err != nil {
		r.Fatal(err)
	}
	said, err := os.MkdirTemp(filepath.Join(r.root, "said"), fmt.Sprintf("boot-%d-", r.cuts))
	if err != nil {
		r.Fatal(err)
	}
	m, err := boot(said)
	if err != nil {
		r.Fatal(err)
	}
	end := func() {
		r.disk.mu.Lock()
		r.disk.off = true
		r.disk.mu.Unlock()
		m.powerOff(func() { close(r.disk.over) })
		if err := mounted.unmount(mnt); err != nil {
			r.Fatal(err)
		}
	}
	defer end()
	pool := connect.Pool{URL: "dir://" + filepath.Join(mnt, "pool"), Host: "h"}
	if r.kind == "serve" {
		var ok bool
		if pool, ok = r.serve(m, filepath.Join(mnt, "pool")); !ok {
			return // the power was cut before it had started
		}
	}
	if err := connect.Save(r.home, pool); err != nil {
		r.Fatal(err)
	}
	known := filepath.Join(said, "known")
	if err := r.writeKnown(known); err != nil {
		r.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	mirror := m.start(r.loop, r.env(), poolProgram(r.T), "mirror", "--all", "--once")
	c := m.start(r.loop, append(r.env(), clientRole+"="+known), self)
	r.files = append(r.files, c.out)
	if cutAt == 0 {
		r.finish(m, mirror, c)
		return
	}
	select {
	case <-r.disk.cut:
	case code := <-c.code:
		select {
		case <-r.disk.cut: // it has failed because of that
		case <-time.After(time.Second):
			out, errs := c.said()
			r.Errorf("the client has ended: exit %d\n%.500s%s", code, out, errs)
		}
	case <-time.After(patience):
		r.Error("the power is not cut")
	}
}

// serve starts the server, and returns how its hosts reach it.
func (r *storeRun) serve(m *machine, folder string) (pool connect.Pool, ok bool) {
	server := m.start(r.root, r.env(), poolProgram(r.T), "serve", "--json", "--listen", "127.0.0.1:0", "--dir", folder)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); ; {
		select {
		case <-tick.C:
		case <-r.disk.cut:
			return pool, false
		case code := <-server.code:
			_, errs := server.said()
			r.Fatalf("the server has ended: exit %d\n%s", code, errs)
		case <-end:
			_, errs := server.said()
			r.Fatalf("the server does not start\n%s", errs)
		}
		out, _ := server.said()
		var served struct{ Join string }
		if json.Unmarshal([]byte(out), &served) == nil {
			if pool, err := connect.ParseLine(served.Join); err == nil {
				pool.Host = "h"
				return pool, true
			}
		}
	}
}

// writeKnown writes what was acknowledged before into one file.
func (r *storeRun) writeKnown(to string) error {
	all, err := readAcks(r.files...)
	if err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	for _, a := range all {
		if a.Value != "" {
			err = errors.Join(err, out.Encode(a))
		}
	}
	return errors.Join(err, f.Close())
}

// finish waits until all was read, and checks the loop that was mirrored while the power was cut.
func (r *storeRun) finish(m *machine, mirror, c *started) {
	one := func(argv ...string) (int, string) {
		p := m.start(r.loop, r.env(), append([]string{poolProgram(r.T)}, argv...)...)
		select {
		case code := <-p.code:
			out, errs := p.said()
			return code, out + errs
		case <-time.After(patience):
			r.Fatalf("%q hangs", argv)
			return 0, ""
		}
	}
	select {
	case code := <-mirror.code:
		if _, errs := mirror.said(); code != 0 {
			r.Logf("the mirror: %s", errs)
		}
	case <-time.After(patience):
		r.Fatal("the mirror hangs")
	}
	if code, text := one("check"); code != 0 {
		r.repaired++
		r.Logf("check: %s", text)
	}
	if code, text := one("check", "--repair"); code != 0 {
		r.Errorf("the mirror's journal does not repair the pool: %s", text)
	}
	if code, text := one("mirror", "--all", "--once", "--verify"); code != 0 {
		r.Errorf("the mirror, afterwards: %s", text)
	}
	for end := time.Now().Add(patience); ; {
		all, err := readAcks(c.out)
		if err != nil {
			r.Fatal(err)
		}
		if slices.ContainsFunc(all, func(a ack) bool { return a.Read > 0 }) {
			return
		}
		if time.Now().After(end) {
			_, errs := c.said()
			r.Fatalf("the client does not read: %s", errs)
		}
		select {
		case code := <-c.code:
			_, errs := c.said()
			r.Fatalf("the client has ended: exit %d: %s", code, errs)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// count adds up what the clients have printed.
func (r *storeRun) count() {
	all, err := readAcks(r.files...)
	if err != nil {
		r.Fatal(err)
	}
	for _, a := range all {
		switch {
		case a.Lost != "":
			r.lost++
			r.Errorf("%s was acknowledged, and is lost: %s", a.Key, a.Lost)
		case a.Value != "":
			r.acks++
		}
		r.read += a.Read
	}
}

// TestStorePowerCuts cuts the power of the disk that a pool's store is on. What the store has
// acknowledged is there afterwards, and what mirrors were writing is complete in the end.
func TestStorePowerCuts(t *testing.T) {
	needs(t)
	for _, kind := range []string{"dir", "serve"} {
		t.Run(kind, func(t *testing.T) {
			var done, acks, read, repaired int
			for seed := *first; done < *cuts && !t.Failed(); seed++ {
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					r := newStoreRun(t, kind, seed)
					r.run(min(cutsPerRun, *cuts-done))
					r.count()
					if t.Failed() {
						t.Logf("repeat it with: cd tools/power && go test -run TestStorePowerCuts/%s . -args -power.seed=%d -power.cuts=%d", kind, seed, cutsPerRun)
					}
					done, acks, read, repaired = done+r.cuts, acks+r.acks, read+r.read, repaired+r.repaired
				})
			}
			t.Logf("%s: %d power cuts; %d writes were acknowledged, and read again %d times; %d pools had to be repaired from a journal", kind, done, acks, read, repaired)
			if !t.Failed() && (acks == 0 || read == 0) {
				t.Error("this compared nothing")
			}
		})
	}
}
