package remote

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Pool is the source of the loops that other hosts of the pool have. No host has that name.
const Pool = "the pool"

// PoolProgram is not part of ralph: only hosts of a pool need it.
const PoolProgram = "ralph-pool"

// Joined reports whether this host is in a pool.
func Joined(e *cli.Env) bool {
	_, err := os.Stat(filepath.Join(e.Home, "pool.json"))
	return err == nil
}

// FindPool returns where the program of a pool is: beside this one, or on PATH. It refuses one on
// PATH that an agent may have put there: it would run with the rights of a person.
func FindPool(e *cli.Env) (program string, err error) {
	if own, err := os.Executable(); err == nil {
		if program, err := exec.LookPath(filepath.Join(filepath.Dir(own), PoolProgram)); err == nil {
			return program, nil
		}
	}
	if program, err = exec.LookPath(PoolProgram); err != nil {
		return "", cli.Refuse("'go install github.com/ralph-loop/ralph/pool/cmd/ralph-pool@latest' installs it; only hosts of a pool need it",
			"find the program %s beside ralph or on PATH: %w", PoolProgram, err)
	}
	if err := e.CheckProgram(program); errors.Is(err, cli.ErrForeign) {
		return "", cli.Refuse("install it in the folder of ralph, or in another one that only you or root can write", "run %s: %w", program, err)
	} else if err != nil {
		return "", fmt.Errorf("run %s: %w", program, err)
	}
	return program, nil
}

func poolCommand(ctx context.Context, e *cli.Env, args ...string) (*exec.Cmd, error) {
	program, err := FindPool(e)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = e.Environ, e.Cwd, leftOpen
	return cmd, nil
}

// runPool runs a command of the pool, and returns what it prints.
func runPool(ctx context.Context, e *cli.Env, args []string) ([]byte, error) {
	cmd, err := poolCommand(ctx, e, args...)
	if err != nil {
		return nil, err
	}
	var out, messages limited
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err = cmd.Run(); err != nil && ctx.Err() != nil {
		return nil, cli.Failed("look at the loop before you send it again: the pool may have it, and gives it to the loop once", "%s: no answer for %s", Pool, doTime)
	} else if err != nil {
		return nil, poolFailed(ctx, err, messages.kept.String())
	}
	return out.kept.Bytes(), nil
}

// poolFailed is the error of the program as it printed it.
func poolFailed(ctx context.Context, err error, messages string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s does not answer: %w", Pool, context.Cause(ctx))
	}
	for line := range strings.Lines(messages) {
		if _, text, found := strings.Cut(line, "ralph pool: error: "); found {
			err = errors.New(cli.Clean(strings.TrimSpace(text)))
		}
	}
	return cli.Failed("'ralph pool status' shows how its store does", "%s: %w", Pool, err)
}

// receiptTime is how long a command waits until the loop's host has taken it. It is stored then, in
// any case.
const receiptTime = "--wait=20s"

// poolWords is a command of the pool.
func (l Loop) poolWords(c inbox.Command) ([]string, error) {
	switch c.Kind {
	case inbox.Steer, inbox.FollowUp:
		return []string{string(c.Kind), receiptTime, "--", l.pool, c.Text}, nil
	case inbox.Answer:
		return []string{"answer", receiptTime, "--question=" + strconv.Itoa(c.Question), "--", l.pool, c.Text}, nil
	case inbox.Pause, inbox.Resume, inbox.Stop:
		return []string{string(c.Kind), receiptTime, "--", l.pool}, nil
	case inbox.StopNow:
		return []string{"stop", receiptTime, "--now", "--", l.pool}, nil
	}
	verb := string(c.Kind) + " " + l.name
	if c.Text != "" {
		verb += " " + cli.AsTyped([]string{c.Text})
	}
	return nil, l.onlyThere(verb)
}

// followPool has the loops of the pool until ctx ends, of one process of its program at a time.
func (w *Watch) followPool(ctx context.Context, i int) {
	delay := time.Duration(0)
	for ok := true; ok; ok = pause(ctx, delay) {
		err := readPool(ctx, w.env, func(loops []*projector.View) bool {
			w.set(ctx, i, loops, nil)
			delay = 0
			return true
		})
		w.set(ctx, i, nil, err)
		delay = longer(delay)
	}
}

// listPool returns the loops of the pool as they are now.
func listPool(ctx context.Context, e *cli.Env, running bool) (loops []*projector.View, err error) {
	ctx, stop := context.WithTimeout(ctx, doTime)
	defer stop()
	err = readPool(ctx, e, func(all []*projector.View) bool {
		loops = slices.DeleteFunc(all, func(v *projector.View) bool { return running && !v.Alive })
		return false
	})
	return loops, err
}

const (
	mostLoops = 20_000          // of a pool
	mostView  = 8 << 20         // bytes of a line of the pool's program
	silent    = 3 * time.Minute // without a line: the program prints one a minute
)

// readPool runs the program of the pool, and calls show with all loops of other hosts whenever one
// has changed, until show wants no more. Otherwise it returns why the program has ended.
func readPool(ctx context.Context, e *cli.Env, show func([]*projector.View) (more bool)) error {
	if !Joined(e) {
		return cli.Refuse("'ralph pool join --help' says how", "this host is in no pool")
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	cmd, err := poolCommand(ctx, e, "list", "--json", "--watch")
	if err != nil {
		return err
	}
	var messages limited
	cmd.Stderr = &messages
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", PoolProgram, err)
	}
	late := time.AfterFunc(silent, func() { end(fmt.Errorf("no line for %s", silent)) })
	defer late.Stop()
	lines, all := bufio.NewScanner(out), poolLoops{now: e.Now, rows: map[string]poolRow{}, said: map[string]time.Time{}, heard: map[string]time.Time{}}
	lines.Buffer(nil, mostView)
	for lines.Scan() {
		late.Reset(silent)
		complete, err := all.take(lines.Bytes())
		if err == nil && (!complete || show(all.views())) {
			continue
		}
		end(err)
		_ = cmd.Wait() // it was killed
		return err
	}
	if err := lines.Err(); err != nil {
		end(fmt.Errorf("a line of %s cannot be read: %w", PoolProgram, err))
	}
	err = cmd.Wait()
	return poolFailed(ctx, cmp.Or(err, errors.New("its program has ended")), messages.kept.String())
}

// poolLoops are the rows that the program has printed, and when hosts were heard of.
type poolLoops struct {
	now   func() time.Time
	rows  map[string]poolRow
	said  map[string]time.Time // by the host's own clock
	heard map[string]time.Time // by this one
}

// hears takes when a host was heard of by its own clock, which may be wrong. Only the first time
// there is no better one; another time than before is a sign of life now.
func (p *poolLoops) hears(host string, at time.Time) {
	now := p.now().UTC().Truncate(time.Minute)
	said, known := p.said[host]
	switch {
	case known && !said.Equal(at), !known && at.After(now):
		p.heard[host] = now
	case !known:
		p.heard[host] = at
	}
	p.said[host] = at
}

// A poolRow is of a loop, or of a specification that waits for a host.
type poolRow struct {
	ID, Name, State, Host, Why string
	Group                      projector.Group
	Submitted                  time.Time
	View                       *projector.View
}

var idPattern = units.Pattern(`^[0-9A-Z]{1,64}$`)

// take takes a line. All rows are complete after some of them.
func (p *poolLoops) take(line []byte) (complete bool, err error) {
	var c struct {
		Loop        *poolRow
		Here        bool
		Gone, Host  string
		Heard, Read time.Time
	}
	text, err := cleaned(line)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return false, fmt.Errorf("%s: a line of its program cannot be read: %w", Pool, err)
	}
	delete(p.rows, c.Gone)
	if c.Host != "" {
		p.hears(c.Host, c.Heard)
	}
	if c.Loop != nil {
		delete(p.rows, c.Loop.ID)
		// Else it is a loop of this machine, has no host yet, or is not the pool's own words.
		if !c.Here && checkHost(c.Loop.Host) == nil && idPattern().MatchString(c.Loop.ID) {
			p.rows[c.Loop.ID] = *c.Loop
		}
	}
	if len(p.rows) > mostLoops {
		return false, cli.Failed("'ralph pool list' shows all", "%s has more than %d loops", Pool, mostLoops)
	}
	return !c.Read.IsZero(), nil
}

// views are the loops of other hosts: those that need a person first, then by host, the newest
// first. Each has another name to type: of several with one name, the first of them has it.
func (p *poolLoops) views() []*projector.View {
	loops := make([]*projector.View, 0, len(p.rows))
	for _, row := range p.rows {
		v := projector.View{}
		if row.View != nil {
			v = *row.View
		} else {
			v.Name, v.State, v.NextStep, v.Status = row.Name, row.State, row.Why, event.StatusUnknown
		}
		v.ID, v.Remote, v.Heard, v.Group = row.ID, row.Host, p.heard[row.Host], groupOf(row.Group)
		if v.Started.IsZero() {
			v.Started = row.Submitted
		}
		loops = append(loops, &v)
	}
	slices.SortFunc(loops, func(a, b *projector.View) int {
		return cmp.Or(a.Group.Compare(b.Group), cmp.Compare(a.Remote, b.Remote), cmp.Compare(b.ID, a.ID))
	})
	named := map[string]bool{}
	for _, v := range loops {
		if v.Call = v.Remote + ":" + v.Name; named[v.Call] || registry.CheckName(v.Name) != nil {
			v.Call = v.Remote + ":" + v.ID
		}
		named[v.Call] = true
		mark(v, poolPrefix+v.ID)
	}
	return loops
}
