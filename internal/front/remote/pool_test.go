//go:build unix

package remote

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/projector"
)

// pooled is a host in a pool whose program is a script.
func pooled(t *testing.T, script string) *cli.Env {
	t.Helper()
	e := &cli.Env{Home: t.TempDir(), Cwd: t.TempDir(), Now: time.Now, Stderr: &bytes.Buffer{}}
	bin := t.TempDir()
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(e.Home, "pool.json"), "{}")
	write(filepath.Join(bin, PoolProgram), "#!/bin/sh\n"+script+"\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return e
}

const poolLines = `{"host":"mill","heard":"2026-11-28T01:02:00Z"}
{"loop":{"id":"01A","name":"parser","state":"running","host":"mill","group":"working","view":{"name":"parser","state":"running","status":"running","alive":true,"project":"/srv/app"}}}
{"loop":{"id":"01B","name":"parser","state":"completed","host":"mill","group":"ended","view":{"name":"parser","state":"completed","status":"completed"}}}
{"loop":{"id":"01C","name":"asks","state":"waiting","host":"kiln","group":"needs you","view":{"name":"asks","state":"waiting\u001b[2J","status":"waiting","alive":true,"question":"Which one?","call":"weir:other","remote":"weir"}}}
{"loop":{"id":"01D","name":"here","state":"running","host":"desk","group":"working"},"here":true}
{"loop":{"id":"01E","name":"waits","state":"queued","group":"working"}}
{"loop":{"id":"01F","name":"claimed","state":"claimed","host":"kiln","group":"no such group"}}
{"loop":{"id":"01G","name":"x","state":"running","host":"-oProxyCommand=id","group":"working"}}
{"loop":{"id":"--now","name":"x y","state":"running","host":"kiln","group":"working"}}
{"loop":{"id":"01H","name":"gone","state":"running","host":"kiln","group":"working"}}
{"gone":"01H"}
{"read":"2026-11-28T01:03:00Z"}
`

// A pool may have been written to by anyone: a name, a group or an escape of theirs becomes no
// other loop, and no command.
func TestPoolViewsAreOfHosts(t *testing.T) {
	e := pooled(t, "cat <<'END'\n"+poolLines+"END\nexec sleep 600")
	all := List(t.Context(), e, []string{Pool}, false, false)
	if all[0].Err != nil {
		t.Fatal(all[0].Err)
	}
	var got []string
	for _, v := range all[0].Loops {
		l, ok := Of(v.Found)
		if !ok || l.pool != v.ID {
			t.Errorf("%s is %+v, %v", v.Call, l, ok)
		}
		got = append(got, strings.Join([]string{v.Call, string(v.Group), v.State, v.ID}, "|"))
	}
	want := "kiln:asks|needs you|waiting|01C\nkiln:claimed|working|claimed|01F\nmill:parser|working|running|01A\nmill:01B|ended|completed|01B"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	v := all[0].Loops[2]
	now := time.Date(2026, 11, 28, 1, 10, 30, 0, time.UTC)
	if v.Remote != "mill" || listing.Silence(v, now) != 8*time.Minute+30*time.Second || listing.Silence(v, v.Heard.Add(time.Minute)) != 0 {
		t.Errorf("%s was heard of at %s: silent for %s", v.Remote, v.Heard, listing.Silence(v, now))
	}
	if running := List(t.Context(), e, []string{Pool}, true, false)[0].Loops; len(running) != 2 {
		t.Errorf("%d loops run", len(running))
	}
}

// The clock of a host is wrong by an hour: its loops are as old as what was heard of it.
func TestClocksOfHostsMayDiffer(t *testing.T) {
	now := time.Date(2026, 11, 28, 1, 10, 0, 0, time.UTC)
	for _, wrong := range []time.Duration{time.Hour, -time.Hour} {
		p := poolLoops{now: func() time.Time { return now }, said: map[string]time.Time{}, heard: map[string]time.Time{}}
		p.hears("mill", now.Add(wrong))
		if got, want := p.heard["mill"], now.Add(min(wrong, 0)); !got.Equal(want) {
			t.Errorf("wrong by %s: heard of at %s, want %s", wrong, got, want)
		}
		now = now.Add(time.Minute)
		p.hears("mill", now.Add(wrong))
		if got := p.heard["mill"]; !got.Equal(now) {
			t.Errorf("wrong by %s: then heard of at %s, want %s", wrong, got, now)
		}
		now = now.Add(time.Hour)
		p.hears("mill", now.Add(wrong-time.Hour)) // the same again
		if got := now.Sub(p.heard["mill"]); got != time.Hour {
			t.Errorf("wrong by %s: silent for %s", wrong, got)
		}
	}
}

// What the pool's commands can do is done by them; anything else says where it can be done, and
// nothing of it is sent.
func TestPoolTakesSomeCommands(t *testing.T) {
	e := pooled(t, `printf '%s|' "$@" >> "$HOME/sent"; echo >> "$HOME/sent"
case "$*" in *refuse*) echo 'ralph pool: error: the loop has not got it: it has ended' >&2; exit 1;; esac
echo parser has received it, on host mill`)
	home := t.TempDir()
	t.Setenv("HOME", home)
	v := &projector.View{Identity: projector.Identity{ID: "01A", Name: "parser", Remote: "mill", Call: "mill:parser"}}
	mark(v, poolPrefix+v.ID)
	l, _ := Of(v.Found)
	sent := func() string {
		text, _ := os.ReadFile(filepath.Join(home, "sent"))
		_ = os.Remove(filepath.Join(home, "sent"))
		return string(text)
	}
	for _, c := range []struct {
		command inbox.Command
		want    string
	}{
		{inbox.Command{Kind: inbox.Steer, Text: "--any"}, "steer|--wait=20s|--|01A|--any|\n"},
		{inbox.Command{Kind: inbox.Answer, Question: 3, Text: "yes"}, "answer|--wait=20s|--question=3|--|01A|yes|\n"},
		{inbox.Command{Kind: inbox.FollowUp, Text: "a b"}, "follow-up|--wait=20s|--|01A|a b|\n"},
		{inbox.Command{Kind: inbox.Pause}, "pause|--wait=20s|--|01A|\n"},
		{inbox.Command{Kind: inbox.Resume}, "resume|--wait=20s|--|01A|\n"},
		{inbox.Command{Kind: inbox.Stop}, "stop|--wait=20s|--|01A|\n"},
		{inbox.Command{Kind: inbox.StopNow}, "stop|--wait=20s|--now|--|01A|\n"},
	} {
		said, err := l.Send(e, c.command)
		if got := sent(); err != nil || got != c.want || !strings.Contains(said, "on host mill") {
			t.Errorf("%s: %q, %q, %v", c.command.Kind, got, said, err)
		}
	}
	if _, err := l.Send(e, inbox.Command{Kind: inbox.Steer, Text: "refuse"}); err == nil || err.Error() != "the pool: the loop has not got it: it has ended" {
		t.Errorf("a refusal: %v", err)
	}
	sent()
	for what, do := range map[string]func() (string, error){
		"ralph kill parser": func() (string, error) {
			return l.Send(e, inbox.Command{Kind: inbox.Steer, Text: "a"}, inbox.Command{Kind: inbox.Kill})
		},
		"ralph start parser --resume": func() (string, error) { return l.Resume(e, nil) },
		"ralph dismiss parser":        func() (string, error) { return l.Dismiss(e) },
		"ralph attach parser":         func() (string, error) { return "", l.Attach(e) },
		"ralph logs parser":           func() (string, error) { _, err := l.Last(e, 5); return "", err },
	} {
		_, err := do()
		failed, ok := errors.AsType[*cli.Failure](err)
		if !ok || !strings.Contains(failed.Hint(), "'"+what+"' on host mill") || !strings.Contains(failed.Hint(), "mill:parser") {
			t.Errorf("%s: %v, %+v", what, err, failed)
		}
		if got := sent(); got != "" {
			t.Errorf("%s: sent %s", what, got)
		}
	}
}

// No process runs before a look, one while there are looks, and none after that. What was known
// stays when the store is gone.
func TestWatchRunsOneProgram(t *testing.T) {
	dir := t.TempDir()
	e := pooled(t, `echo $$ >> `+dir+`/pids
[ -e `+dir+`/gone ] && { echo 'ralph pool: error: the store is gone' >&2; exit 1; }
cat <<'END'
`+poolLines+`END
exec sleep 600`)
	pids := func() []string {
		text, _ := os.ReadFile(filepath.Join(dir, "pids"))
		return strings.Fields(string(text))
	}
	if NewWatch(e, nil) != nil {
		t.Error("a person without sources has a watch")
	}
	w := NewWatch(e, []string{Pool})
	if len(pids()) != 0 {
		t.Error("the program runs before a look")
	}
	loops, errs := w.Await(t.Context(), time.Minute)
	if len(loops) != 4 || errs != nil || len(pids()) != 1 {
		t.Errorf("%d loops, %v, processes %v", len(loops), errs, pids())
	}
	if v := w.Find("mill:parser"); v == nil || v.ID != "01A" || w.Find("mill:01A") != v || w.Find("weir:other") != nil || w.Find("parser") != nil {
		t.Errorf("found %+v", v)
	}
	if err := os.WriteFile(filepath.Join(dir, "gone"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	end(t, pids()[0])
	for until := time.Now().Add(time.Minute); len(errs) == 0 && time.Now().Before(until); {
		loops, errs = w.Loops()
	}
	if len(loops) != 4 || len(errs) != 1 {
		t.Errorf("the store is gone: %d loops, %v", len(loops), errs)
	}
	w.Close()
	for _, pid := range pids() {
		if alive(pid) {
			t.Errorf("process %s outlives the watch", pid)
		}
	}
}

func alive(pid string) bool { return syscall.Kill(number(pid), 0) == nil }

func end(t *testing.T, pid string) {
	t.Helper()
	if err := syscall.Kill(number(pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func number(pid string) (n int) {
	for _, c := range pid {
		n = 10*n + int(c-'0')
	}
	return n
}

// A loop that ssh and the pool know is shown once.
func TestMergeShowsLoopOnce(t *testing.T) {
	at := time.Date(2026, 11, 28, 1, 0, 0, 0, time.UTC)
	view := func(id, call string, heard time.Time) *projector.View {
		return &projector.View{Identity: projector.Identity{ID: id, Call: call, Heard: heard}}
	}
	for _, c := range []struct {
		later time.Duration
		want  string
	}{{time.Minute, "farm:a mill:b"}, {time.Hour, "mill:a mill:b"}} {
		var got []string
		for _, v := range Merge([]Loops{
			{Source: "farm", Loops: []*projector.View{view("A", "farm:a", at)}},
			{Source: Pool, Loops: []*projector.View{view("A", "mill:a", at.Add(c.later)), view("B", "mill:b", at)}},
		}) {
			got = append(got, v.Call)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("heard of %s later: %s", c.later, text)
		}
	}
}
