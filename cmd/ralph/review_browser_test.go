//go:build browser && unix

package main

import (
	"os"
	"strings"
	"testing"
)

// A person goes through the work of a loop in the browser: approves, puts a file back, sends words.
func TestBrowserReview(t *testing.T) {
	p := newPlace(t)
	p.reviewed()
	server := p.web()
	b := browse(t)
	page := b.open(t, server.link)
	page.awaits(t, `document.querySelector(".card .name")?.textContent === "demo"`)
	value[any](t, page, `document.querySelector(".card .name").click()`)
	page.awaits(t, `[...document.querySelectorAll(".bar a")].some((a) => a.textContent === "Review")`)
	value[any](t, page, `[...document.querySelectorAll(".bar a")].find((a) => a.textContent === "Review").click()`)
	shows := func(place, progress string) {
		t.Helper()
		page.awaits(t, `document.getElementById("place")?.textContent.startsWith("`+place+`") && document.getElementById("progress").textContent.startsWith("`+progress+`")`)
	}
	shows("go.mod", "reviewed 0 of 3")
	for _, size := range []struct {
		name          string
		width, height int64
		phone, dark   bool
	}{{"review-desktop", 1280, 800, false, false}, {"review-phone", 390, 844, true, true}} {
		page.resizes(t, size.width, size.height, size.phone, size.dark)
		page.pictures(t, size.name)
		if wide := value[bool](t, page, `document.documentElement.scrollWidth > innerWidth`); wide {
			t.Errorf("%s is wider than its window", size.name)
		}
		if small := value[int](t, page, `[...document.querySelectorAll("#actions button")].filter((b) => !b.hidden && b.getBoundingClientRect().height < 44).length`); small > 0 {
			t.Errorf("%s: %d buttons are too small for a finger", size.name, small)
		}
	}
	value[any](t, page, `document.getElementById("roll").click(), document.querySelector("#file button[value=roll]").click()`)
	shows("cart.go", "reviewed 1 of 3")
	if text, err := os.ReadFile(p.dir + "/go.mod"); err != nil || string(text) != "module shop\n" {
		t.Errorf("go.mod is %q: %v", text, err)
	}
	if said := value[string](t, page, `document.getElementById("notice").textContent`); !strings.Contains(said, "brings back all files") {
		t.Errorf("it says %q", said)
	}
	page.pictures(t, "review-rolled-back")
	if bold := value[int](t, page, `document.querySelectorAll("#diff b").length`); bold > 0 {
		t.Error("foreign text is markup")
	}
	page.types(t, "", "n")
	shows("1 other file", "reviewed 1 of 3")
	page.types(t, "", "a")
	shows("cart.go", "reviewed 2 of 3")
	value[any](t, page, `document.getElementById("send").click(), document.getElementById("words").value = "Round to cents.", document.querySelector("#back button[value=send]").click()`)
	page.awaits(t, `document.getElementById("progress").textContent.startsWith("reviewed")`)
	p.until("the loop to have the words", func() bool { return strings.Contains(p.fine("logs", "demo"), "Round to cents.") })
	p.until("the loop to end again", func() bool { return p.dead("demo") })
	quiet(t, page)

	reader := b.open(t, server.read)
	reader.awaits(t, `document.querySelector(".card .name")?.textContent === "demo"`)
	value[any](t, reader, `location.href = document.querySelector(".card .name").href + "/review"`)
	reader.awaits(t, `document.getElementById("place")?.textContent.length > 0`)
	if acts := value[int](t, reader, `document.querySelectorAll("#approve, #send, #roll").length`); acts > 0 {
		t.Errorf("a reader has %d buttons that decide", acts)
	}
	quiet(t, reader)
}
