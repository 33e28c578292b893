//go:build unix

package browsertest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// patience is how long a page may take to become what a test waits for.
const patience = 20 * time.Second

// Rebound is a name of another site that points to this machine.
const Rebound = "rebound.example"

// names are the programs that are looked for, in this order.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Browser is a running Chromium.
type Browser struct {
	t  testing.TB
	to *os.File

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	events  map[string]func(params json.RawMessage) // by session and method
	gone    chan struct{}
}

type reply struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Start runs a browser until the test ends. A machine without Chromium fails the test.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Fatalf("none of %s is on PATH: install it, such as by 'apt-get install chromium', or set CHROMIUM", strings.Join(names, ", "))
	}
	fromTest, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Processes of the browser may still write there when they are killed.
	data, err := os.MkdirTemp("", "ralph-browser-")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + data, "--no-first-run", "--no-default-browser-check",
		"--disable-gpu", "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-dev-shm-usage",
		"--host-resolver-rules=MAP " + Rebound + " 127.0.0.1", "--hide-scrollbars", "--mute-audio", "about:blank",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium's sandbox refuses to run for root
	}
	cmd := exec.Command(program, args...)
	cmd.ExtraFiles = []*os.File{fromTest, toTest}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = fromTest.Close(), toTest.Close()
	b := &Browser{t: t, to: to, waiting: map[int]chan reply{}, events: map[string]func(json.RawMessage){}, gone: make(chan struct{})}
	go b.listen(from)
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		_, _ = to.Close(), from.Close()
		_ = os.RemoveAll(data)
		if t.Failed() && stderr.Len() > 0 {
			t.Logf("chromium: %.2000s", stderr.String())
		}
	})
	return b
}

// listen passes on what the browser sends.
func (b *Browser) listen(from *os.File) {
	defer close(b.gone)
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(text[:len(text)-1], &r) != nil {
			continue
		}
		b.mu.Lock()
		answer, event := b.waiting[r.ID], b.events[r.SessionID+r.Method]
		delete(b.waiting, r.ID)
		b.mu.Unlock()
		if r.ID != 0 && answer != nil {
			answer <- r
		} else if event != nil {
			event(r.Params)
		}
	}
}

var errGone = errors.New("the browser has ended")

// call sends a command to the browser, or to a page of it, and waits for the answer.
func (b *Browser) call(session, method string, params, result any) error {
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.last++
	message := map[string]any{"id": b.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	b.waiting[b.last] = answer
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.Result, result)
	case <-b.gone:
		return errGone
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

// Page is one tab.
type Page struct {
	b       *Browser
	session string

	mu     sync.Mutex
	errors []string // exceptions and errors that the page reported
}

// Open opens an address in a new tab. Its cookies are those of the other tabs.
func (b *Browser) Open(t testing.TB, address string) *Page {
	t.Helper()
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	err := b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	if err == nil {
		err = b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{b: b, session: attached.SessionID}
	b.mu.Lock()
	b.events[p.session+"Runtime.exceptionThrown"] = p.note
	b.events[p.session+"Log.entryAdded"] = p.note
	b.mu.Unlock()
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable"} {
		if err := b.call(p.session, domain, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	p.Go(t, address)
	return p
}

func (p *Page) note(params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, string(params))
}

// Errors returns the exceptions, and the messages of the browser, of this page so far.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.errors...)
}

// Go opens an address in this tab.
func (p *Page) Go(t testing.TB, address string) {
	t.Helper()
	if err := p.b.call(p.session, "Page.navigate", map[string]any{"url": address}, nil); err != nil {
		t.Fatal(err)
	}
	p.Await(t, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// Eval returns the value of a JavaScript expression, which may be a promise.
func Eval[T any](t testing.TB, p *Page, expression string) (value T) {
	t.Helper()
	if err := p.eval(expression, &value); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (p *Page) eval(expression string, value any) error {
	var got struct {
		Result struct {
			Value       json.RawMessage
			Description string
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := p.b.call(p.session, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &got)
	switch {
	case err != nil:
		return err
	case got.ExceptionDetails != nil:
		return errors.New(got.ExceptionDetails.Text + " " + got.ExceptionDetails.Exception.Description)
	case len(got.Result.Value) == 0 || value == nil:
		return nil
	}
	return json.Unmarshal(got.Result.Value, value)
}

// Await waits until a JavaScript expression is true.
func (p *Page) Await(t testing.TB, condition string) {
	t.Helper()
	var holds bool
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		// A page that is being replaced has no answer.
		if err = p.eval("Boolean("+condition+")", &holds); err == nil && holds {
			return
		}
		if errors.Is(err, errGone) {
			break
		}
		time.Sleep(20 * time.Millisecond) // polling a page, which has no event for this
	}
	var text string
	_ = p.eval(`location.href + "\n" + document.body.innerText`, &text)
	t.Fatalf("%s never became true (%v); the page:\n%.3000s\nits errors: %q", condition, err, text, p.Errors())
}

// Resize gives the page a size in CSS pixels. A phone has a touch screen, and two dots for each
// pixel.
func (p *Page) Resize(t testing.TB, width, height int, phone, dark bool) {
	t.Helper()
	scale, scheme := 1, "light"
	if phone {
		scale = 2
	}
	if dark {
		scheme = "dark"
	}
	err := p.b.call(p.session, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}, nil)
	if err == nil {
		err = p.b.call(p.session, "Emulation.setTouchEmulationEnabled", map[string]any{"enabled": phone}, nil)
	}
	if err == nil {
		err = p.b.call(p.session, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Type types text where the focus is.
func (p *Page) Type(t testing.TB, text string) {
	t.Helper()
	if err := p.b.call(p.session, "Input.insertText", map[string]any{"text": text}, nil); err != nil {
		t.Fatal(err)
	}
}

// Press presses and releases a key, such as Enter; alt holds the Alt key meanwhile.
func (p *Page) Press(t testing.TB, key string, alt bool) {
	t.Helper()
	held := 0
	if alt {
		held = 1
	}
	codes := map[string]int{"Enter": 13, "Tab": 9, "Escape": 27}
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": held}
		if key == "Enter" && kind == "keyDown" {
			event["text"] = "\r"
		}
		if err := p.b.call(p.session, "Input.dispatchKeyEvent", event, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Screenshot writes what the page shows to a PNG file in the folder that SCREENSHOTS names, if it
// names one.
func (p *Page) Screenshot(t testing.TB, name string) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	var shot struct{ Data string }
	if err := p.b.call(p.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		t.Fatal(err)
	}
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = safefile.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Front shows this tab: the others are hidden, as a page can notice.
func (p *Page) Front(t testing.TB) {
	t.Helper()
	if err := p.b.call(p.session, "Page.bringToFront", nil, nil); err != nil {
		t.Fatal(err)
	}
}

// Close closes the tab.
func (p *Page) Close(t testing.TB) {
	t.Helper()
	if err := p.b.call(p.session, "Page.close", nil, nil); err != nil {
		t.Fatal(err)
	}
}
