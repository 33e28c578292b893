package redact

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

// TestOrdinaryFilesRemain measures how often ordinary files look like secrets. RALPH_SECRET_CORPUS
// names folders and files, separated as in PATH; without it the test is skipped, because a
// repository holds no 100 MB of ordinary files:
//
//	RALPH_SECRET_CORPUS="$(go env GOROOT):$(go env GOMODCACHE):/var/log" go test ./internal/ground/redact -run TestOrdinaryFiles -v
//
// Keys and tokens in test data are found as well; the output lists each hit.
func TestOrdinaryFilesRemain(t *testing.T) {
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
