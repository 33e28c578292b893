//go:build browser && unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// journalOf is the journal as the page shows it.
const journalOf = `[...document.querySelectorAll("#lines pre")].map(e => e.textContent).join("\n")`

func typeShown(name string) string {
	return fmt.Sprintf(`document.querySelector('#lines li[data-type="%s"]')`, name)
}

// The playground plays the core in a browser: a fault leads to its event and to the recovery, and
// the address of the page plays the same run again.
func TestBrowserPlayground(t *testing.T) {
	root := filepath.Join("..", "..")
	if out, err := exec.CommandContext(t.Context(), "make", "-C", root, "playground").CombinedOutput(); err != nil {
		t.Fatalf("make playground: %v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(root, "bin", "site", "playground"))))
	t.Cleanup(server.Close)
	b := browse(t)
	page := b.open(t, server.URL+"/#seed=7")
	page.awaits(t, typeShown("agent.started"))
	t.Log(value[string](t, page, `document.getElementById("size").textContent`))

	t.Run("kill", func(t *testing.T) {
		value[any](t, page, `document.getElementById("speed").value = "60"`)
		value[any](t, page, `document.querySelector("[data-act=kill]").focus()`)
		page.types(t, "", kb.Enter)
		page.awaits(t, `document.getElementById("said").textContent.includes("kill -9")`)
		page.awaits(t, typeShown("loop.resumed"))
		page.awaits(t, `[...document.querySelectorAll("#lines .rule")].some(e => e.textContent.includes("an iteration whose runner died is closed"))`)
		for _, size := range []struct{ width, height int64 }{{390, 844}, {1280, 900}} {
			for _, dark := range []bool{false, true} {
				page.resizes(t, size.width, size.height, size.width < 500, dark)
				if wide := value[int](t, page, "document.documentElement.scrollWidth"); int64(wide) > size.width {
					t.Errorf("at %d pixels the page is %d wide", size.width, wide)
				}
				page.pictures(t, fmt.Sprintf("playground-%d-%t", size.width, dark))
			}
		}
		page.awaits(t, `(list => list.scrollHeight - list.scrollTop - list.clientHeight < 2)(document.getElementById("lines"))`)
		quiet(t, page)
	})

	t.Run("same again", func(t *testing.T) {
		value[any](t, page, `document.getElementById("text").focus()`)
		page.types(t, ", and mind 50 % of the rest.", kb.Enter)
		value[any](t, page, `document.getElementById("speed").value = "600"`)
		page.awaits(t, typeShown("loop.ended"))
		page.awaits(t, `document.querySelector("[data-act=kill]").disabled`)
		before := value[string](t, page, journalOf)
		address := value[string](t, page, "location.href")
		if !strings.Contains(address, ".kill") || !strings.Contains(address, ".steer.") {
			t.Errorf("the address is %s", address)
		}
		again := b.open(t, address)
		again.awaits(t, typeShown("agent.started"))
		value[any](t, again, `document.getElementById("speed").value = "600"`)
		again.awaits(t, `document.querySelector("[data-act=kill]").disabled`)
		if after := value[string](t, again, journalOf); before != after || before == "" {
			t.Errorf("the address plays another run:\n%.3000s\n\nbefore:\n%.3000s", after, before)
		}
		quiet(t, again)
		page.front(t) // no time passes in a tab that is hidden
		value[any](t, page, `document.getElementById("again").click()`)
		page.awaits(t, typeShown("agent.started")+` && !document.querySelector("[data-act=kill]").disabled`)
		if address := value[string](t, page, "location.hash"); address != "#seed=7" {
			t.Errorf("the address of another run is %s", address)
		}
		quiet(t, page)
	})
}
