package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/projector"
)

// Hosts are those of the person's own settings. The settings of a project never name one.
func Hosts(e *cli.Env) ([]string, error) {
	own, err := config.Load(config.Source{HomeDir: e.Home, Env: e.Environ})
	if err != nil {
		return nil, err
	}
	return own.Settings.Hosts, nil
}

// Loops are those of one source, a host or [Pool], or why they are not known.
type Loops struct {
	Source string
	Loops  []*projector.View
	Err    error
}

// List asks all sources at once for their loops. ask says that ssh may ask the person, which it
// does for a single host only.
func List(ctx context.Context, e *cli.Env, sources []string, running, ask bool) []Loops {
	all := make([]Loops, len(sources))
	var asked sync.WaitGroup
	for i, source := range sources {
		asked.Go(func() {
			all[i].Source = source
			if source == Pool {
				all[i].Loops, all[i].Err = listPool(ctx, e, running)
			} else {
				all[i].Loops, all[i].Err = list(ctx, e, source, running, !ask || len(sources) > 1)
			}
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
	loops, err := loopsOf(host, text)
	if err != nil {
		return nil, h.unreadable(ctx, err)
	}
	for _, v := range loops {
		v.Heard = e.Now().UTC().Truncate(time.Minute)
	}
	return loops, nil
}

// loopsOf reads the list of a host, which may be of any program.
func loopsOf(host string, text []byte) (loops []*projector.View, err error) {
	if text, err = cleaned(text); err == nil {
		err = json.Unmarshal(text, &loops)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range loops {
		if v == nil {
			return nil, errNoLoop
		}
		v.Remote, v.Group = host, groupOf(v.Group)
		v.Call = host + ":" + cmp.Or(v.Call, v.Name)
		mark(v, sshPrefix+v.Call)
	}
	return loops, nil
}

// cleaned returns JSON of a host without what a terminal would obey: screens take most of it for
// text of ralph's own.
func cleaned(text []byte) ([]byte, error) {
	var all any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it goes on after its end")
	}
	return json.Marshal(cleanedValue(all))
}

func cleanedValue(value any) any {
	switch value := value.(type) {
	case string:
		return cli.Clean(value)
	case []any:
		for i := range value {
			value[i] = cleanedValue(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = cleanedValue(value[key])
		}
	}
	return value
}
