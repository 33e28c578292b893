//go:build browser && unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// webServer is a running 'ralph web'.
type webServer struct {
	p    *place
	port string
	cmd  *exec.Cmd
	link string // that may send commands
	read string // that may only read
}

// web starts a server on a port of its own.
func (p *place) web() *webServer {
	p.Helper()
	on, err := net.Listen("tcp", "127.0.0.1:0")
	p.must(err)
	_, port, _ := net.SplitHostPort(on.Addr().String())
	p.must(on.Close())
	s := &webServer{p: p, port: port}
	s.start()
	p.Cleanup(s.kill)
	return s
}

func (s *webServer) start() {
	s.p.Helper()
	s.cmd = s.p.command("web", "--port", s.port)
	out, err := s.cmd.StdoutPipe()
	s.p.must(err)
	s.p.must(s.cmd.Start())
	lines := bufio.NewReader(out)
	for _, link := range []*string{&s.link, &s.read} {
		line, err := lines.ReadString('\n')
		s.p.must(err)
		*link, _, _ = strings.Cut(strings.TrimSpace(line), " ")
	}
}

func (s *webServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// talker is a scenario with something of everything, which then answers what it is steered with.
const talker = `iteration
  think I look at the files before I change one.
  say I look at the tests first, then I change **parse.go**.
  plan - [x] read the tests / - [~] change the parser / - [ ] run the tests
  tool read {"file_path":"parse.go"} 5ms -> ok: package parse
  tool grep {"pattern":"func Parse"} 5ms -> ok: parse.go:12
  tool bash {"command":"make test"} 5ms -> error: FAIL: TestParse, <img src=x onerror="document.title='stolen'">
  write hello.txt <<END
  Hello, <script>document.title = "stolen"</script> & a line that is long enough to be wrapped on a telephone, which is narrow.
  END
  use in=1200 out=300 usd=0.012
iteration
  say The second iteration.
  steered -> say I heard: {steer}
  steered -> run echo {steer}
  silence
`

// entriesOf is what a page shows: each entry's key and text, without what depends on the time.
const entriesOf = `[...document.querySelectorAll("#entries article")].map(e => e.id + " " + e.innerText.replace(/\s+/g, " ")).join("\n")`

func quiet(t *testing.T, page *tab) {
	t.Helper()
	if errs := page.reported(); len(errs) > 0 {
		t.Errorf("the page reports errors: %q", errs)
	}
}

func TestBrowser(t *testing.T) {
	p := newPlace(t)
	p.must(os.WriteFile(filepath.Join(p.dir, "talk.rehearsal"), []byte(talker), 0o600))
	p.fine("start", "demo", "--detach", "-p", "Make the parser count.", "-a", "ralph rehearse talk.rehearsal", "--set", "restart.delay=1ms")
	server := p.web()
	b := browse(t)
	page := b.open(t, server.link)

	t.Run("attach", func(t *testing.T) {
		page.awaits(t, `document.querySelector(".card .name")?.textContent === "demo"`)
		if href := value[string](t, page, "location.href"); strings.Contains(href, "token") {
			t.Errorf("the token is in %s", href)
		}
		value[any](t, page, `document.querySelector(".card .name").click()`)
		page.awaits(t, `document.querySelector("#entries")?.innerText.includes("The second iteration.")`)
		page.awaits(t, `document.getElementById("connection").textContent === "live" && document.getElementById("state").textContent === "running"`)
		facts := value[string](t, page, `document.getElementById("facts").innerText.replace(/\s+/g, " ")`)
		if !strings.Contains(facts, "iteration 2 of") || !strings.Contains(facts, "$0.01") {
			t.Errorf("the header says %q", facts)
		}
		if title := value[string](t, page, "document.title"); !strings.HasPrefix(title, "demo: running") {
			t.Errorf("foreign text ran: %q", title)
		}
		quiet(t, page)
	})

	t.Run("steer", func(t *testing.T) {
		value[any](t, page, `document.getElementById("text").focus()`)
		page.types(t, "leave the schema alone", kb.Enter)
		page.awaits(t, `document.querySelector("#entries").innerText.includes("I heard: leave the schema alone")`)
		page.awaits(t, `/delivered/.test(document.querySelector("#entries .message")?.innerText)`)
		if n := value[int](t, page, `document.querySelectorAll("#entries .message, #entries .sent").length`); n != 1 {
			t.Errorf("%d messages are shown", n)
		}
		quiet(t, page)
	})

	t.Run("reconnect", func(t *testing.T) {
		server.kill()
		page.awaits(t, `document.getElementById("connection").textContent !== "live"`)
		for n := range 3 {
			p.fine("steer", "--loop", "demo", "--wait", "10s", fmt.Sprintf("word%d", n))
		}
		page.awaits(t, `document.getElementById("connection").textContent === "the server is gone"`)
		server.start()
		page.awaits(t, `document.getElementById("connection").textContent === "live"`)
		page.awaits(t, `document.querySelector("#entries").innerText.includes("I heard: word2")`)
		p.fine("steer", "--loop", "demo", "--wait", "10s", "after")
		page.awaits(t, `document.querySelector("#entries").innerText.includes("I heard: after")`)
		fresh := b.open(t, value[string](t, page, "location.href"))
		fresh.awaits(t, `document.querySelector("#entries")?.innerText.includes("I heard: after")`)
		fresh.awaits(t, fmt.Sprintf("%s === %q", entriesOf, value[string](t, page, entriesOf)))
		fresh.close()
	})

	t.Run("hostile pages", func(t *testing.T) {
		base := "http://127.0.0.1:" + server.port + value[string](t, page, "document.body.dataset.base")
		before := p.fine("logs", "demo", "--json", "--type", "command.received")
		attack(t, b, base)
		if after := p.fine("logs", "demo", "--json", "--type", "command.received"); after != before {
			t.Errorf("a hostile page sent a command: %s", strings.TrimPrefix(after, before))
		}
	})

	t.Run("reading only", func(t *testing.T) {
		reader := b.open(t, server.read)
		reader.awaits(t, `document.querySelector(".card .name")`)
		value[any](t, reader, `document.querySelector(".card .name").click()`)
		reader.awaits(t, `document.querySelector("#entries")?.innerText.includes("I heard: after")`)
		if value[bool](t, reader, `Boolean(document.querySelector("form"))`) {
			t.Error("the page has a form")
		}
		status := value[int](t, reader, `fetch(document.body.dataset.base + "/api/loops/demo/commands",
			{method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({kind: "stop"})}).then(r => r.status)`)
		if status != http.StatusForbidden {
			t.Errorf("a command is answered by %d", status)
		}
		reader.close()
	})

	t.Run("hidden", func(t *testing.T) { hidden(t, p, b, page) })
	t.Run("layout", func(t *testing.T) { layout(t, page) })

	t.Run("stop", func(t *testing.T) {
		value[any](t, page, `document.querySelector("[data-kind=stop]").click()`)
		page.awaits(t, `document.getElementById("stop").open`)
		value[any](t, page, `document.querySelector("#stop [value=stop-now]").click()`)
		page.awaits(t, `document.getElementById("state").textContent === "stopped"`)
		page.awaits(t, `document.getElementById("form").hidden`)
		page.pictures(t, "ended")
		place := value[string](t, page, "location.href")
		for n, shows := range []string{"Report of a loop", "hello.txt", "What went wrong"} {
			page.awaits(t, `document.getElementById("links")?.checkVisibility()`)
			value[any](t, page, fmt.Sprintf(`document.querySelectorAll("#links a")[%d].click()`, n))
			page.awaits(t, fmt.Sprintf(`document.querySelector("h1")?.innerText !== "demo" && document.body.innerText.includes(%q)`, shows))
			for _, width := range []int64{390, 1280} {
				page.resizes(t, width, 800, width < 500, width < 500)
				page.pictures(t, fmt.Sprintf("ended-%d-%d", n, width))
				if wide := value[int](t, page, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
					t.Errorf("%s scrolls sideways by %d", shows, wide)
				}
			}
			value[any](t, page, fmt.Sprintf("location.href = %q", place))
			page.awaits(t, `document.getElementById("connection")?.textContent === "live"`)
		}
	})

	t.Run("continue", func(t *testing.T) {
		value[any](t, page, `document.getElementById("continue").click()`)
		page.pictures(t, "continue")
		value[any](t, page, `document.getElementById("iterations").value = "7"`)
		value[any](t, page, `document.querySelector("#more button[value=continue]").click()`)
		page.awaits(t, `document.getElementById("said").textContent.includes("continues")`)
		if out := p.fine("logs", "demo", "--json", "--type", "loop.resumed"); !strings.Contains(out, `"maximumIterations":8`) { // one was used: the other was refunded
			t.Errorf("the loop was resumed with %s", out)
		}
	})

	t.Run("answer", func(t *testing.T) { answer(t, p, b, server) })
	t.Run("questions", func(t *testing.T) { questions(t, p, b, server) })
	t.Run("fast agent", func(t *testing.T) { fast(t, p, b, server) })
	t.Run("history", func(t *testing.T) { history(t, p, b, server) })
}

// attack visits a page of another server of this machine, which knows even the path of the cookie.
func attack(t *testing.T, b browser, base string) {
	t.Helper()
	var mu sync.Mutex
	var cookies string
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		cookies += r.Header.Get("Cookie")
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/form" {
			fmt.Fprintf(w, `<form id=f method=post enctype=text/plain action="%s/api/loops/demo/commands"><input name='{"kind":"stop-now","text":"' value='"}'></form><script>f.submit()</script>`, base)
			return
		}
		fmt.Fprint(w, "<!doctype html><title>hostile</title>")
	}))
	defer hostile.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		address := strings.Replace(hostile.URL, "127.0.0.1", host, 1)
		page := b.open(t, address)
		got := value[map[string]string](t, page, fmt.Sprintf(`(async () => {
			const base = %q, body = JSON.stringify({kind: "stop-now"}), got = {};
			const tries = (name, promise) => promise.then(text => (got[name] = String(text)), () => (got[name] = "refused"));
			const read = (path, options) => fetch(base + path, {credentials: "include", ...options}).then(r => r.type === "opaque" ? "refused" : r.text());
			const element = (name, key, path) => new Promise((yes, no) => {
				const made = document.createElement(name);
				made.onload = () => yes("loaded"), made.onerror = no;
				made[key] = base + path;
				document.body.append(made);
			});
			await tries("read", read("/api/loops"));
			await tries("read opaque", read("/api/loops", {mode: "no-cors"}));
			await tries("JSON", read("/api/loops/demo/commands", {method: "POST", body, headers: {"Content-Type": "application/json"}}));
			await tries("text", read("/api/loops/demo/commands", {method: "POST", body, mode: "no-cors", headers: {"Content-Type": "text/plain"}}));
			await tries("image", element("img", "src", "/static/icon.svg"));
			await tries("script", element("script", "src", "/static/api.js"));
			await tries("stream", new Promise((yes, no) => {
				const source = new EventSource(base + "/api/loops/demo/events", {withCredentials: true});
				source.onmessage = event => yes(event.data), source.onerror = () => (source.close(), no());
			}));
			const frame = document.createElement("iframe");
			frame.src = base + "/";
			const framed = new Promise(done => (frame.onload = done));
			document.body.append(frame);
			await framed;
			try { got.frame = frame.contentDocument ? "refused" : "refused"; got.frame = frame.contentWindow.document.body.innerText; } catch { got.frame = "refused"; }
			return got;
		})()`, base))
		if len(got) != 8 {
			t.Errorf("from %s: %v", address, got)
		}
		for name, text := range got {
			if text != "refused" {
				t.Errorf("from %s, %s gets %.200q", address, name, text)
			}
		}
		page.visit(t, address+"/form")
		page.awaits(t, fmt.Sprintf(`location.href.startsWith(%q)`, base))
		page.awaits(t, `document.body.innerText.includes("another site's page caused this request")`)
		page.close()
	}
	page := b.open(t, strings.Replace(base, "127.0.0.1", rebound, 1)+"/api/loops")
	page.awaits(t, `document.body.innerText.includes("this server has another name")`)
	page.close()
	mu.Lock()
	defer mu.Unlock()
	if cookies != "" {
		t.Errorf("another server of this machine got %q", cookies)
	}
}

// hidden sees that a page without a viewer leaves its connection to others, and misses nothing.
func hidden(t *testing.T, p *place, b browser, page *tab) {
	t.Helper()
	other := b.open(t, "about:blank#other")
	page.awaits(t, `document.hidden`)
	p.fine("steer", "--loop", "demo", "--wait", "10s", "unseen")
	other.close()
	page.front(t)
	page.awaits(t, `!document.hidden && document.querySelector("#entries").innerText.includes("I heard: unseen")`)
	page.awaits(t, `document.getElementById("connection").textContent === "live"`)
}

// layout checks both pages on screens from a narrow phone to a wide desktop.
func layout(t *testing.T, page *tab) {
	t.Helper()
	loop := value[string](t, page, "location.href")
	to, err := url.Parse(loop)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.TrimSuffix(loop, to.Path) + strings.Split(to.Path, "loops/")[0]
	for _, address := range []string{list, loop} {
		for _, width := range []int64{360, 390, 430, 1280} {
			for _, dark := range []bool{false, true} {
				page.resizes(t, width, 800, width < 500, dark)
				page.visit(t, address)
				page.awaits(t, `document.getElementById("connection").textContent === "live" && (document.querySelector(".card") || document.querySelector("#entries article"))`)
				name := fmt.Sprintf("%s-%d-%v", map[string]string{list: "list", loop: "loop"}[address], width, map[bool]string{false: "light", true: "dark"}[dark])
				page.pictures(t, name)
				if wide := value[int](t, page, `Math.max(...[document.documentElement, document.querySelector("main")].map(e => e.scrollWidth - e.clientWidth))`); wide > 0 {
					t.Errorf("%s scrolls sideways by %d", name, wide)
				}
				small := value[string](t, page, `[...document.querySelectorAll("button, textarea, .back, fieldset label")].filter(e => e.offsetParent && e.offsetHeight < 44).map(e => e.outerHTML).join()`)
				if small != "" {
					t.Errorf("%s: too small to touch: %s", name, small)
				}
				if address == loop {
					value[any](t, page, `document.getElementById("conversation").scrollTop = 0`)
					page.pictures(t, name+"-top")
					if low := value[float64](t, page, `document.querySelector(".composer").getBoundingClientRect().bottom`); low != 800 {
						t.Errorf("%s: the input ends at %v", name, low)
					}
				}
			}
		}
	}
	page.resizes(t, 1280, 800, false, false)
	page.visit(t, loop)
	page.awaits(t, `document.getElementById("connection").textContent === "live"`)
}

const asker = `iteration
  say I cannot decide this alone.
  run ralph wait 'SQLite or PostgreSQL?'
iteration *
  say Thank you.
  silence
`

const curious = `iteration
  say I need two decisions.
  run ralph ask 'Postgres or <b>SQLite</b>?' --choice postgres --choice '<i>sqlite</i>' --blocks
  run ralph ask 'Tabs or spaces?'
  write schema.sql begun
  promise
iteration *
  say Thank you.
  silence
`

// questions answers a question by a button and another one by typing, on a phone.
func questions(t *testing.T, p *place, b browser, server *webServer) {
	t.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, "curious.rehearsal"), []byte(curious), 0o600))
	p.fine("start", "curious", "--detach", "-p", "Choose.", "-a", "ralph rehearse curious.rehearsal", "--allow-shared-worktree")
	page := server.follow(t, b, "curious")
	page.resizes(t, 390, 800, true, false)
	page.awaits(t, `document.querySelectorAll("#questions form").length === 2 && document.getElementById("state").textContent.startsWith("waiting")`)
	if text := value[string](t, page, `document.querySelector("#questions form").innerText`); !strings.Contains(text, "Postgres or <b>SQLite</b>?") || !strings.Contains(text, "<i>sqlite</i>") {
		t.Errorf("the question is %q", text)
	}
	page.pictures(t, "questions-390")
	if small := value[string](t, page, `[...document.querySelectorAll("#questions :is(button, input)")].filter(e => e.offsetHeight < 44).map(e => e.outerHTML).join()`); small != "" {
		t.Errorf("too small to touch: %s", small)
	}
	if below := value[bool](t, page, `[...document.querySelectorAll("#entries .choices li")].every((e, i, all) => !i || e.parentNode !== all[i - 1].parentNode || e.offsetTop > all[i - 1].offsetTop)`); !below {
		t.Error("choices stand beside one another")
	}
	if cut := value[bool](t, page, `[...document.querySelectorAll("#questions form")].some(e => e.scrollHeight > e.clientHeight)`); cut {
		t.Error("a question is cut off")
	}
	value[any](t, page, `document.querySelector("#questions form[data-number='2'] input").focus()`)
	page.types(t, "Tabs, of course", "")
	value[any](t, page, `document.querySelectorAll("#questions form[data-number='1'] .choices button")[1].click()`)
	page.awaits(t, `document.querySelectorAll("#questions form").length === 1`)
	if kept := value[string](t, page, `document.querySelector("#questions input").value`); kept != "Tabs, of course" {
		t.Errorf("what was typed is %q", kept)
	}
	page.types(t, "", kb.Enter)
	page.awaits(t, `document.querySelectorAll("#questions form").length === 0`)
	page.awaits(t, `document.querySelector("#entries").innerText.includes("Thank you.")`)
	if answers := p.fine("logs", "curious", "--json", "--type", "question.answered"); strings.Count(answers, "\n") != 2 || !strings.Contains(answers, `<i>sqlite</i>`) || !strings.Contains(answers, "Tabs, of course") {
		t.Errorf("the answers are %s", answers)
	}
	p.fine("stop", "curious", "--now")
	quiet(t, page)
	page.close()
}

// answer answers a question in the list, and sees that the loop continues with it.
func answer(t *testing.T, p *place, b browser, server *webServer) {
	t.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, "ask.rehearsal"), []byte(asker), 0o600))
	p.fine("start", "schema", "--detach", "-p", "Choose.", "-a", "ralph rehearse ask.rehearsal", "--allow-shared-worktree")
	page := b.open(t, server.link)
	page.awaits(t, `document.querySelector("section .asks")?.textContent.startsWith("SQLite or PostgreSQL?")`)
	page.resizes(t, 390, 800, true, false)
	page.pictures(t, "question-390")
	value[any](t, page, `document.querySelector(".answer textarea").focus()`)
	page.types(t, "SQLite, please", kb.Tab+kb.Enter)
	page.awaits(t, `!document.querySelector(".answer")`)
	prompt := p.fine("logs", "schema", "--json", "--type", "iteration.started", "--iteration", "2")
	if !strings.Contains(prompt, "SQLite, please") {
		t.Errorf("the answer is not in the prompt: %s", prompt)
	}
	p.fine("kill", "schema")
	page.close()
}

// follow opens the page of a loop from the list.
func (s *webServer) follow(t *testing.T, b browser, loop string) *tab {
	t.Helper()
	page := b.open(t, s.link)
	page.awaits(t, fmt.Sprintf(`[...document.querySelectorAll(".card .name")].some(e => e.textContent === %q)`, loop))
	value[any](t, page, fmt.Sprintf(`[...document.querySelectorAll(".card .name")].find(e => e.textContent === %q).click()`, loop))
	page.awaits(t, `document.querySelector("#entries article") && document.getElementById("connection").textContent === "live"`)
	return page
}

// fast follows an agent that prints faster than any browser shows: the page skips what is far
// behind, leaves what its person reads in place, and takes a command.
func fast(t *testing.T, p *place, b browser, server *webServer) {
	t.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, "fast.rehearsal"), []byte("iteration\n  say hello\n  talk\n"), 0o600))
	p.fine("start", "fast", "--detach", "-p", "Talk.", "-a", "ralph rehearse fast.rehearsal", "--allow-shared-worktree")
	page := server.follow(t, b, "fast")
	page.awaits(t, `document.querySelector("#entries").innerHTML.length > 100000`)
	page.awaits(t, `(document.getElementById("conversation").scrollTop = 500, document.getElementById("connection").textContent.includes("far ahead"))`)
	value[any](t, page, `document.getElementById("text").focus()`)
	page.types(t, "/stop now", kb.Enter)
	page.awaits(t, `document.getElementById("state").textContent === "stopped"`)
	// The page may fall behind again before it reads the end, and then shows the button again.
	page.awaits(t, `(document.getElementById("newest").hidden || document.getElementById("newest").click(), document.querySelector("#entries .end")) && document.getElementById("connection").textContent === "live"`)
	if n := value[int](t, page, `document.querySelectorAll("#entries article").length`); n > 500 {
		t.Errorf("the page has %d entries", n)
	}
	page.close()
}

// history scrolls a long conversation to its beginning.
func history(t *testing.T, p *place, b browser, server *webServer) {
	t.Helper()
	const said = 1200
	var scenario strings.Builder
	scenario.WriteString("iteration\n")
	for n := range said {
		fmt.Fprintf(&scenario, "  say Line %d.\n", n)
	}
	scenario.WriteString("  silence\n")
	p.must(os.WriteFile(filepath.Join(p.dir, "long.rehearsal"), []byte(scenario.String()), 0o600))
	p.fine("start", "long", "--detach", "-p", "Talk.", "-a", "ralph rehearse long.rehearsal", "--allow-shared-worktree")
	page := server.follow(t, b, "long")
	page.awaits(t, fmt.Sprintf(`document.querySelector("#entries")?.innerText.includes("Line %d.")`, said-1))
	if value[bool](t, page, `document.querySelector("#entries").innerText.includes("Line 0.")`) {
		t.Error("the page has all of the conversation at once")
	}
	page.awaits(t, `(document.getElementById("conversation").scrollTop = 0, document.querySelector("#entries").innerText.includes("Line 0."))`)
	lines := value[string](t, page, `[...document.querySelectorAll("#entries .words")].map(e => e.innerText.match(/Line (\d+)\./)[1]).join()`)
	var want []string
	for n := range said {
		want = append(want, fmt.Sprint(n))
	}
	if lines != strings.Join(want, ",") {
		t.Errorf("the lines are %.300s", lines)
	}
	p.fine("kill", "long")
	page.close()
}
