package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// chain is a row of processes in sessions of their own, without environment. Each says its pid and
// waits for a line; then it starts the next one and ends.
type chain struct {
	t      *testing.T
	length int
	script string
	fifo   string // of process n: fifo + n
	output *bufio.Scanner
	at     int // the number of the process that lives now
	last   int // its pid
}

func newChain(t *testing.T, length int) *chain {
	t.Helper()
	dir := t.TempDir()
	c := &chain{t: t, length: length, script: filepath.Join(dir, "link.sh"), fifo: filepath.Join(dir, "go")}
	said := filepath.Join(dir, "said")
	fifos := []string{said}
	for n := range length {
		fifos = append(fifos, c.fifo+strconv.Itoa(n+1))
	}
	for _, fifo := range fifos {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// read and write: the open does not block, and there is no end of file
	out, err := os.OpenFile(said, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	c.output = bufio.NewScanner(out)
	script := fmt.Sprintf("echo $$ >'%s'\nread x <'%s'$1\n[ $1 = %d ] || setsid sh '%s' $(($1+1)) &\n", said, c.fifo, length, c.script)
	if err := os.WriteFile(c.script, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// start runs an agent that leaves the first process of the chain, and returns when it has ended. It
// is reaped after the test.
func (c *chain) start() *exec.Cmd {
	c.t.Helper()
	agent := exec.Command("sh", "-c", "env -i setsid sh '"+c.script+"' 1 & exit 0")
	agent.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := agent.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if c.last != 0 && alive(c.last) {
			killAndReap(c.t, c.last)
		}
		_ = agent.Wait()
	})
	c.next()
	if err := awaitExit(agent); err != nil {
		c.t.Fatal(err)
	}
	return agent
}

func (c *chain) next() {
	c.t.Helper()
	if !c.output.Scan() {
		c.t.Fatal("the chain is silent", c.output.Err())
	}
	pid, err := strconv.Atoi(c.output.Text())
	if err != nil {
		c.t.Fatal(err)
	}
	c.at++
	c.last = pid
}

// move has the process that lives now start the next one, and returns when it has ended.
func (c *chain) move() {
	c.t.Helper()
	ending := c.last
	c.release()
	c.next()
	awaitEnd(c.t, ending)
}

// release lets the process that lives now continue.
func (c *chain) release() {
	c.t.Helper()
	if err := os.WriteFile(c.fifo+strconv.Itoa(c.at), []byte("\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// snapshot lists, moves, and then reads what was listed.
func (c *chain) snapshot() (table, error) {
	pids, err := listPIDs(0)
	if c.at < c.length {
		c.move()
	}
	return inspectAll(pids), err
}

// A process that is forked after the list was made, by one that ends before it is read, is in
// neither. However often that happens, it is found.
func TestForkDuringScanIsFound(t *testing.T) {
	for _, moves := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("in %d scans", moves), func(t *testing.T) {
			c := newChain(t, moves+1)
			agent := c.start()
			root, _ := inspect(agent.Process.Pid)
			f := newTree(root.identity, mark(t))
			f.list = c.snapshot
			err := f.terminate(t.Context(), deadline)
			strays := f.strays()
			if err != nil || len(strays) != 1 || strays[0].PID != c.last || strays[0].Ended != Terminated || alive(c.last) {
				t.Errorf("got %+v, %v; the last is %d, alive: %v", strays, err, c.last, alive(c.last))
			}
		})
	}
}

func TestForkDuringScanIsAwaited(t *testing.T) {
	c := newChain(t, 2)
	agent := c.start()
	root, _ := inspect(agent.Process.Pid)
	f := newTree(root.identity, mark(t))
	f.list = c.snapshot
	f.awaitExits(t.Context(), func() time.Duration {
		c.release()
		return deadline
	})
	if alive(c.last) {
		t.Error("it was not waited for")
	}
}
