//go:build browser && unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// Loops of other machines are under their host, and are answered, steered and stopped there.
func TestBrowserShowsOtherMachines(t *testing.T) {
	p := newPlace(t)
	q := p.otherHost()
	bin := t.TempDir()
	must := func(path, text string) { p.must(os.WriteFile(path, []byte(text), 0o700)) }
	must(filepath.Join(p.home, "settings.json"), `{"hosts": ["farm"]}`)
	must(filepath.Join(p.home, "pool.json"), "{}")
	must(filepath.Join(bin, "ralph-pool"), `#!/bin/sh
case $1 in
list) cat <<'END'
{"host":"mill","heard":"`+time.Now().Add(-12*time.Minute).UTC().Format(time.RFC3339)+`"}
{"loop":{"id":"01A","name":"parser","state":"running","host":"mill","group":"working","view":{"name":"parser","state":"running","status":"running","alive":true,"project":"/srv/compiler","agent":"claude","iteration":3,"maximumIterations":10,"cost":1.2,"tokensIn":1,"tokensOut":1,"doing":"bash  go test ./...","since":"`+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+`"}}}
{"loop":{"id":"01B","name":"held","state":"paused","host":"mill","group":"needs you","view":{"name":"held","state":"paused","status":"paused","alive":true}}}
{"read":"2026-11-28T01:03:00Z"}
END
until [ -e `+bin+`/moved ]; do sleep 0.1; done
cat <<'END'
{"loop":{"id":"01A","name":"parser","state":"running","host":"kiln","group":"working"}}
{"gone":"01B"}
{"read":"2026-11-28T01:04:00Z"}
END
exec sleep 600 ;;
*) echo "$@" >> `+bin+`/sent; echo "parser has received it, on host mill" ;;
esac
`)
	p.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p.scenario("here", "iteration\n  append work.txt {iteration}\n  promise\n")
	q.scenario("asks", "iteration\n  inbox wait Which schema is right?\niteration\n  append work.txt {iteration}\n  promise\n")
	server := p.web()
	b := browse(t)
	page := b.open(t, server.link)
	page.awaits(t, `[...document.querySelectorAll("h3")].map((h) => h.textContent).join("|").startsWith("farm|mill · last heard of 1")`)
	page.awaits(t, `[...document.querySelectorAll(".card .name")].map((a) => a.textContent).join() === "farm:asks,mill:held,mill:parser,here"`)
	page.pictures(t, "elsewhere-list")
	page.resizes(t, 390, 800, true, true)
	page.awaits(t, `document.documentElement.scrollWidth <= innerWidth && document.querySelector(".card form button[type=submit]").offsetHeight < 60`)
	page.pictures(t, "elsewhere-list-phone")
	value[any](t, page, `document.querySelector(".card textarea").focus()`)
	page.types(t, "the second", "")
	value[any](t, page, `document.querySelector(".card form").requestSubmit()`)
	page.awaits(t, `document.querySelector("section[aria-label=Ended]").innerText.includes("farm:asks")`)

	value[any](t, page, `[...document.querySelectorAll(".card .name")].find((a) => a.textContent === "mill:parser").click()`)
	page.awaits(t, `document.title === "mill:parser: running · ralph" && document.querySelectorAll(".card").length === 1`)
	page.awaits(t, `document.body.innerText.includes("ralph attach mill:parser") && !document.body.innerText.includes("farm:asks")`)
	value[any](t, page, `document.querySelector("form textarea").focus()`)
	page.types(t, "leave the schema", kb.Tab)
	value[any](t, page, `document.querySelector(".card form button[type=submit]").click()`)
	page.awaits(t, `document.getElementById("said").textContent === "Sent to loop mill:parser."`)
	value[any](t, page, `document.querySelector("summary").click()`)
	page.pictures(t, "elsewhere-loop-phone")
	value[any](t, page, `document.querySelector(".stopper .danger").click()`)
	page.awaits(t, `document.getElementById("said").textContent.includes("told to stop")`)
	page.resizes(t, 1280, 800, false, false)
	page.pictures(t, "elsewhere-loop")
	if sent, err := os.ReadFile(filepath.Join(bin, "sent")); err != nil || string(sent) != "steer --wait=20s -- 01A leave the schema\nstop --wait=20s --now -- 01A\n" {
		t.Errorf("sent %q, %v", sent, err)
	}
	reader := b.open(t, server.read)
	reader.awaits(t, `document.querySelectorAll(".card").length === 4`)
	if n := value[int](t, reader, `document.querySelectorAll("textarea").length`); n != 0 {
		t.Errorf("a reader has %d fields", n)
	}
	for _, tab := range []*tab{page, reader} {
		for _, e := range tab.reported() {
			if !strings.Contains(e, "favicon") {
				t.Errorf("the page reports %s", e)
			}
		}
	}
	// A paused loop gets the text, and goes on.
	held := b.open(t, server.link)
	held.awaits(t, `document.querySelectorAll(".card").length === 4`)
	const card = `[...document.querySelectorAll(".card")].find((card) => card.innerText.includes("mill:held"))`
	value[any](t, held, card+`.querySelector("textarea").focus()`)
	held.types(t, "go on", "")
	value[any](t, held, card+`.querySelector("form").requestSubmit()`)
	held.awaits(t, `document.getElementById("said").textContent.includes("mill:held")`)
	if sent, err := os.ReadFile(filepath.Join(bin, "sent")); err != nil || !strings.HasSuffix(string(sent), "steer --wait=20s -- 01B go on\nresume --wait=20s -- 01B\n") {
		t.Errorf("sent %q, %v", sent, err)
	}
	// Its page says where a loop is that another host has taken over, or that it is not listed.
	lost := b.open(t, server.link)
	lost.awaits(t, `document.querySelectorAll(".card").length === 4`)
	value[any](t, lost, `[...document.querySelectorAll(".card .name")].find((a) => a.textContent === "mill:held").click()`)
	lost.awaits(t, `document.querySelectorAll(".card").length === 1 && document.getElementById("gone").hidden`)
	must(filepath.Join(bin, "moved"), "")
	lost.awaits(t, `document.getElementById("gone").innerText === "It is not listed any more."`)
	page.awaits(t, `document.querySelector("#gone a").textContent === "kiln:parser"`)
}
