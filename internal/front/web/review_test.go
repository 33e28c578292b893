package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
)

// desk is one whose only item is about a file.
type desk struct {
	acts  []reading.Act
	fails error
}

func (d *desk) List(context.Context, registry.Status) (reading.List, error) {
	patch := "diff --git a/go.mod b/go.mod\nindex 1..2 100644\n--- a/go.mod\n+++ b/go.mod\n@@ -0,0 +1 @@\n+require <b>x</b>\n"
	return reading.New("demo", nil, reading.Parse([]byte(patch)), ""), nil
}

func (d *desk) Act(_ context.Context, _ registry.Status, act reading.Act) (string, error) {
	d.acts = append(d.acts, act)
	return "done", d.fails
}

func TestReviewIsServed(t *testing.T) {
	w, d := newWorld(t), &desk{}
	w.serve(Options{Reviews: d})
	var got struct {
		Items []reading.Item
		Of    int
		Alive bool
		Write bool
		Said  string
	}
	must(t, json.Unmarshal([]byte(w.ask("GET", "/api/loops/demo/review", "", w.bearer()...).body), &got))
	if len(got.Items) != 1 || got.Items[0].File != "go.mod" || got.Of != 1 || !got.Alive || !got.Write {
		t.Errorf("%+v", got)
	}
	post := append(w.bearer(), "Content-Type", "application/json")
	answer := w.ask("POST", "/api/loops/demo/review", `{"do":"approve","item":"3f2a"}`, post...)
	must(t, json.Unmarshal([]byte(answer.body), &got))
	if answer.status != http.StatusOK || got.Said != "done" || len(d.acts) != 1 || d.acts[0] != (reading.Act{Do: reading.Approve, Item: "3f2a"}) {
		t.Errorf("%+v %+v", answer, d.acts)
	}
	if bad := w.ask("POST", "/api/loops/demo/review", `{"merge":1}`, post...); bad.status != http.StatusBadRequest {
		t.Errorf("%+v", bad)
	}
	d.fails = cli.Refuse("read it again", "it has changed")
	if bad := w.ask("POST", "/api/loops/demo/review", `{}`, post...); bad.status != http.StatusConflict || !strings.Contains(bad.body, "read it again") {
		t.Errorf("%+v", bad)
	}
	if page := w.ask("GET", "/loops/demo/report", "", w.bearer()...); !strings.Contains(page.body, "What to read") || strings.Contains(page.body, "require") {
		t.Errorf("%.300s", page.body)
	}
}

// A link that can only read does not decide, nor does a page of another site; and where an agent
// started the server there is no review.
func TestReviewIsGuarded(t *testing.T) {
	w, d := newWorld(t), &desk{}
	w.serve(Options{Reviews: d})
	base, reader := w.browser(w.tokens.ReadOnly)
	writerBase, writer := w.browser(w.tokens.Full)
	body := `{"do":"approve","item":"3f2a"}`
	for name, got := range map[string]answered{
		"a reader":     w.ask("POST", base+"/api/loops/demo/review", body, append(reader, "Content-Type", "application/json")...),
		"another site": w.ask("POST", writerBase+"/api/loops/demo/review", body, append(writer, "Content-Type", "application/json", "Origin", "http://evil.example")...),
	} {
		if got.status != http.StatusForbidden || len(d.acts) > 0 {
			t.Errorf("%s: %+v %+v", name, got, d.acts)
		}
	}
	if page := w.ask("GET", base+"/loops/demo/review", "", reader...); page.status != http.StatusOK || strings.Contains(page.body, `id="approve"`) {
		t.Errorf("%+v", page)
	}
	w.serve(Options{})
	for _, method := range []string{"GET", "POST"} {
		if got := w.ask(method, "/api/loops/demo/review", body, append(w.bearer(), "Content-Type", "application/json")...); got.status != http.StatusForbidden {
			t.Errorf("%s: %+v", method, got)
		}
	}
}
