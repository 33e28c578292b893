package repo

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Objects calls content for each object of a list of names, one on each line and in that order: with
// what it holds, or nil where there is no such object or it has more than most bytes.
func (g Git) Objects(ctx context.Context, names []byte, most int64, content func([]byte)) error {
	sizes, err := g.Feed(ctx, names, "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return err
	}
	var wanted bytes.Buffer
	var fits []bool
	for line := range strings.Lines(string(names)) {
		var size []byte
		size, sizes, _ = bytes.Cut(sizes, []byte{'\n'})
		n, err := strconv.ParseInt(string(size), 10, 64)
		fits = append(fits, err == nil && n <= most)
		if err == nil && n <= most {
			wanted.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	out, err := g.Feed(ctx, wanted.Bytes(), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		return err
	}
	for _, fit := range fits {
		if !fit {
			content(nil)
			continue
		}
		size, rest, _ := bytes.Cut(out, []byte{'\n'})
		n, err := strconv.Atoi(string(size))
		if err != nil || n < 0 || n >= len(rest) {
			return fmt.Errorf("read git's objects: %.80q", size)
		}
		content(rest[:n:n])
		out = rest[n+1:]
	}
	return nil
}
