package repo

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
)

// Gitlinks returns the folders in the work tree around dir at which its index names another
// repository. Time and environment are as in [TakeSnapshot].
func Gitlinks(ctx context.Context, dir string, env ...string) (folders []string, err error) {
	g := In(dir, env...)
	root, err := g.Read(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("find the work tree: %w", err)
	}
	top := filepath.FromSlash(string(bytes.TrimSuffix(root, []byte("\n"))))
	out, err := g.In(top).Read(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		_, path, ok := bytes.Cut(entry, []byte("\t"))
		if name := filepath.FromSlash(string(path)); ok && bytes.HasPrefix(entry, []byte("160000 ")) && filepath.IsLocal(name) {
			folders = append(folders, filepath.Join(top, name))
		}
	}
	return folders, nil
}

// SettingNames returns the names in a file of git's settings, as git writes them: in lower case but
// for their middle part. Files that it includes are not read.
func SettingNames(ctx context.Context, file string) (names []string, err error) {
	out, err := In(filepath.Dir(file)).Read(ctx, "config", "--file", file, "--no-includes", "--name-only", "-z", "--list")
	if err != nil {
		return nil, fmt.Errorf("read the settings %s: %w", file, err)
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		names = append(names, string(name))
	}
	return names, nil
}
