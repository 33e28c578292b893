package notify

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// An answer to a question comes back by ntfy: the message has a button for each choice, which
// publishes it to a topic that was made for this one question. Its name is random, so only who
// reads the message can answer, and ralph takes the first answer alone.

// ReplyTopic makes a topic for the answer to one question, beside that of the channel; empty for a
// channel that brings no answers.
func ReplyTopic(c config.Notification) string {
	at, err := url.Parse(c.URL)
	if err != nil || !c.Answers || c.Kind != config.NotifyNtfy {
		return ""
	}
	path := strings.TrimSuffix(at.Path, "/")
	slash := strings.LastIndexByte(path, '/')
	// Topics have at most 64 characters; 26 of them are random.
	at.Path = path[:slash+1] + units.Prefix(path[slash+1:], maxTopic) + "-" + rand.Text()
	return at.String()
}

const maxTopic = 30 // characters of the channel's topic in that of an answer

// maxActions is how many buttons ntfy shows.
const maxActions = 3

// actions are the buttons of a question.
func actions(m Message) []map[string]any {
	var all []map[string]any
	for _, choice := range m.Choices[:min(maxActions, len(m.Choices))] {
		all = append(all, map[string]any{"action": "http", "label": choice, "url": m.Reply, "method": http.MethodPost, "body": choice, "clear": true})
	}
	return all
}

// pollEvery is how often the topic of an answer is looked at.
var pollEvery = 5 * time.Second

// Await returns the first answer on a topic of [ReplyTopic]. It ends with ctx.
func Await(ctx context.Context, c config.Notification, topic string, env []string) (string, error) {
	token, err := secret(c, env)
	if err != nil {
		return "", err
	}
	for {
		if text, err := published(ctx, topic, token); err == nil && text != "" { // another try mends an error
			return text, nil
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// published returns the first message of a topic; empty if there is none.
func published(ctx context.Context, topic, token string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, topic+"/json?poll=1&since=all", http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer is %s", answer.Status)
	}
	lines := bufio.NewScanner(io.LimitReader(answer.Body, maxAnswer))
	for lines.Scan() {
		var said struct{ Event, Message string }
		if json.Unmarshal(lines.Bytes(), &said) == nil && said.Event == "message" && strings.TrimSpace(said.Message) != "" {
			return strings.TrimSpace(said.Message), nil
		}
	}
	return "", lines.Err()
}
