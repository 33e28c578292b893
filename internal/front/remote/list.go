package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/projector"
)

// Hosts are those of the person's own settings. The settings of a project never name one.
func Hosts(e *cli.Env) ([]string, error) {
	own, err := config.Load(config.Source{HomeDir: e.Home, Env: e.Environ})
	return own.Settings.Hosts, err
}

// Loops are those of one host, or why they are not known.
type Loops struct {
	Host  string
	Loops []*projector.View
	Err   error
}

// List asks all hosts at once for their loops. ask says that ssh may ask the person, which it does
// for a single host only.
func List(ctx context.Context, e *cli.Env, hosts []string, running, ask bool) []Loops {
	all := make([]Loops, len(hosts))
	var asked sync.WaitGroup
	for i, host := range hosts {
		asked.Go(func() {
			loops, err := list(ctx, e, host, running, !ask || len(hosts) > 1)
			all[i] = Loops{host, loops, err}
		})
	}
	asked.Wait()
	return all
}

var errNoLoop = errors.New("one of its loops is null")

func list(ctx context.Context, e *cli.Env, host string, running, batch bool) ([]*projector.View, error) {
	h, err := Connect(e, host)
	if err != nil {
		return nil, err
	}
	args := []string{"list", "--all", "--json"}
	if running {
		args = append(args, "--running")
	}
	text, err := h.output(ctx, batch, args...)
	if err != nil {
		return nil, h.explained(ctx, err)
	}
	var loops []*projector.View
	if err := json.Unmarshal(text, &loops); err != nil {
		return nil, h.unreadable(ctx, err)
	}
	for _, v := range loops { // the list may be of any program
		if v == nil {
			return nil, h.unreadable(ctx, errNoLoop)
		}
		v.Remote = host
		v.Call = host + ":" + cmp.Or(v.Call, v.Name)
		v.Found = found(v)
	}
	return loops, nil
}
