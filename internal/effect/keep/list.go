package keep

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// list returns the paths, with those of the earlier state, because a new rule may hide them. A file
// with a conflict is an error.
func (k *keeper) list(ctx context.Context) ([]string, error) {
	all, err := k.Read(ctx, "ls-files", "-z", "-t", "--stage", "--others", "--exclude-standard", "--full-name")
	if err != nil {
		return nil, err
	}
	var paths []string
	for record := range bytes.SplitSeq(all, []byte{0}) {
		if name, ok := strings.CutPrefix(string(record), "? "); ok { // untracked
			if !repo.IsOwn(name) {
				paths = append(paths, name)
			}
			continue
		}
		about, name, ok := strings.Cut(string(record), "\t")
		words := strings.Fields(about)
		if !ok || len(words) != 4 || repo.IsOwn(name) {
			continue
		}
		if words[3] != "0" {
			return nil, fmt.Errorf("%w in %q", repo.ErrUnmerged, name)
		}
		k.known[name], k.sparse[name] = file{words[1], words[2]}, words[0] == "S"
		paths = append(paths, name)
	}
	if err := k.listIgnored(ctx); err != nil {
		return nil, err
	}
	if k.before != nil {
		paths = slices.DeleteFunc(paths, k.before.isIgnored)
		paths = slices.AppendSeq(paths, maps.Keys(k.before.files))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths, k.findFiltered(ctx, paths)
}

// listIgnored lists ignored files, and folders with nothing else in them, for a later state. What
// was ignored in the earlier state still is.
func (k *keeper) listIgnored(ctx context.Context) error {
	if k.before != nil {
		maps.Copy(k.ignored, k.before.ignored)
	}
	names, err := k.ignoredFiles(ctx)
	for _, name := range names {
		k.ignored[name] = true
	}
	return err
}

// findFiltered finds the files that a filter changes on their way to the disk.
func (k *keeper) findFiltered(ctx context.Context, paths []string) error {
	names, excludes, err := k.Filters(ctx)
	k.excludes = excludes
	if err != nil || len(names) == 0 {
		return err
	}
	out, err := k.Feed(ctx, []byte(strings.Join(paths, "\x00")), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	for record := range slices.Chunk(strings.Split(string(out), "\x00"), 3) {
		if len(record) == 3 && slices.Contains(names, record[2]) {
			k.filtered[record[0]] = true
		}
	}
	return nil
}
