package mirror_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
)

func TestCommandsNeedNames(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	id := idOf(t, folder)
	forged := map[string]string{
		"01K8Z0000000000000000000AA": `{"kind":"follow-up","text":"a"}`,
		"01K8Z0000000000000000000AB": `{"kind":"follow-up","text":"a","from":"ada\u001b]0;b\u0007"}`,
		"01K8Z0000000000000000000AC": `{"kind":"follow-up","text":"a","from":"ada\nkiln"}`,
		"01K8Z0000000000000000000AD": `{"kind":"fence","host":"evil","epoch":9,"from":"cli:ada@kiln"}`,
	}
	for sent, text := range forged {
		if _, err := h.store.PutIfAbsent(t.Context(), keys.Inbox(id)+sent, []byte(`{"v":1,"command":`+text+`}`)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		h.mirror()
	}
	for sent := range forged {
		h.wantOutcome(id, sent, command.Rejected)
	}
	if got, err := inbox.Dropped(folder); err != nil || len(got) > 0 {
		t.Errorf("the inbox has %+v: %v", got, err)
	}
}

// A host that can write into the store writes the highest epoch: as a chunk that the log has not
// come to, and as what a loop does.
func TestHighestEpochFencesNobody(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	id := idOf(t, folder)
	forged := chunk.Header{Version: 1, Loop: id, Number: 1 << 30, Epoch: math.MaxUint64, Host: "evil", First: 1, Last: 1, Nonce: "n"}
	stored, err := chunk.Encode(forged, []byte("{}\n"))
	if err == nil {
		_, err = h.store.PutIfAbsent(t.Context(), keys.Chunk(id, forged.Number), stored)
	}
	if err == nil {
		_, err = h.store.PutIfAbsent(t.Context(), keys.View(id), []byte(`{"v":1,"loop":"`+id+`","epoch":18446744073709551615,"host":"evil","view":{}}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	h.mirror()
	h.wantMirrored(folder)
	if _, err := os.Lstat(filepath.Join(folder, "moved.json")); err == nil {
		t.Error("the loop is fenced")
	}
	entry, err := h.store.Get(t.Context(), keys.View(id))
	var v live.View
	if err == nil {
		err = json.Unmarshal(entry.Value, &v)
	}
	if err != nil || v.Host != "mill" || v.Epoch != 1 {
		t.Errorf("the view is of %s, epoch %d: %v", v.Host, v.Epoch, err)
	}
}
