//go:build browser && unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// rebound is a name of another site that points to this machine.
const rebound = "rebound.example"

// browser is a running Chromium.
type browser struct{ ctx context.Context }

// tab is one page of it.
type tab struct {
	ctx   context.Context
	close func()

	mu     sync.Mutex
	errors []string // exceptions, and what the browser logged
}

// browse runs a Chromium until the test ends.
func browse(t *testing.T) browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"))
	if program := os.Getenv("CHROMIUM"); program != "" {
		options = append(options, chromedp.ExecPath(program))
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, leave := chromedp.NewContext(allocator, chromedp.WithNewWindow(false)) // tabs hide one another
	t.Cleanup(leave)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("run Chromium ('apt-get install chromium', or CHROMIUM=PATH): %v", err)
	}
	return browser{ctx}
}

// open opens an address in a new tab. Its cookies are those of the other tabs.
func (b browser) open(t *testing.T, address string) *tab {
	t.Helper()
	p := &tab{}
	p.ctx, p.close = chromedp.NewContext(b.ctx, chromedp.WithListener(func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			p.errors = append(p.errors, (&chromedp.ExceptionError{ExceptionDetails: event.ExceptionDetails}).Error())
		case *log.EventEntryAdded:
			p.errors = append(p.errors, event.Entry.Text+" "+event.Entry.URL)
		}
	}))
	if err := chromedp.Do(p.ctx); err != nil {
		t.Fatal(err)
	}
	p.visit(t, address)
	return p
}

// reported is what the page reported as errors so far.
func (p *tab) reported() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

func (p *tab) does(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	within, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(within, actions...); err != nil {
		t.Fatal(err)
	}
}

// sends is a command of the DevTools protocol.
func sends[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, command, params)
		return err
	})
}

// visit opens an address in this tab. A page may lead to another one at once.
func (p *tab) visit(t *testing.T, address string) {
	t.Helper()
	p.does(t, sends(page.Navigate, page.NavigateParams{URL: address}))
	p.awaits(t, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// script is a JavaScript expression, which may be a promise.
func script[T any](expression string) chromedp.Action[T] {
	return chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.UserGesture = new(true) })
}

// value returns the value of a JavaScript expression.
func value[T any](t *testing.T, p *tab, expression string) T {
	t.Helper()
	within, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	got, err := chromedp.Run(within, script[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// awaits waits until a JavaScript expression is true. The page itself looks again and again, as it
// has no event for this. If it is replaced, the next one looks.
func (p *tab) awaits(t *testing.T, condition string) {
	t.Helper()
	within, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	looks := fmt.Sprintf("new Promise(done => { const look = () => { try { if (%s) return done() } catch {} setTimeout(look, 20) }; look() })", condition)
	for {
		_, err := chromedp.Run(within, script[chromedp.Void](looks))
		var wrong *chromedp.ExceptionError
		switch {
		case err == nil:
			return
		case within.Err() != nil || errors.As(err, &wrong):
			text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
			t.Fatalf("%s never became true (%v); the page:\n%.3000s\nits errors: %q", condition, err, text, p.reported())
		}
	}
}

// front shows this tab: the others are hidden, as a page can notice.
func (p *tab) front(t *testing.T) {
	t.Helper()
	p.does(t, sends(page.BringToFront, cdp.Empty{}))
}

// resizes gives the page a size in CSS pixels. A phone has a touch screen, and two dots for each
// pixel.
func (p *tab) resizes(t *testing.T, width, height int64, phone, dark bool) {
	t.Helper()
	var like []chromedp.EmulateViewportOption
	if phone {
		like = append(like, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2))
	}
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	p.does(t, chromedp.EmulateViewport(width, height, like...), sends(emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// types types text where the focus is, and then presses keys.
func (p *tab) types(t *testing.T, text, keys string) {
	t.Helper()
	p.does(t, sends(input.InsertText, input.InsertTextParams{Text: text}), chromedp.KeyEvent(keys))
}

// pictures writes what the page shows to a PNG file in the folder that SCREENSHOTS names, if any.
func (p *tab) pictures(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}
