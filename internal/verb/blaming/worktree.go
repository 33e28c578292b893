package blaming

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// worktree returns a commit with a file as it is in the work tree now.
func (h *history) worktree(ctx context.Context, path string, content []byte) (string, error) {
	chain := h.chains[h.root]
	from, last, base := source{how: "not committed"}, "", ""
	if chain != nil && len(chain.steps) > 0 {
		from = chain.now
		at := len(chain.steps) - 1
		sha, err := h.stepCommit(ctx, chain, at)
		if err != nil {
			return "", err
		}
		last = sha
		if head := h.headOf(chain.steps[at].tree); head != "" && !h.isOlder(ctx, head, h.head) {
			// Another branch is checked out, or this one was rewritten: what is not committed may
			// be from the loop or not.
			last, from = "", source{unknown: true, how: "not committed, and another branch was checked out since the loop"}
		}
	}
	if h.isIgnored(ctx, path) {
		last, from = "", source{unknown: true, how: "in a file that git ignores: no work tree that is kept has it"}
	}
	if base = h.head; base == "" {
		base = last
	}
	blob, err := h.blobOf(ctx, path, content)
	if err != nil {
		return "", err
	}
	tree, err := h.treeWith(ctx, base, path, blob)
	if err != nil {
		return "", err
	}
	if was, err := h.git.Line(ctx, "rev-parse", "--verify", "--quiet", h.head+":"+path); err == nil && was != blob && h.filtered(ctx, path) {
		return h.join(ctx, tree, source{unknown: true, how: "before a filter of git changed the file: only its program knows which lines are the same"})
	}
	return h.join(ctx, tree, from, h.head, last)
}

// blobOf writes the content of a file as git would, with its ends of lines.
func (h *history) blobOf(ctx context.Context, path string, content []byte) (string, error) {
	out, err := h.git.Feed(ctx, content, "-c", "core.safecrlf=false", "hash-object", "-w", "--stdin", "--path="+path)
	if err != nil { // it has no such encoding as git has to change
		out, err = h.git.Feed(ctx, content, "hash-object", "-w", "--stdin", "--no-filters")
	}
	return string(bytes.TrimSpace(out)), err
}

// isIgnored reports whether git ignores a file, or it is in a folder of ralph, and it is not
// recorded.
func (h *history) isIgnored(ctx context.Context, path string) bool {
	if h.head != "" && h.lines(ctx, h.head, path) != nil {
		return false
	}
	if slices.Contains(strings.Split(path, "/"), ".ralph") {
		return true
	}
	_, err := h.git.Read(ctx, "check-ignore", "--quiet", "--", path)
	return err == nil
}

// filtered reports whether a filter changes the file, such as that of Git LFS.
func (h *history) filtered(ctx context.Context, path string) bool {
	out, err := h.git.Read(ctx, "check-attr", "-z", "filter", "--", path)
	fields := strings.Split(string(out), "\x00") // path, attribute, value
	return err != nil || len(fields) > 2 && fields[2] != "unspecified" && fields[2] != "unset"
}

// treeWith returns the tree of a commit with another content of a file.
func (h *history) treeWith(ctx context.Context, commit, path, blob string) (string, error) {
	g := h.git
	g.Env = append(slices.Clip(g.Env), "GIT_INDEX_FILE="+filepath.Join(h.objects, "index"))
	if commit != "" {
		if _, err := g.Read(ctx, "read-tree", commit); err != nil {
			return "", err
		}
	}
	if _, err := g.Feed(ctx, []byte("100644 "+blob+"\t"+path+"\x00"), "update-index", "-z", "--add", "--index-info"); err != nil {
		return "", err
	}
	return g.Line(ctx, "write-tree")
}
