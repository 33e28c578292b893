package keep

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// FileLines is how many lines of a file were added and removed.
type FileLines struct {
	Path  string // from the root, with slashes; of a renamed file the new one
	Lines int    // 0 for a binary file
	// Generated: no person wrote it. It is a lock file, or .gitattributes said linguist-generated
	// of it in the older state: what the newer one says there is the work that is measured.
	Generated bool
}

// Lines returns the files that differ between two commits or trees of the repository around dir;
// from is empty where there was none. Folders named .ralph are left out.
func Lines(ctx context.Context, dir, from, to string, env ...string) ([]FileLines, error) {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	g, at, err := locate(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	files, err := g.in(at.Root).lines(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("count changed lines: %w", err)
	}
	return files, nil
}

func (g git) lines(ctx context.Context, from, to string) ([]FileLines, error) {
	base, err := g.TreeOf(ctx, from)
	if err != nil {
		return nil, err
	}
	out, err := g.Read(ctx, "diff-tree", "-r", "-M", "-z", "--numstat", "--no-ext-diff", "--no-textconv", "--end-of-options", base, to, "--")
	if err != nil {
		return nil, err
	}
	files, err := parseNumstat(out)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f FileLines) bool { return repo.IsOwn(f.Path) })
	generated, err := g.generated(ctx, from, files)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		files[i].Generated = slices.Contains(lockFiles, path.Base(f.Path)) || generated[f.Path]
	}
	return files, nil
}

// parseNumstat reads "3\t1\tpath", NUL, or for a renamed file "3\t1\t", NUL, old path, NUL, new
// path, NUL; a binary file has dashes for the numbers.
func parseNumstat(out []byte) (files []FileLines, err error) {
	records := strings.Split(string(out), "\x00")
	for i := 0; i < len(records)-1; i++ {
		fields := strings.SplitN(records[i], "\t", 3)
		if len(fields) != 3 || fields[2] == "" && i+2 >= len(records) {
			return nil, fmt.Errorf("read git's count of lines: %.80q", records[i])
		}
		added, _ := strconv.Atoi(fields[0])
		removed, _ := strconv.Atoi(fields[1])
		name := fields[2]
		if name == "" {
			i += 2
			name = records[i]
		}
		files = append(files, FileLines{Path: name, Lines: added + removed})
	}
	return files, nil
}

// generated returns the files that .gitattributes says linguist-generated of at a commit. It is
// read from an index with that commit's files: git reads attributes of a commit only since 2.40.
func (g git) generated(ctx context.Context, commit string, files []FileLines) (map[string]bool, error) {
	if commit == "" || len(files) == 0 {
		return nil, nil
	}
	g, remove, err := g.ownIndex(nil)
	if err != nil {
		return nil, err
	}
	defer remove()
	if _, err := g.Read(ctx, "read-tree", commit); err != nil {
		return nil, err
	}
	var names bytes.Buffer
	for _, f := range files {
		names.WriteString(f.Path + "\x00")
	}
	out, err := g.Feed(ctx, names.Bytes(), "check-attr", "--cached", "-z", "--stdin", "linguist-generated")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	fields := strings.Split(string(out), "\x00") // path, attribute, value
	for i := 0; i+2 < len(fields); i += 3 {
		found[fields[i]] = fields[i+2] == "set" || fields[i+2] == "true"
	}
	return found, nil
}

// lockFiles are what package managers write: the versions of dependencies.
var lockFiles = []string{
	".terraform.lock.hcl", "Cargo.lock", "Gemfile.lock", "Package.resolved", "Pipfile.lock", "Podfile.lock", "bun.lock", "composer.lock",
	"deno.lock", "flake.lock", "go.sum", "go.work.sum", "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json", "package-lock.json",
	"packages.lock.json", "pdm.lock", "pnpm-lock.yaml", "poetry.lock", "pubspec.lock", "uv.lock", "yarn.lock",
}
