package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/reading"
	"github.com/ralph-loop/ralph/render/report"
)

// A report begins with what to read. It has the lines of survivors, and none of files.
func TestReportBeginsWithReading(t *testing.T) {
	strength := &event.Strength{
		Survivors: []event.Mutant{{File: "cart.go", Line: 2, Operator: "changed constant", Was: "return 2", Now: "return 3"}},
		Facts:     []event.GamingFact{{Kind: event.FactTestsSkipped, File: "cart_test.go", Line: 9, Text: "a <b>test</b> is skipped"}},
	}
	patch := "diff --git a/go.mod b/go.mod\nindex 1..2 100644\n--- a/go.mod\n+++ b/go.mod\n@@ -0,0 +1 @@\n+hidden line\n"
	list := reading.New("night", strength, reading.Parse([]byte(patch)), "")
	dir := folder(t, overspent())
	r, err := report.Read(dir, report.Options{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	r.Judge(report.Facts{Reading: &list})
	var page, text bytes.Buffer
	if err := report.HTML(&page, r, dir, report.PageOptions{Location: time.UTC}); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&text, r, time.UTC); err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	order := []string{"What to read", "cart.go:2", "return 3", "test.go:9", "go.mod", "dependencies", "Needs a person"}
	for name, all := range map[string]string{"page": page.String(), "text": text.String()} {
		rest := all
		for _, want := range order {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("the %s has no %q in its place", name, want)
				break
			}
			rest = after
		}
		if strings.Contains(all, "hidden line") || strings.Contains(all, "<b>test") && name == "page" {
			t.Errorf("the %s has the lines of a file, or text that is not escaped", name)
		}
	}
	if !strings.Contains(string(object), `"reading":{"items":[{`) || strings.Contains(string(object), "hidden line") {
		t.Errorf("%.300s", object)
	}

	unknown := reading.New("night", nil, nil, "there is no repository")
	if r, err = report.Read(dir, report.Options{}); err != nil {
		t.Fatal(err)
	}
	r.Judge(report.Facts{Reading: &unknown})
	if err := report.Markdown(&text, r, time.UTC); err != nil || !strings.Contains(text.String(), "Which files changed is not known: there is no repository.") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// No name of a file ends the code around it.
func TestCodeHasAnyQuotes(t *testing.T) {
	for name, want := range map[string]string{"go.mod": "`ralph diff night go.mod`", "`b`.go": "`` ralph diff night '`b`.go' ``", "``.go": "``` ralph diff night '``.go' ```"} {
		list := reading.New("night", nil, reading.Parse([]byte("diff --git a/"+name+" b/"+name+"\nindex 1..2 100644\n@@ -0,0 +1 @@\n+x\n")), "")
		r, err := report.Read(folder(t, overspent()), report.Options{Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		r.Judge(report.Facts{Reading: &list})
		var text bytes.Buffer
		if err := report.Markdown(&text, r, time.UTC); err != nil || !strings.Contains(text.String(), "\n  "+want+"\n") {
			t.Errorf("%s: %v\n%.600s", name, err, text.String())
		}
	}
}
