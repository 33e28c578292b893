// Package conformance is the corpus of the file format: journals, inboxes and registries as bytes,
// and what a program that reads them has to answer.
//
//	cases, err := conformance.Cases()
//	for _, c := range cases {
//		err := c.Write(dir) // what the program is given
//		…
//		problem := c.Judge(answer)
//	}
//
// docs/reference/format.md has the requirements, the codes and the protocol. The files are written
// by 'go test ./conformance -update', with the packages that write real loops.
package conformance

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Files are those of the corpus, and its version.
//
//go:embed VERSION all:accept all:must-reject all:inbox all:registry
var Files embed.FS

// expectFile is beside the files of a case, and not among those that a program is given.
const expectFile = "expect.json"

// Case is one folder of the corpus.
type Case struct {
	Name         string          `json:"-"`               // accept/torn-line
	Kind         string          `json:"kind"`            // journal, inbox or registry
	About        string          `json:"about"`           // in one sentence
	Requirements []string        `json:"requirements"`    // of docs/reference/format.md
	Needs        string          `json:"needs,omitempty"` // what a program may leave out: zstd
	Hold         []string        `json:"hold,omitempty"`  // files on which a process has an exclusive lock
	Pad          map[string]int  `json:"pad,omitempty"`   // files that spaces make this long
	Answer       json.RawMessage `json:"answer"`
}

// Version returns that of the corpus.
func Version() string {
	text, _ := Files.ReadFile("VERSION") // it is embedded
	return strings.TrimSpace(string(text))
}

// Cases returns all cases, in the order of their names.
func Cases() (cases []Case, err error) {
	names, err := fs.Glob(Files, "*/*/"+expectFile)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		c := Case{Name: path.Dir(name)}
		text, err := Files.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			return nil, fmt.Errorf("read case %s: %w", c.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// Write writes what a program is given to a folder. It is not durable.
func (c Case) Write(dir string) error {
	files, err := fs.Sub(Files, c.Name)
	if err == nil {
		err = os.CopyFS(dir, files)
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, expectFile))
	}
	for name, size := range c.Pad {
		if err == nil {
			var text []byte
			text, err = fs.ReadFile(files, name)
			text = append(text, bytes.Repeat([]byte(" "), max(0, size-len(text)))...)
			err = errors.Join(err, safefile.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o600))
		}
	}
	if err != nil {
		return fmt.Errorf("write case %s: %w", c.Name, err)
	}
	return nil
}

// Judge compares the answer of a program with the right one, and returns the first difference; ""
// if it is right. An answer may have keys that the right one lacks.
func (c Case) Judge(answer []byte) string {
	var got, want any
	if err := json.Unmarshal(answer, &got); err != nil {
		return "the answer is not JSON: " + err.Error()
	}
	if err := json.Unmarshal(c.Answer, &want); err != nil {
		return "expect.json is not JSON: " + err.Error()
	}
	return difference("", got, want)
}

// centimicros is how far two amounts of money may be apart: sums depend on their order.
const centimicros = 1e-8

func difference(at string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, there := g[key]
			if !there && ok {
				return strings.TrimPrefix(at+"."+key, ".") + " is missing"
			}
			if d := difference(at+"."+key, value, w[key]); ok && d != "" {
				return d
			}
		}
		if ok {
			return ""
		}
	case []any:
		g, ok := got.([]any)
		for i := range min(len(g), len(w)) {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); d != "" {
				return d
			}
		}
		if ok && len(g) == len(w) {
			return ""
		}
	case float64:
		if g, ok := got.(float64); ok && math.Abs(g-w) < centimicros {
			return ""
		}
	default:
		if reflect.DeepEqual(got, want) {
			return ""
		}
	}
	have, _ := json.Marshal(got) // both come from JSON
	must, _ := json.Marshal(want)
	return fmt.Sprintf("%s is %.200s instead of %.200s", strings.TrimPrefix(at, "."), have, must)
}
