package tree

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

// The files of a tree.
const (
	manifestName = "manifest.json"
	bundleName   = "repo.bundle"
	settingsName = "settings.json"
	loopPrefix   = "loop/"
)

// maxBytes bounds what one tree unpacks to, as the limits of an import do.
const maxBytes = 64_000_000_000

// Get unpacks tree n to an empty folder, with a bundle of all commits. Nothing is written outside
// of it, whoever made the tree; 'ralph import' judges what is in it.
func Get(ctx context.Context, s store.Store, loop string, n uint64, into string) (Manifest, error) {
	m, err := get(ctx, s, loop, n, into)
	if err != nil {
		err = fmt.Errorf("unpack tree %d of loop %s: %w", n, loop, err)
	}
	return m, err
}

func get(ctx context.Context, s store.Store, loop string, n uint64, into string) (Manifest, error) {
	link, m, err := unpack(ctx, s, loop, n, into)
	if err != nil || link.Prev == 0 || m.Repo == nil {
		return m, err
	}
	scratch := filepath.Join(into, ".history")
	defer func() { _ = os.RemoveAll(scratch) }() // the folder is thrown away in the end
	bundles := []string{filepath.Join(into, bundleName)}
	for depth := 0; link.Prev > 0; depth++ {
		if depth > mostBefore || link.Prev > n {
			return m, fmt.Errorf("it needs tree %d after %d others, which no host stored", link.Prev-1, depth)
		}
		n = link.Prev - 1
		folder := filepath.Join(scratch, fmt.Sprint(n))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return m, err
		}
		if link, _, err = unpack(ctx, s, loop, n, folder); err != nil {
			return m, fmt.Errorf("it needs tree %d: %w", n, err)
		}
		bundles = append(bundles, filepath.Join(folder, bundleName))
	}
	return m, join(ctx, scratch, bundles, *m.Repo, loop)
}

// unpack writes the files of one tree.
func unpack(ctx context.Context, s store.Store, loop string, n uint64, into string) (l Link, m Manifest, err error) {
	root, err := os.OpenRoot(into)
	if err != nil {
		return l, m, err
	}
	defer func() { _ = root.Close() }() // it only has names
	pipe, w := io.Pipe()
	go func() {
		_, err := parts.Get(ctx, s, keys.Tree(loop, n), w)
		w.CloseWithError(err)
	}()
	defer func() { _ = pipe.Close() }() // ends the goroutine
	r := bufio.NewReader(pipe)
	if l, err = readLink(r); err != nil {
		return l, m, err
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return l, m, err
	}
	defer z.Close()
	limited := &io.LimitedReader{R: z, N: maxBytes}
	t := tar.NewReader(limited)
	m, text, err := readManifest(t)
	if err != nil {
		return l, m, err
	}
	if m.ID != loop {
		return l, m, fmt.Errorf("it is of loop %.60q", m.ID)
	}
	err = root.WriteFile(manifestName, text, 0o600)
	if err == nil {
		err = unpackAll(t, root)
	}
	if err == nil {
		// To its end, where the hash of all of it is compared.
		_, err = io.Copy(io.Discard, r)
	}
	if limited.N == 0 {
		err = fmt.Errorf("it unpacks to more than %d bytes", int64(maxBytes))
	}
	return l, m, err
}

func unpackAll(t *tar.Reader, root *os.Root) error {
	for {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, inLoop := strings.CutPrefix(header.Name, loopPrefix)
		journal := strings.HasPrefix(name, "journal/") || strings.HasPrefix(name, "blobs/")
		if header.Typeflag != tar.TypeReg || journal || !inLoop && name != bundleName && name != settingsName {
			return fmt.Errorf("it has %q, which no host stores", header.Name)
		}
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(header.Name)), 0o700); err != nil {
			return err
		}
		f, err := root.OpenFile(filepath.FromSlash(header.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, t)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// join replaces the first bundle, the newest, with one that has the history of all of them.
func join(ctx context.Context, scratch string, bundles []string, r Repo, loop string) error {
	dir := filepath.Join(scratch, "repository")
	format := "sha1"
	if len(r.Head) == 64 {
		format = "sha256"
	}
	if _, err := git(ctx, "", nil, "init", "--quiet", "--bare", "--template=", "--object-format="+format, dir); err != nil {
		return err
	}
	for i := len(bundles) - 1; i >= 0; i-- {
		if _, err := git(ctx, dir, nil, "-c", "transfer.fsckObjects=true", "bundle", "unbundle", bundles[i]); err != nil {
			return err
		}
	}
	moved := "refs/ralph/moved/" + loop
	refs := map[string]string{moved: r.Tree}
	head := "HEAD"
	if r.Branch != "" {
		head = "refs/heads/" + r.Branch
		if _, err := git(ctx, dir, nil, "symbolic-ref", "HEAD", head); err != nil {
			return err
		}
	}
	refs[head] = r.Head
	for name, commit := range r.Refs {
		if strings.HasPrefix(name, "refs/ralph/"+loop+"/") {
			refs[name] = commit
		}
	}
	var updates bytes.Buffer // of texts that a stranger may have written
	args := []string{"bundle", "create", "--quiet", bundles[0] + ".whole", "HEAD"}
	for name, commit := range refs {
		if strings.ContainsAny(name+commit, " \n\x00") {
			return fmt.Errorf("its manifest has the ref %q", name)
		}
		fmt.Fprintf(&updates, "update %s %s\n", name, commit)
		if name != "HEAD" {
			args = append(args, name)
		}
	}
	if _, err := git(ctx, dir, &updates, "update-ref", "--no-deref", "--stdin"); err != nil {
		return err
	}
	if _, err := git(ctx, dir, nil, args...); err != nil {
		return err
	}
	return os.Rename(bundles[0]+".whole", bundles[0])
}

// git runs git in a repository that ralph has made, without any settings but its own.
func git(ctx context.Context, dir string, in io.Reader, args ...string) ([]byte, error) {
	var problem bytes.Buffer
	command := exec.CommandContext(ctx, "git", args...)
	command.Stdin, command.Stderr = in, &problem
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "GIT_") })
	command.Env = append(command.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	if dir != "" {
		command.Args = append([]string{"git", "--git-dir=" + dir}, args...)
	}
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return out, nil
}
