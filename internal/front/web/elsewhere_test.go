//go:build unix

package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/remote"
)

// A loop of another machine is listed under its host, also one that has the name and the id of a
// loop here. Only who may steer here may steer it.
func TestOtherMachinesAreShown(t *testing.T) {
	w, bin := newWorld(t), t.TempDir()
	must(t, os.WriteFile(filepath.Join(w.home, "pool.json"), []byte("{}"), 0o600))
	must(t, os.WriteFile(filepath.Join(bin, remote.PoolProgram), []byte(`#!/bin/sh
case $1 in
list) cat <<'END'
{"host":"mill","heard":"2026-11-28T01:02:00Z"}
{"loop":{"id":"`+demoID+`","name":"demo","state":"waiting","host":"mill","group":"needs you","view":{"id":"`+demoID+`","name":"demo","state":"waiting","status":"waiting","alive":true,"awaitedQuestion":2,"openQuestions":1,"question":"Which one?","questions":[{"number":1,"text":"Old?","state":"answered"},{"number":2,"text":"Which one?","state":"open","choices":["a","b"]}]}}}
{"read":"2026-11-28T01:03:00Z"}
END
exec sleep 600 ;;
*) printf '%s|' "$@" >> "$RALPH_SENT"; echo "demo has received it, on host mill" ;;
esac
`), 0o700))
	sent := filepath.Join(bin, "sent")
	t.Setenv("RALPH_SENT", sent)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	w.serve(Options{Sources: []string{remote.Pool}})
	t.Cleanup(func() { w.server.distant.Close() })

	page := w.ask("GET", "/loops/mill:"+demoID, "", append(w.bearer(), "Accept", "text/html")...)
	if page.status != http.StatusOK || !strings.Contains(page.body, "<h1>mill:demo</h1>") || !strings.Contains(page.body, `data-shows="mill:`+demoID+`"`) {
		t.Errorf("the page: %d %s", page.status, page.body)
	}
	var list struct {
		Loops []struct {
			ID, Call, Remote, Heard string
			Questions               []struct{ Number int }
		}
	}
	must(t, json.Unmarshal([]byte(w.ask("GET", "/api/loops", "", w.bearer()...).body), &list))
	if len(list.Loops) != 2 {
		t.Fatalf("%+v", list)
	}
	there, here := list.Loops[0], list.Loops[1]
	if there.ID != here.ID || there.Call != "mill:demo" || there.Remote != "mill" || there.Heard != "2026-11-28T01:02:00Z" || here.Remote != "" || here.Call == there.Call {
		t.Errorf("%+v", list)
	}
	if len(there.Questions) != 1 || there.Questions[0].Number != 2 {
		t.Errorf("the questions are %+v", there.Questions)
	}

	commands := "/api/loops/mill:demo/commands"
	base, reader := w.browser(w.tokens.ReadOnly)
	if got := w.ask("POST", base+commands, `{"kind":"stop"}`, append(reader, "Content-Type", "application/json")...); got.status != http.StatusForbidden {
		t.Errorf("a reader: %d %s", got.status, got.body)
	}
	if _, err := os.Stat(sent); err == nil {
		t.Error("a reader's command was sent")
	}
	for body, want := range map[string]string{
		`{"kind":"answer","question":2,"text":"a"}`: "demo has received it, on host mill",
		`{"kind":"kill"}`:  "'ralph kill demo' on host mill",
		`{"kind":"steer"}`: "such as",
	} {
		got := w.ask("POST", commands, body, append(w.bearer(), "Content-Type", "application/json")...)
		if !strings.Contains(got.body, want) || (got.status == http.StatusAccepted) != strings.Contains(body, "answer") {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if text, err := os.ReadFile(sent); err != nil || string(text) != "answer|--wait=20s|--question=2|--|"+demoID+"|a|" {
		t.Errorf("sent %s, %v", text, err)
	}
	for path, want := range map[string]int{"/api/loops/mill:demo": 200, "/api/loops/mill:none": 404, "/api/loops/weir:demo": 404, "/api/loops/mill:demo/entries": 409, "/loops/mill:demo/report": 409} {
		if got := w.ask("GET", path, "", w.bearer()...); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
