package web

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// paths are addresses of every kind.
var paths = []string{"/", "/loops/demo", "/static/page.css", "/api/loops", "/api/loops/demo", "/api/loops/demo/events", "/api/loops/demo/entries", "/api/loops/demo/live", "/none"}

func TestStrangersGetNothing(t *testing.T) {
	w := newWorld(t)
	base, headers := w.browser(w.tokens.Full)
	other, _ := w.browser(w.tokens.ReadOnly)
	for name, headers := range map[string][]string{
		"without a token":        nil,
		"with a wrong token":     {"Authorization", "Bearer " + newToken()},
		"with an empty token":    {"Authorization", "Bearer "},
		"with a cookie alone":    headers[:2],
		"with the token as name": {"Cookie", "ralph=" + w.tokens.Full},
		"with the token in text": {"Accept", "text/html"},
	} {
		for _, path := range paths {
			got := w.ask("GET", path, "", headers...)
			if got.status != http.StatusUnauthorized || strings.Contains(got.body, "mill") || strings.Contains(got.body, "demo") {
				t.Errorf("%s: GET %s: %d %s", name, path, got.status, got.body)
			}
		}
	}
	for _, path := range []string{base + "/", other + "/", base + "x/", "/" + base + "/", "/?token=" + newToken(), "/?token=" + w.tokens.Full + "x"} {
		if got := w.ask("GET", path, ""); got.status != http.StatusUnauthorized {
			t.Errorf("GET %s without a cookie: %d", path, got.status)
		}
	}
	if got := w.ask("GET", other+"/", "", headers...); got.status != http.StatusUnauthorized {
		t.Errorf("one visitor's cookie opens the other's pages: %d", got.status)
	}
	if got := w.ask("POST", "/?token="+w.tokens.Full, ""); got.status != http.StatusUnauthorized {
		t.Errorf("a link lets a POST in: %d", got.status)
	}
}

func TestLinkBecomesCookie(t *testing.T) {
	w := newWorld(t)
	got := w.ask("GET", "/loops/demo?token="+w.tokens.Full, "")
	cookie := got.header.Get("Set-Cookie")
	to := got.header.Get("Location")
	base, _, _ := strings.Cut(to[1:], "/")
	for _, want := range []string{"Path=/" + base + "/;", "HttpOnly", "SameSite=Strict"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %s: %s", want, cookie)
		}
	}
	if strings.Contains(cookie, w.tokens.Full) || strings.Contains(to, w.tokens.Full) {
		t.Errorf("the token is in %s or %s", cookie, to)
	}
	value, _, _ := strings.Cut(cookie, ";")
	if page := w.ask("GET", to, "", "Cookie", value); page.status != http.StatusOK || !strings.Contains(page.body, `data-id="`+demoID) {
		t.Errorf("GET %s: %d %s", to, page.status, page.body)
	}
	again := w.ask("GET", "/"+base+"/loops/demo?token="+w.tokens.ReadOnly, "")
	if to := again.header.Get("Location"); strings.Contains(to, base) || !strings.HasSuffix(to, "/loops/demo") {
		t.Errorf("the other link leads to %s", to)
	}
	// A strict cookie is not sent with a redirect from another site.
	step := w.ask("GET", "/?token="+w.tokens.Full, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if step.status != http.StatusOK || !strings.Contains(step.body, `url=/`+base+`/"`) || step.header.Get("Set-Cookie") == "" {
		t.Errorf("a link on another site: %d %s", step.status, step.body)
	}
}

func TestOtherNamesAreRefused(t *testing.T) {
	w := newWorld(t)
	at, err := url.Parse(w.http.URL)
	must(t, err)
	port := at.Port()
	for host, want := range map[string]int{
		"127.0.0.1:" + port: http.StatusOK, "localhost:" + port: http.StatusOK, "LOCALHOST:" + port: http.StatusOK, "[::1]:" + port: http.StatusOK,
		"127.0.0.1": 421, "localhost": 421, "127.0.0.1:1": 421, "evil.example:" + port: 421, "localhost.evil.example:" + port: 421,
		"10.0.0.1:" + port: 421, "127.0.0.1:" + port + ".evil.example": 421, "mill.example": 421,
	} {
		if got := w.ask("GET", "/api/loops", "", append(w.bearer(), "Host", host)...); got.status != want {
			t.Errorf("host %q: %d, want %d", host, got.status, want)
		}
	}
	public, err := ParsePublic("https://Mill.example")
	must(t, err)
	w.serve(Options{Public: public})
	if got := w.ask("GET", "/?token="+w.tokens.Full, "", "Host", "mill.example"); got.status != http.StatusSeeOther || !strings.Contains(got.header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("by the public URL: %d %v", got.status, got.header)
	}
	origin := func(o string) int {
		return w.ask("GET", "/api/loops", "", append(w.bearer(), "Host", "mill.example", "Origin", o)...).status
	}
	if a, b := origin("https://mill.example"), origin("http://mill.example"); a != http.StatusOK || b != http.StatusForbidden {
		t.Errorf("origins of the public URL: %d, %d", a, b)
	}
}

func TestOtherPagesAreRefused(t *testing.T) {
	w := newWorld(t)
	base, headers := w.browser(w.tokens.Full)
	cookie := headers[:2]
	other := "http://127.0.0.1:1"
	own := w.http.URL
	const steer = `{"kind":"steer","text":"hello"}`
	for _, c := range []struct {
		name, method, path, body string
		want                     int
		headers                  []string
	}{
		{"own page reads", "GET", "/api/loops", "", 200, []string{"Sec-Fetch-Site", "same-origin"}},
		{"own page writes", "POST", "/api/loops/demo/commands", steer, 202, []string{"Sec-Fetch-Site", "same-origin", "Origin", own}},
		{"typed address", "GET", "/", "", 200, []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}},
		{"link on another page", "GET", "/", "", 200, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}},
		{"fetch of another port", "GET", "/api/loops", "", 403, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}},
		{"image of another site", "GET", "/", "", 403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}},
		{"frame of another site", "GET", "/", "", 403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}},
		{"stream of another port", "GET", "/api/loops/demo/events", "", 403, []string{"Origin", other}},
		{"fetch POST of another port", "POST", "/api/loops/demo/commands", steer, 403, []string{"Sec-Fetch-Site", "same-site", "Origin", other}},
		{"form of another site", "POST", "/api/loops/demo/commands", steer, 403, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}},
		{"POST of an old browser", "POST", "/api/loops/demo/commands", steer, 403, []string{"Origin", other}},
		{"POST without an origin", "POST", "/api/loops/demo/commands", steer, 403, nil},
		{"POST of a null origin", "POST", "/api/loops/demo/commands", steer, 403, []string{"Origin", "null"}},
		{"POST of a plain form", "POST", "/api/loops/demo/commands", steer, 415, []string{"Sec-Fetch-Site", "same-origin", "Origin", own, "Content-Type", "text/plain"}},
	} {
		h := slices.Concat(cookie, []string{"Content-Type", "application/json"}, c.headers)
		if got := w.ask(c.method, base+c.path, c.body, h...); got.status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, got.status, c.want, got.body)
		}
	}
	got := w.ask("GET", base+"/", "", cookie...)
	for header, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Content-Security-Policy": policy,
	} {
		if got.header.Get(header) != want {
			t.Errorf("%s is %q", header, got.header.Get(header))
		}
	}
	for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
}

func TestReadOnlyVisitorsOnlyRead(t *testing.T) {
	w := newWorld(t)
	base, headers := w.browser(w.tokens.ReadOnly)
	const steer = `{"kind":"steer","text":"hello"}`
	if got := w.ask("GET", base+"/api/loops", "", headers...); got.status != http.StatusOK || !strings.Contains(got.body, `"write":false`) {
		t.Errorf("read: %d %s", got.status, got.body)
	}
	headers = append(headers, "Content-Type", "application/json")
	if got := w.ask("POST", base+"/api/loops/demo/commands", steer, headers...); got.status != http.StatusForbidden {
		t.Errorf("write: %d %s", got.status, got.body)
	}
	if got := w.ask("POST", base+"/api/loops/demo/resume", `{"iterations":10}`, headers...); got.status != http.StatusForbidden {
		t.Errorf("resume: %d %s", got.status, got.body)
	}
	if page := w.ask("GET", base+"/loops/demo", "", headers...); strings.Contains(page.body, "<form") {
		t.Error("the page has a form")
	}
	w.serve(Options{ReadOnly: true})
	if got := w.ask("GET", "/?token="+w.tokens.Full, ""); got.status != http.StatusUnauthorized {
		t.Errorf("a server that only reads takes the full token: %d", got.status)
	}
}

func TestTokensStay(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	first, err := LoadTokens(home, false)
	must(t, err)
	again, err := LoadTokens(home, false)
	if err != nil || again != first || first.Full == first.ReadOnly || len(first.Full) < 43 {
		t.Fatalf("%+v, then %+v, %v", first, again, err)
	}
	path := filepath.Join(home, TokenFile)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	fresh, err := LoadTokens(home, true)
	if err != nil || fresh.Full == first.Full || fresh.ReadOnly == first.ReadOnly {
		t.Errorf("new tokens: %+v, %v", fresh, err)
	}
	if runtime.GOOS != "windows" {
		must(t, os.Chmod(path, 0o644))
		if _, err := LoadTokens(home, false); err == nil || !strings.Contains(err.Error(), "other users") {
			t.Errorf("a file for everyone: %v", err)
		}
	}
	for _, text := range []string{"", "{}", `{"token":"a","readOnly":"b"}`, `{"token":"` + first.Full + `","readOnly":"` + first.Full + `"}`} {
		must(t, os.Remove(path))
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := LoadTokens(home, false); err == nil {
			t.Errorf("%q gives %+v", text, got)
		}
	}
}

func TestListen(t *testing.T) {
	on, usual, err := Listen("", 0)
	must(t, err)
	defer on.Close()
	more, second, err := Listen("", 0)
	must(t, err)
	defer more.Close()
	// Another program may hold the usual port, and release it between the two calls.
	first, next := on.Addr().String(), more.Addr().String()
	if usual != strings.HasSuffix(first, ":4747") || second != strings.HasSuffix(next, ":4747") || usual && second {
		t.Errorf("%s, %v, then %s, %v", first, usual, next, second)
	}
	for address, want := range map[string]bool{"": true, "localhost": true, "127.0.0.9": true, "::1": true, "0.0.0.0": false, "::": false, "192.168.1.2": false, "mill": false} {
		if IsLoopback(address) != want {
			t.Errorf("%q", address)
		}
	}
	for text, want := range map[string]string{
		"https://mill.example": "mill.example", "https://mill.example:443/": "mill.example", "http://mill:8080": "mill:8080",
		"mill.example": "", "ftp://mill": "", "https://mill/x": "", "https://a@mill": "", "https://mill?x": "", "https://": "",
	} {
		u, err := ParsePublic(text)
		if want == "" && err == nil || want != "" && (err != nil || u.Host != want) {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
}
