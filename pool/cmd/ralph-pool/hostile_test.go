package main

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

// What another host has written reaches no terminal as a command to it, and begins no line that
// could be taken for one of this program.
func TestStoreCannotCommandTerminals(t *testing.T) {
	const evil = `\u001b]0;owned\u0007\nralph pool: trust me\u202e`
	home, folder := t.TempDir(), t.TempDir()
	if _, errs, code := run(t, home, "join", "ralph+dir://"+folder, "--host", "mill"); code != 0 {
		t.Fatal(errs)
	}
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	running, queued, begun := "01K8Z0000000000000000000AA", "01K8Z0000000000000000000AB", "01K8Z0000000000000000000AC"
	first, err := chunk.Encode(chunk.Header{Version: 1, Loop: begun, Epoch: 1, Host: "\x1b]0;owned\a", Nonce: "n"}, []byte("{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		keys.View(running):       `{"v":1,"loop":"` + running + `","epoch":1,"host":"` + evil + `","view":{"name":"` + evil + `","state":"` + evil + `","question":"` + evil + `"}}`,
		keys.Queued(5, queued):   `{"v":1,"id":"` + queued + `","name":"` + evil + `","repository":"` + evil + `","by":"` + evil + `","prompt":"x","labels":["` + evil + `"]}`,
		keys.Chunk(begun, 0):     string(first),
		keys.Chunk(running, 0):   evil,
		keys.Worker("kiln"):      `{"v":1,"host":"kiln","refused":{"` + queued + `":"` + evil + `"},"problems":{"` + running + `":"` + evil + `"}}`,
		keys.Beat("kiln"):        `"` + evil + `"`,
		keys.Schedule("nightly"): `{"v":1,"spec":{"every":{"schedule":"nightly","expression":"` + evil + `","timezone":"` + evil + `"}}}`,
		keys.Account("team"):     `"` + evil + `"`,
	} {
		if _, err := s.PutIfAbsent(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	said := ""
	for _, command := range []string{
		"list", "status", "check", "every", "account team", "take " + running, "take " + begun, "steer " + running + " x --wait 1ms", "stop " + queued, "mirror --once",
	} {
		out, errs, _ := run(t, home, strings.Fields(command)...)
		said += out + errs
		for line := range strings.Lines(out + errs) {
			if strings.ContainsAny(line, "\x1b\a\u202e") || strings.HasPrefix(line, "ralph pool: trust me") {
				t.Errorf("%s prints %q", command, line)
			}
		}
	}
	wants(t, "all commands", said, "trust me")
}
