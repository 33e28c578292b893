//go:build unix

package remote

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestSplit(t *testing.T) {
	for word, want := range map[string][2]string{
		"farm:demo":           {"farm", "demo"},
		"me@farm.org:shop/l3": {"me@farm.org", "shop/l3"},
		"farm:/srv/.ralph/l3": {"farm", "/srv/.ralph/l3"},
		"farm:":               {"farm", ""},
		"demo":                {},
		":demo":               {},
		"./a:b":               {},
		"/srv/a:b":            {},
		"shop/a:b":            {},
		`C:\loops\demo`:       {},
		"C:/loops/demo":       {},
	} {
		host, loop, ok := Split(word)
		if host != want[0] || loop != want[1] || ok != (want[0] != "") {
			t.Errorf("%s: %q, %q, %v", word, host, loop, ok)
		}
	}
}

func TestCheckRefusesHostileNames(t *testing.T) {
	for _, name := range [][2]string{
		{"-oProxyCommand=id", "demo"}, {"me@-oProxyCommand=id", "demo"}, {"-l", "demo"}, {"a b", "demo"}, {"farm;id", "demo"}, {"$(id)", "demo"},
		{"farm\n", "demo"}, {"`id`", "demo"}, {strings.Repeat("a", 256), "demo"}, {"farm", "-h"}, {"farm", "--project=/"}, {"farm", "-x/demo"}, {"farm", "Demo"}, {"farm", ""},
	} {
		if Check(name[0], name[1]) == nil {
			t.Errorf("%q is let through", name)
		}
	}
	for _, name := range [][2]string{{"farm", "demo"}, {"me@farm.example.org", "shop/demo"}, {"10.0.0.1", "/srv/p/.ralph/demo"}, {"f", "1"}} {
		if err := Check(name[0], name[1]); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestInText(t *testing.T) {
	for word, want := range map[string]bool{
		"farm:demo": true, "me@farm:shop/demo": true,
		"12:30": false, "main.go:12": false, "https://example.org": false, "note:": false, "TODO:": false, "a:B": false, "'x':y": false, "demo": false,
	} {
		if InText(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}

// Every shell that a person may have there has to read the words as they are here.
func TestQuoteInShells(t *testing.T) {
	words := []string{"plain", "", "two words", "it's", `"$HOME" $(id) ` + "`id`", `back\slash\\`, `\`, `\'`, "line\nbreak\n", "-oX", "*?[a]", "~", "a;b|c&d", "#x", "!!", "値段", "\x01\x7f"}
	var line []string
	for _, word := range words {
		line = append(line, quote(word))
	}
	tried := 0
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "fish", "ksh"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		tried++
		// What is printed ends each word with a NUL, as no word can have one.
		out, err := exec.Command(shell, "-c", `printf '%s\0' `+strings.Join(line, " ")).CombinedOutput()
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%s: %v\n%q\n%q", shell, err, got, words)
		}
	}
	if tried == 0 {
		t.Error("no shell was tried")
	}
}

func TestFaultsNameCause(t *testing.T) {
	for messages, want := range map[string]struct {
		cause   string
		passing bool
	}{
		"No ED25519 host key is known for farm and you have requested strict checking.\nHost key verification failed.\n": {"its host key is not known here", false},
		"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n":                          {"its host key is another one than before", false},
		"me@farm: Permission denied (publickey).\n":                                                                      {"it refuses the login", false},
		"ssh: Could not resolve hostname farm: Name or service not known\n":                                              {"there is no host of that name", true},
		"ssh: connect to host farm port 22: No route to host\n":                                                          {"there is no way to it", true},
		"ssh: connect to host farm port 22: Connection timed out\n":                                                      {"it does not answer", true},
		"ControlSocket /x already exists, disabling multiplexing\n":                                                      {"the connection ended", true},
		"ssh: something new\r\n": {"something new", true},
		"":                       {"the connection ended", true},
	} {
		f := faultOf("farm", sshFailed, messages)
		if f.cause != want.cause || f.passing != want.passing || !strings.HasPrefix(f.Error(), "farm: ") || strings.Contains(f.Hint(), "HOST") || f.Hint() == "" {
			t.Errorf("%q: %+v", messages, f)
		}
	}
}

// What a host says of its loops is shown by the screens here, and must not reach the terminal.
func TestListHasNoEscapes(t *testing.T) {
	loops, err := loopsOf("farm", []byte(`[{"name":"a\u001b]0;x\u0007","state":"\u001b[2Jrunning","status":"\u009b2J","pending":"\u001bc","question":"one\ntwo\u001b[31m","seq":12}]`))
	if err != nil {
		t.Fatal(err)
	}
	v := loops[0]
	for _, text := range []string{v.Name, v.Call, v.State, string(v.Status), v.Pending, v.Question} {
		if strings.ContainsAny(text, "\x1b\x07\u009b") {
			t.Errorf("%q", text)
		}
	}
	if v.State != "running" || v.Question != "one\ntwo" || v.Seq != 12 || v.Remote != "farm" {
		t.Errorf("%+v", v)
	}
}

// A host that never ends its answer does not keep a person waiting.
func TestEndlessAnswerIsCut(t *testing.T) {
	h := other(t, "exec cat /dev/zero")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := h.output(ctx, true, "list"); err == nil || !strings.Contains(err.Error(), "printed more than") || ctx.Err() != nil {
		t.Error(err, ctx.Err())
	}
}

// other is a host that is reached by a program that is not OpenSSH: it prints what a shell does.
func other(t *testing.T, script string) *Host {
	t.Helper()
	program := filepath.Join(t.TempDir(), "reach")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$1\" = -G ] && exit 1\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := Connect(&cli.Env{Environ: append(os.Environ(), CommandVariable+"="+program)}, "farm")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// slow takes its time for the first piece, as a pager does.
type slow struct{ got int }

func (s *slow) Write(text []byte) (int, error) {
	if s.got == 0 {
		time.Sleep(leftOpen + leftOpen/2)
	}
	s.got += len(text)
	return len(text), nil
}

// A reader that is behind when the connection ends misses nothing.
func TestSlowReaderGetsAll(t *testing.T) {
	h := other(t, "head -c 60000 /dev/zero")
	var to slow
	code, err := h.do(t.Context(), call{args: []string{"logs"}, stdout: &to, stderr: &limited{}})
	if code != 0 || err != nil || to.got != 60000 {
		t.Errorf("%d, %v: %d bytes", code, err, to.got)
	}
}

// A loop that took the name while the connection was lost is not printed as if it were the first.
func TestFollowerKnowsItsLoop(t *testing.T) {
	for id, want := range map[string]string{"A": "", "B": "loop farm:demo is another one now"} {
		begun := filepath.Join(t.TempDir(), "begun")
		h := other(t, `case "$*" in
*status*) echo '{"id":"`+id+`"}';;
*) [ -e `+begun+` ] && printf %s '`+numbered("6")+`' && exit 0
   touch `+begun+`; printf %s '`+numbered("5")+`'; exit 255;;
esac`)
		h.env.Stderr = io.Discard
		f := &follower{host: h, loop: "demo", here: "farm:demo", id: "A"}
		var shown []event.Seq
		err := f.news(t.Context())(func(e event.Event) error { shown = append(shown, e.Seq); return nil }, func() error { return nil })
		switch {
		case want == "" && (err != nil || !slices.Equal(shown, []event.Seq{5, 6})):
			t.Errorf("the same loop: %v, %v", shown, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || len(shown) != 1):
			t.Errorf("another loop: %v, %v", shown, err)
		}
	}
}

// A connection that is lost while the past is read is followed by another one, which begins after
// the last event.
func TestPastContinuesAfterLoss(t *testing.T) {
	for _, first := range []string{"", numbered("5 6")} {
		begun := filepath.Join(t.TempDir(), "begun")
		h := other(t, `case "$*" in
*status*) echo '{"id":"A"}'; exit;;
esac
[ -e `+begun+` ] || { touch `+begun+`; printf %s '`+first+`'; exit 255; }
case "$*" in
*--follow*) exit 9;;
*"--from 7"*) printf %s '`+numbered("7 8")+`';;
*"--lines 4"*) printf %s '`+numbered("5 6 7 8")+`';;
esac`)
		h.env.Stderr = io.Discard
		f := &follower{host: h, loop: "demo", here: "farm:demo", id: "A"}
		var shown []event.Seq
		err := f.past(t.Context(), 4)(func(e event.Event) error { shown = append(shown, e.Seq); return nil }, func() error { return nil })
		if err != nil || !slices.Equal(shown, []event.Seq{5, 6, 7, 8}) {
			t.Errorf("lost after %d bytes: %v, %v", len(first), shown, err)
		}
	}
}

// follow feeds a follower with what comes on several connections, cut anywhere.
func follow(t *testing.T, connections ...string) (shown []event.Seq, err error) {
	t.Helper()
	f := &follower{host: &Host{Name: "farm", env: &cli.Env{}}, here: "farm:demo", giveUp: func() {}, flush: func() error { return nil }}
	f.show = func(e event.Event) error { shown = append(shown, e.Seq); return nil }
	for _, text := range connections {
		f.rest = nil
		for piece := range slices.Chunk([]byte(text), 7) {
			if _, err := f.Write(bytes.Clone(piece)); err != nil {
				return shown, err
			}
		}
	}
	return shown, nil
}

const eventLine = `{"v":1,"seq":SEQ,"id":"01M8FRGACYCDPAZ9H6GFVH9JTZ","at":"2026-11-28T00:22:26.974431Z","iter":1,"by":"loop","type":"agent.noticed","data":{"what":"begun"},"crc":"2ef60674"}` + "\n"

func numbered(seqs string) string {
	var b strings.Builder
	for seq := range strings.FieldsSeq(seqs) {
		b.WriteString(strings.Replace(eventLine, "SEQ", seq, 1))
	}
	return b.String()
}

func TestFollowerJoinsConnections(t *testing.T) {
	whole := numbered("5 6 7 8 9")
	for cut := range len(whole) {
		// The next connection begins with the event after the last complete line, or before it.
		first := strings.Count(whole[:cut], "\n")
		for from := range first + 1 {
			again := strings.SplitAfter(whole, "\n")[from:]
			shown, err := follow(t, whole[:cut], strings.Join(again, ""))
			if err != nil || !slices.Equal(shown, []event.Seq{5, 6, 7, 8, 9}) {
				t.Fatalf("cut at %d, again from line %d: %v, %v", cut, from, shown, err)
			}
		}
	}
	if shown, err := follow(t, numbered("5 6"), numbered("8")); err == nil || !strings.Contains(err.Error(), "events 7 to 7 are missing") {
		t.Errorf("a gap: %v, %v", shown, err)
	}
	if _, err := follow(t, "Welcome to farm!\n"); err == nil || !strings.Contains(err.Error(), "what its host sends is no event") {
		t.Errorf("another program's output: %v", err)
	}
}
