package mirror_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/mirror"
	"github.com/ralph-loop/ralph/pool/store/parts"
	"github.com/ralph-loop/ralph/pool/tree"
)

// leaky prints what it knows on both streams.
const leaky = `printf '%s\n' "$LEAK" "token $DEMO_API_TOKEN"
printf '%s\n' "$LEAK" >&2
echo "$DEMO_API_TOKEN" >.env
echo x >>work.txt
if [ $RALPH_ITERATION = 2 ]; then echo '<promise>COMPLETE</promise>'; fi
`

// Secrets are masked before they leave the host, in all forms in which the store has a loop.
func TestSecretsStayOnTheHost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	secret := func(n int) string {
		const characters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
		text := "K7q"
		for len(text) < n {
			text += string(characters[random.IntN(len(characters))])
		}
		return text
	}
	named, github, bearer, password, key := secret(32), "ghp_"+secret(36), secret(40), secret(20), secret(64)
	secrets := []string{named, github, bearer, password, key}
	t.Setenv("DEMO_API_TOKEN", named)
	t.Setenv("LEAK", strings.Join([]string{
		github, "Authorization: Bearer " + bearer, "https://ada:" + password + "@git.example.com/app",
		"-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(key+"\n", 8) + "-----END RSA PRIVATE KEY-----",
	}, "\n"))
	h := newHost(t)
	project := h.Repository(leaky)
	h.Write(filepath.Join(project, ".gitignore"), ".env\n.ralph/\n")
	prompt := strings.Repeat("a long text ", 6000) + "with the token " + named + " and " + github // too long for a line
	h.Run(project, "ralph", "run", "--name", "one", "-p", prompt, "--agent", "./agent.sh", "--protocol", "text",
		"--set", "restart.delay=1ms", "--set", `guardrails=[{"command":"sh -c 'echo $LEAK' `+named+`"}]`)
	folder := h.join(filepath.Join(project, ".ralph", "one"), 1)
	h.mirror(func(o *mirror.Options) { o.Tree = tree.Put })
	stored := h.stored(idOf(t, folder))
	for kind, text := range stored {
		for _, secret := range secrets {
			if at := bytes.Index(text, []byte(secret)); at >= 0 {
				t.Errorf("%s: a secret has left the host: %.200q", kind, text[max(0, at-100):])
			}
		}
	}
	for kind, want := range map[string]string{
		"chunk": "masked:DEMO_API_TOKEN", "blob": "with the token [masked:DEMO_API_TOKEN] and [masked:github-token]", "tree": "[masked:github-token]", "history": "work.txt", "view": "masked:",
	} {
		if !bytes.Contains(stored[kind], []byte(want)) {
			t.Errorf("%s has %d bytes without %q", kind, len(stored[kind]), want)
		}
	}
}

// stored returns all that the store has of a loop, by what it is, as it was before it was packed.
func (h *host) stored(id string) map[string][]byte {
	h.t.Helper()
	all := map[string][]byte{}
	add := func(kind string, text []byte) { all[kind] = append(append(all[kind], text...), '\n') }
	for key, err := range h.store.List(h.t.Context(), "", "") {
		if err != nil {
			h.t.Fatal(err)
		}
		entry, err := h.store.Get(h.t.Context(), key)
		if err != nil {
			h.t.Fatal(err)
		}
		add("raw", entry.Value)
		_, isChunk := keys.ChunkNumber(key)
		n, isTree := keys.TreeNumber(key)
		switch {
		case strings.HasPrefix(key, keys.Parts):
		case isChunk:
			_, lines, err := chunk.Decode(entry.Value)
			if err != nil {
				h.t.Fatal(err)
			}
			add("chunk", lines)
		case isTree:
			files, history := h.files(id, n)
			add("tree", files)
			add("history", history)
		case key == keys.View(id):
			add("view", entry.Value)
		case strings.HasPrefix(key, keys.Blob(id, "")):
			var text bytes.Buffer
			if _, err := parts.Get(h.t.Context(), h.store, key, &text); err != nil {
				h.t.Fatal(err)
			}
			add("blob", text.Bytes())
		}
	}
	return all
}

// files returns the files of a tree, and all versions of those of its repository.
func (h *host) files(id string, n uint64) (text, history []byte) {
	h.t.Helper()
	into := h.t.TempDir()
	if _, err := tree.Get(h.t.Context(), h.store, id, n, into); err != nil {
		h.t.Fatal(err)
	}
	err := filepath.WalkDir(into, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		text = append(append(text, path+"\n"...), content...)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	clone := filepath.Join(into, "clone")
	h.Run(into, "git", "clone", "-q", "--mirror", filepath.Join(into, "repo.bundle"), clone)
	return text, []byte(h.Run(clone, "git", "log", "--all", "-p"))
}
