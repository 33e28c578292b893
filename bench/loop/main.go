// Command loop plays the experiment of PLAN.md: the same task, model, prompt and money for an agent
// alone, for simple loops and for ralph, while a proxy makes the model API fail.
//
//	loop run -ralph BIN -out DIR [-minutes N] [-parallel N]
//	loop publish -out DIR      # figures and evidence into the folder results
//	loop check                 # recompute the figures from the published journals
//
// Without a key the models are scripts, and nothing leaves the machine. With a key, the same design
// is played by a real agent, and costs money:
//
//	loop run … -agent PROGRAM -model NAME -api URL -key VARIABLE
//
// VARIABLE is the name of the variable with the key. Only the proxy has it: agents get a made-up
// one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	if filepath.Base(os.Args[0]) == "claude" {
		os.Exit(agentMain(os.Args[1:]))
	}
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("loop "+verb, flag.ExitOnError)
	s := &setup{}
	flags.StringVar(&s.ralph, "ralph", "", "the program ralph")
	flags.StringVar(&s.out, "out", "", "the folder of the trials' journals")
	minutes := flags.Float64("minutes", 0, "begin no trial after so many minutes; 0 plays all")
	parallel := flags.Int("parallel", 4, "trials at once")
	only := flags.String("only", "", "play only these trials: 12,40")
	key := flags.String("key", "", "the name of a variable with a key: play with a real agent, for money")
	flags.StringVar(&s.agent, "agent", "", "with a key: the agent's program, which is called as Claude Code is")
	flags.StringVar(&s.agentModel, "model", "", "with a key: the model")
	flags.StringVar(&s.model, "api", "", "with a key: the address of the model API")
	results := flags.String("results", "results", "the folder of what is published")
	page := flags.String("page", "../../docs/experiment.md", "the page with the figures")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch verb {
	case "run":
		if *key != "" {
			if s.key = os.Getenv(*key); s.key == "" || s.agent == "" || s.agentModel == "" || s.model == "" {
				return fmt.Errorf("with -key, the variable %s has to be set, and -agent, -model and -api are needed", *key)
			}
		}
		return run(s, *only, time.Duration(*minutes*float64(time.Minute)), *parallel)
	case "publish":
		return publish(s.out, *results, *page)
	case "check":
		return check(*results, *page)
	}
	return errors.New("'loop run', 'loop publish' or 'loop check': see the comment of main.go")
}

// run plays the trials of the design that the folder does not have yet.
func run(s *setup, only string, within time.Duration, parallel int) (err error) {
	if s.ralph == "" || s.out == "" {
		return errors.New("run needs -ralph and -out")
	}
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	for _, path := range []*string{&s.ralph, &s.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	s.disk = canFill(s.out)
	if !s.disk {
		fmt.Fprintln(os.Stderr, "bench: no file system can be mounted here: the fault disk is left out")
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	plays := &plays{setup: s, tasks: tasks(), now: map[int]*play{}}
	proxy, err := serve(ctx, plays.proxy)
	if err != nil {
		return err
	}
	if s.key == "" {
		if s.model, err = serve(ctx, plays.answer); err != nil {
			return err
		}
	}
	trials := design(plays.tasks)
	if only != "" {
		trials = slices.DeleteFunc(trials, func(t trial) bool { return !slices.Contains(strings.Split(only, ","), strconv.Itoa(t.N)) })
	}
	return plays.all(ctx, trials, proxy, within, parallel)
}

// canFill reports whether file systems can be mounted.
func canFill(out string) bool {
	dir, err := os.MkdirTemp(out, "probe")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return mount(dir) == nil && unmount(dir) == nil
}

// serve begins an HTTP server on loopback and returns its address.
func serve(ctx context.Context, handler http.HandlerFunc) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler}
	context.AfterFunc(ctx, func() { server.Close() })
	go func() { _ = server.Serve(listener) }() // until the program ends
	return "http://" + listener.Addr().String(), nil
}

// plays are the trials that run now, by their number, which is in the path of each request.
type plays struct {
	setup *setup
	tasks []*task
	mu    sync.Mutex
	now   map[int]*play
}

func (all *plays) find(r *http.Request) *play {
	number, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/t/"), "/")
	n, _ := strconv.Atoi(number)
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.now[n]
}

func (all *plays) proxy(w http.ResponseWriter, r *http.Request) {
	switch p := all.find(r); {
	case p == nil:
		http.Error(w, "this trial is over", http.StatusGone)
	case r.Method != http.MethodPost: // a probe of the agent
		w.WriteHeader(http.StatusNoContent)
	default:
		p.proxy(w, r)
	}
}

func (all *plays) answer(w http.ResponseWriter, r *http.Request) {
	if p := all.find(r); p != nil {
		p.asks.Lock() // two agents of one trial take turns
		defer p.asks.Unlock()
		serveModel(w, r, p.script)
	}
}

// all plays the trials that have no journal with an end, in order, some at once. The first error
// ends the run.
func (all *plays) all(ctx context.Context, trials []trial, proxy string, within time.Duration, parallel int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := time.Now()
	queue := make(chan trial)
	var wait sync.WaitGroup
	for range parallel {
		wait.Go(func() {
			for t := range queue {
				if err := all.one(ctx, t, proxy); err != nil {
					cancel(err)
				}
				if t.N%20 == 0 {
					fmt.Fprintf(os.Stderr, "bench: trial %d of %d, %s\n", t.N, len(trials), time.Since(begun).Round(time.Second))
				}
			}
		})
	}
	for _, t := range trials {
		if ctx.Err() != nil || within > 0 && time.Since(begun) > within {
			break
		}
		if !ended(filepath.Join(all.setup.out, fmt.Sprintf("%04d.jsonl", t.N))) {
			queue <- t
		}
	}
	close(queue)
	wait.Wait()
	return context.Cause(ctx)
}

func (all *plays) one(ctx context.Context, t trial, proxy string) error {
	i := slices.IndexFunc(all.tasks, func(of *task) bool { return of.name == t.Task })
	p := &play{trial: t, task: all.tasks[i], setup: all.setup, base: fmt.Sprintf("%s/t/%d", proxy, t.N)}
	p.script = &script{trial: t, task: p.task}
	all.mu.Lock()
	all.now[t.N] = p
	all.mu.Unlock()
	defer func() {
		all.mu.Lock()
		delete(all.now, t.N)
		all.mu.Unlock()
	}()
	return all.setup.run(ctx, p)
}
