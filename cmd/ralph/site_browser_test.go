//go:build browser && unix

package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserSite reads the documentation as a person does, from a disk and below an address.
func TestBrowserSite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	cmd := exec.CommandContext(t.Context(), "go", "run", "./site", "-dir", "..", "-out", out)
	cmd.Dir = "../../tools"
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b := browse(t)
	t.Run("disk", func(t *testing.T) {
		siteIsRead(t, b, "file://"+out+"/")
	})
	t.Run("server", func(t *testing.T) {
		var mu sync.Mutex
		var outside []string
		files := http.StripPrefix("/some/where/", http.FileServer(http.Dir(out)))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/some/where/") {
				mu.Lock()
				outside = append(outside, r.URL.Path)
				mu.Unlock()
			}
			files.ServeHTTP(w, r)
		}))
		defer server.Close()
		siteIsRead(t, b, server.URL+"/some/where/")
		siteIsValid(t, b, server.URL+"/some/where/", out)
		mu.Lock()
		defer mu.Unlock()
		if len(outside) > 0 {
			t.Errorf("the pages ask for %q", outside)
		}
	})
	t.Run("layout", func(t *testing.T) { siteFits(t, b, "file://"+out+"/") })
	t.Run("print", func(t *testing.T) {
		paper := b.open(t, "file://"+out+"/docs/guide/one-page.html")
		defer paper.close()
		if n := pagesOnPaper(t, paper); n != 1 {
			t.Errorf("one-page.md needs %d pages of paper", n)
		}
	})
}

// siteIsRead searches a word, follows what is found by keys, and then a link of the text.
func siteIsRead(t *testing.T, b browser, root string) {
	t.Helper()
	p := b.open(t, root+"index.html")
	defer p.close()
	toSearch(t, p)
	p.types(t, "worktree ports", "")
	p.awaits(t, `document.querySelector("#site-found a")?.textContent.startsWith("What the worktree gets")`)
	p.pictures(t, "site-search")
	p.types(t, "", kb.ArrowDown+kb.Enter)
	p.awaits(t, `location.href.endsWith("docs/guide/worktree.html#what-the-worktree-gets") && document.readyState === "complete"`)
	if at := value[float64](t, p, `document.getElementById("what-the-worktree-gets").getBoundingClientRect().top`); at < 0 || at > 400 {
		t.Errorf("the heading that was found is at %v", at)
	}
	value[any](t, p, `document.querySelector("article a[href*='settings']").click()`)
	p.awaits(t, `location.href.endsWith("docs/reference/settings.html") && document.querySelector("#site-contents [aria-current]")?.textContent === "Settings"`)
	toSearch(t, p)
	p.types(t, "zzzz", "")
	p.awaits(t, `document.querySelector("#site-found p").textContent === "Nothing is found."`)
	p.types(t, "", kb.Escape)
	p.awaits(t, `document.getElementById("site-found").hidden`)
	quiet(t, p)
}

// siteIsValid sees that a browser mends nothing: the tree that it makes of each page is the tree
// that is written there.
func siteIsValid(t *testing.T, b browser, root, out string) {
	t.Helper()
	p := b.open(t, root+"index.html")
	defer p.close()
	err := filepath.WalkDir(out, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".html" {
			return err
		}
		name := strings.TrimPrefix(file, out+"/")
		differs := value[string](t, p, fmt.Sprintf(`(async () => {
			const text = await (await fetch(%q)).text();
			const tree = kind => {
				const names = [];
				const walk = (element, depth) => {
					names.push(depth + element.localName);
					for (const child of element.children) walk(child, depth + 1);
				};
				walk(new DOMParser().parseFromString(text, kind).documentElement, 0);
				return names;
			};
			const mended = tree("text/html"), written = tree("application/xml");
			const at = written.findIndex((name, i) => name !== mended[i]);
			return at < 0 && written.length === mended.length ? "" : written.slice(Math.max(at - 2, 0), at + 2) + " became " + mended.slice(Math.max(at - 2, 0), at + 2);
		})()`, root+name))
		if differs != "" {
			t.Errorf("%s: %s", name, differs)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// toSearch goes to the field of the search by its key, once the page's script has begun.
func toSearch(t *testing.T, p *tab) {
	t.Helper()
	p.awaits(t, `!document.getElementById("site-search").hidden`)
	p.types(t, "", "/")
	p.awaits(t, `document.activeElement.id === "site-query"`)
}

// siteFits looks at pages of each kind on a phone and on a desk, in light and dark.
func siteFits(t *testing.T, b browser, root string) {
	t.Helper()
	p := b.open(t, root+"index.html")
	defer p.close()
	for _, name := range []string{"index", "docs/index", "docs/guide/first-loop", "docs/guide/attach-and-steer", "docs/guide/one-page", "docs/reference/commands", "docs/reference/settings", "docs/decisions/index"} {
		for _, width := range []int64{390, 1280} {
			for _, dark := range []bool{false, true} {
				p.resizes(t, width, 800, width < 500, dark)
				p.visit(t, root+name+".html")
				shown := fmt.Sprintf("%s-%d-%v", strings.ReplaceAll(name, "/", "-"), width, map[bool]string{false: "light", true: "dark"}[dark])
				p.pictures(t, "site-"+shown)
				if wide := value[int](t, p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
					t.Errorf("%s scrolls sideways by %d", shown, wide)
				}
				if ground := value[string](t, p, `getComputedStyle(document.body).backgroundColor`); dark == (ground == "rgb(255, 255, 255)") {
					t.Errorf("%s has the ground %s", shown, ground)
				}
				if small := value[string](t, p, `[...document.querySelectorAll("header a, header input, #site-contents a")].filter(e => e.offsetParent && e.offsetHeight < 40).map(e => e.outerHTML).join()`); width < 500 && small != "" {
					t.Errorf("%s: too small to touch: %.300s", shown, small)
				}
			}
		}
	}
	p.resizes(t, 1280, 800, false, false)
	p.visit(t, root+"index.html")
	if low := value[float64](t, p, `document.querySelector("#first-loop ~ pre").getBoundingClientRect().bottom`); low > 800 {
		t.Errorf("the first loop ends at %v, below the first screen", low)
	}
	quiet(t, p)
}

// pagesOnPaper counts the pages of A4 that a page is printed on.
func pagesOnPaper(t *testing.T, p *tab) int {
	t.Helper()
	printed, err := chromedp.Run(p.ctx, chromedp.Action[page.PrintToPDFResult](func(ctx context.Context, to *chromedp.Target) (page.PrintToPDFResult, error) {
		return cdp.Call(ctx, to, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true)})
	}))
	if err != nil {
		t.Fatal(err)
	}
	return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(printed.Data, -1))
}
