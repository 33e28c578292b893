package player

import (
	"crypto/rand"
	"encoding/json"

	"github.com/oklog/ulid/v2"
)

// inboxStep drops a command into the loop's inbox as any program can: a file under another
// name first, then renamed, so that nobody reads half of it.
type inboxStep struct{ kind, text string }

func (s inboxStep) play(p *player) error {
	text := p.fill(s.text)
	return p.useTool("inbox", object("kind", s.kind, "text", text), func(string) (string, bool, error) {
		id, err := p.drop(s.kind, text)
		if err != nil {
			return err.Error(), false, nil
		}
		return "dropped " + id, true, nil
	})
}

func (p *player) drop(kind, text string) (id string, err error) {
	now := p.Now()
	made, err := ulid.New(ulid.Timestamp(now), rand.Reader)
	if err != nil {
		return "", err
	}
	id = made.String()
	command, err := json.Marshal(struct {
		V    int    `json:"v"`
		ID   string `json:"id"`
		Kind string `json:"kind"`
		From string `json:"from"`
		Text string `json:"text,omitempty"`
	}{1, id, kind, "agent:rehearsal", text})
	if err != nil {
		return "", err
	}
	const folder = "inbox/"
	if err := p.loop.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	temporary, whole := folder+".drop-"+id, folder+id+".json"
	if err := p.loop.WriteFile(temporary, append(command, '\n'), 0o600); err != nil {
		return "", err
	}
	return id, p.loop.Rename(temporary, whole)
}
