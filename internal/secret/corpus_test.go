package secret

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOrdinaryFilesStayAsTheyAre measures how often ordinary files look like secrets. RALPH_SECRET_CORPUS names folders and files, as PATH
// does folders; it is not run without, because 100 MB of what people work on are not part of a repository:
//
//	RALPH_SECRET_CORPUS="$(go env GOROOT):$(go env GOMODCACHE):/var/log" go test ./internal/secret -run TestOrdinaryFiles -v
//
// Keys and tokens that test data holds are found as any other, and told apart by a person: the list shows each.
func TestOrdinaryFilesStayAsTheyAre(t *testing.T) {
	corpus := os.Getenv("RALPH_SECRET_CORPUS")
	if corpus == "" {
		t.Skip("RALPH_SECRET_CORPUS names no folders")
	}
	m := New(nil)
	size, found := 0, map[string][]string{}
	for _, root := range filepath.SplitList(corpus) {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil //nolint:nilerr // a file that others have removed meanwhile, or keep to themselves, is not measured
			}
			if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
				return nil // no text
			}
			size += len(text)
			hits, _ := m.hits(text, 0, true)
			for _, h := range hits {
				what := string(text[max(0, h.start-30):min(len(text), h.end, h.start+60)])
				found[h.label] = append(found[h.label], fmt.Sprintf("%s: %q", path, what))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, label := range slices.Sorted(maps.Keys(found)) {
		n += len(found[label])
		t.Logf("%s: %d\n\t%s", label, len(found[label]), strings.Join(found[label], "\n\t"))
	}
	t.Logf("%d in %d MB: %.2f in 10 MB", n, size>>20, float64(n)*10/(float64(size)/(1<<20)))
}
