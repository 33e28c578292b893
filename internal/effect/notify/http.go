package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 10

// client follows no redirect: a message goes where the settings say.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// post sends a request. An answer of 2xx is success; one of 4xx is final, but for those that mean
// later.
func post(ctx context.Context, address string, body []byte, headers map[string]string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return final("the address is not valid")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := client.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok { // it names the address
			err = failed.Err
		}
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // so that the connection can be used again
	_ = answer.Body.Close()
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return fmt.Errorf("the answer is %s", answer.Status)
	default:
		return final("the answer is %s", answer.Status)
	}
}

// urgent are the occasions that wait for a person.
var urgent = map[Occasion]bool{Question: true, Waiting: true}

// ntfyPriority is that of an urgent message; 3 is usual, 5 the highest.
const ntfyPriority = 4

// sendNtfy publishes the message as JSON, in which every text is possible; headers take ASCII alone
// (the documentation of ntfy, "Publish as JSON"). The topic is the last part of the address.
func sendNtfy(ctx context.Context, c config.Notification, m Message, env []string) error {
	token, err := secret(c, env)
	if err != nil {
		return err
	}
	at, err := url.Parse(c.URL)
	if err != nil {
		return final("the address is not valid")
	}
	path := strings.TrimSuffix(at.Path, "/")
	slash := strings.LastIndexByte(path, '/')
	topic := path[slash+1:]
	if topic == "" {
		return final("the address has no topic")
	}
	at.Path = path[:slash+1]
	body := map[string]any{"topic": topic, "title": m.Title, "message": m.body(), "tags": []string{"ralph", string(m.Occasion)}}
	if urgent[m.Occasion] {
		body["priority"] = ntfyPriority
	}
	if m.Reply != "" {
		body["message"] = m.body() + "\nAny other answer: publish it to " + m.Reply
		body["actions"] = actions(m)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	headers := map[string]string{"Content-Type": "application/json"}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	return post(ctx, at.String(), text, headers)
}

// cloudEvent is a message as a CloudEvent 1.0 in the structured mode.
type cloudEvent struct {
	SpecVersion string    `json:"specversion"`
	ID          string    `json:"id"`
	Source      string    `json:"source"`
	Type        string    `json:"type"`
	Subject     string    `json:"subject"`
	Time        time.Time `json:"time"`
	ContentType string    `json:"datacontenttype"`
	Data        Message   `json:"data"`
}

// sendWebhook posts a CloudEvent. With a secret it is signed as the Standard Webhooks say: an
// HMAC-SHA256 of id, time and body, in webhook-signature.
func sendWebhook(ctx context.Context, c config.Notification, m Message, env []string) error {
	key, err := secret(c, env)
	if err != nil {
		return err
	}
	body, err := json.Marshal(cloudEvent{
		SpecVersion: "1.0", ID: m.ID, Source: "/ralph/loop/" + url.PathEscape(m.LoopID), Type: "io.github.ralph-loop.notification." + string(m.Occasion),
		Subject: m.Loop, Time: m.At, ContentType: "application/json", Data: m,
	})
	if err != nil {
		return err
	}
	headers := map[string]string{"Content-Type": "application/cloudevents+json; charset=utf-8"}
	if key != "" {
		at := strconv.FormatInt(m.At.Unix(), 10)
		headers["webhook-id"], headers["webhook-timestamp"] = m.ID, at
		headers["webhook-signature"] = "v1," + sign(key, m.ID, at, body)
	}
	return post(ctx, c.URL, body, headers)
}

// sign signs a body. A key that begins with whsec_ is written in base64.
func sign(key, id, at string, body []byte) string {
	raw := []byte(key)
	if text, ok := strings.CutPrefix(key, "whsec_"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			raw = decoded
		}
	}
	mac := hmac.New(sha256.New, raw)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
