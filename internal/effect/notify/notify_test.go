package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

func message() Message {
	return Message{
		ID: "01JD000000000000000000000A", Occasion: Question, Loop: "demo", LoopID: "01JD000000000000000000000B", Project: os.TempDir(), Host: "mill",
		At: time.Date(2026, 11, 26, 1, 2, 3, 0, time.UTC), Title: "ralph: demo asks\nBcc: eve@example.org", Text: "Größe?\n.\na · b", Next: "ralph answer demo 1 …", Choices: []string{"a", "b"},
	}
}

// A taken request is what a server got.
type taken struct {
	path   string
	header http.Header
	body   []byte
}

func server(t *testing.T, answer func(http.ResponseWriter, *http.Request)) (address string, got *[]taken) {
	t.Helper()
	got = &[]taken{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = append(*got, taken{r.URL.Path, r.Header, body})
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestWebhookIsSigned checks the signature with the formula of the Standard Webhooks.
func TestWebhookIsSigned(t *testing.T) {
	for name, key := range map[string]struct{ text, raw string }{
		"plain":  {"a key", "a key"},
		"base64": {"whsec_" + base64.StdEncoding.EncodeToString([]byte("raw key")), "raw key"},
	} {
		t.Run(name, func(t *testing.T) {
			address, got := server(t, status(204))
			c := config.Notification{Kind: config.NotifyWebhook, URL: address + "/hook", Secret: "HOOK_KEY"}
			if err := Send(t.Context(), c, message(), []string{"HOOK_KEY=" + key.text}); err != nil {
				t.Fatal(err)
			}
			r := (*got)[0]
			mac := hmac.New(sha256.New, []byte(key.raw))
			mac.Write([]byte(r.header.Get("webhook-id") + "." + r.header.Get("webhook-timestamp") + "." + string(r.body)))
			if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.header.Get("webhook-signature") != want {
				t.Errorf("the signature is %s, want %s", r.header.Get("webhook-signature"), want)
			}
			var e cloudEvent
			if err := json.Unmarshal(r.body, &e); err != nil {
				t.Fatal(err)
			}
			if e.SpecVersion != "1.0" || e.Type != "io.github.ralph-loop.notification.question" || e.Data.Text != message().Text || e.ID != message().ID {
				t.Errorf("the event is %+v", e)
			}
		})
	}
}

// TestNtfyTakesMessage shows that the topic comes from the address, and that any text is possible.
func TestNtfyTakesMessage(t *testing.T) {
	address, got := server(t, status(200))
	c := config.Notification{Kind: config.NotifyNtfy, URL: address + "/below/my-topic", Secret: "NTFY_TOKEN"}
	if err := Send(t.Context(), c, message(), []string{"NTFY_TOKEN=tk_1"}); err != nil {
		t.Fatal(err)
	}
	r := (*got)[0]
	var body struct {
		Topic, Title, Message string
		Priority              int
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatal(err)
	}
	if r.path != "/below/" || r.header.Get("Authorization") != "Bearer tk_1" || body.Topic != "my-topic" || body.Priority != 4 || !strings.HasPrefix(body.Message, "Größe?") || !strings.HasSuffix(body.Message, "ralph answer demo 1 …") {
		t.Errorf("%s got %v: %+v", r.path, r.header, body)
	}
}

// TestAnswersDecideAboutTries shows which answers are final, and that no redirect is followed.
func TestAnswersDecideAboutTries(t *testing.T) {
	elsewhere, asked := server(t, status(200))
	for code, final := range map[int]bool{500: false, 503: false, 429: false, 408: false, 400: true, 401: true, 404: true, 307: true} {
		address, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere)
			w.WriteHeader(code)
		})
		err := Send(t.Context(), config.Notification{Kind: config.NotifyWebhook, URL: address + "/secret-path"}, message(), nil)
		if err == nil || Final(err) != final {
			t.Errorf("%d: %v, final %v; want %v", code, err, Final(err), final)
		}
		if err != nil && strings.Contains(err.Error(), "secret-path") {
			t.Errorf("the error has the address: %v", err)
		}
	}
	if len(*asked) > 0 {
		t.Error("a redirect was followed")
	}
	err := Send(t.Context(), config.Notification{Kind: config.NotifyWebhook, URL: "http://127.0.0.1:1/secret-path"}, message(), nil)
	if err == nil || Final(err) || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("nothing listens: %v", err)
	}
	err = Send(t.Context(), config.Notification{Kind: config.NotifyWebhook, URL: elsewhere, Secret: "MISSING"}, message(), nil)
	if !Final(err) || !strings.Contains(err.Error(), "MISSING is not set") {
		t.Errorf("without the secret: %v", err)
	}
}

// scripted puts a program on PATH that writes its arguments and its input to a file.
func scripted(t *testing.T, name, more string) (env []string, file string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "got")
	script := "#!/bin/sh\n{ for a in \"$@\"; do echo \"<$a>\"; done; cat; } > '" + file + "'\n" + more
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	path := dir + string(filepath.ListSeparator) + os.Getenv("PATH")
	t.Setenv("PATH", path)
	return append(os.Environ(), "PATH="+path), file
}

func read(t *testing.T, file string) string { t.Helper(); return string(testfile.Read(t, file)) }

// TestMailHasNoOtherHeader shows that no text begins another header, and that a dot alone on a line
// does not end the mail.
func TestMailHasNoOtherHeader(t *testing.T) {
	env, file := scripted(t, "sendmail", "")
	if err := Send(t.Context(), config.Notification{Kind: config.NotifyMail, To: "ada@mill.example\nCc: x@y"}, message(), env); err != nil {
		t.Fatal(err)
	}
	got := read(t, file)
	head, body, _ := strings.Cut(got, "\n\n")
	for _, line := range strings.Split(head, "\n") {
		if strings.HasPrefix(line, "Bcc") || strings.HasPrefix(line, "Cc") {
			t.Errorf("there is the header %q", line)
		}
	}
	if !strings.HasPrefix(got, "<-t>\n<-i>\nTo: ada@mill.example Cc: x@y\nSubject: ralph: demo asks Bcc: eve@example.org\n") || body != message().body()+"\n" {
		t.Errorf("the mail is %s", got)
	}
}

// TestProgramsGetMessage runs the programs of the desktop and of a command, one that fails and one
// that hangs.
func TestProgramsGetMessage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program has another name here")
	}
	env, file := scripted(t, "notify-send", "")
	m := message()
	m.Title = "--help"
	if err := Send(t.Context(), config.Notification{Kind: config.NotifyDesktop}, m, env); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); !strings.HasPrefix(got, "<--urgency=critical>\n<--app-name=ralph>\n<-->\n<--help>\n<Größe?") {
		t.Errorf("notify-send got %s", got)
	}
	command := config.Notification{Kind: config.NotifyCommand, Command: `{ echo "$RALPH_NOTIFY_OCCASION"; cat; } > '` + file + `'`}
	if err := Send(t.Context(), command, message(), env); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); !strings.HasPrefix(got, "question\n{\"id\":\"01JD") || !strings.Contains(got, `"choices":["a","b"]`) {
		t.Errorf("the command got %s", got)
	}
	command.Command = "echo no route >&2; exit 75"
	if err := Send(t.Context(), command, message(), env); err == nil || Final(err) || !strings.Contains(err.Error(), "no route") {
		t.Errorf("a failure: %v", err)
	}
}

// TestChannelsAreShownWithoutSecrets shows that the topic of ntfy and the path of a webhook are not
// in the journal.
func TestChannelsAreShownWithoutSecrets(t *testing.T) {
	for want, c := range map[string]config.Notification{
		"ntfy ntfy.example":     {Kind: "ntfy", URL: "https://u:p@ntfy.example/my-topic"},
		"webhook hooks.example": {Kind: "webhook", URL: "https://hooks.example/T0/B0/key?x=y"},
		"mail ada@mill.example": {Kind: "mail", To: "ada@mill.example"},
		"command":               {Kind: "command", Command: "curl -H 'Authorization: key'"},
	} {
		if got := Shown(c); got != want {
			t.Errorf("it is shown as %q, want %q", got, want)
		}
	}
	if !Wants(config.Notification{}, Stuck) || Wants(config.Notification{On: []string{"ended"}}, Stuck) || !Wants(config.Notification{On: []string{"ended"}}, Test) {
		t.Error("a channel takes the wrong occasions")
	}
}
