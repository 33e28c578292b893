package blaming

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/clean"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Agent Trace is a format of records that say which lines an agent wrote: https://agent-trace.dev,
// version 0.1.0 of January 2026, and its JSON schema. Where records are is left open there; its
// reference implementation appends them to .agent-trace/traces.jsonl, one on each line.
//
// The schema wants a version of two numbers, though the examples have three: "1.0" is what the
// reference implementation writes, and the address of the schema has v1.

// traceFolder has records, in files of JSON or with one record on each line.
const traceFolder = ".agent-trace"

const (
	traceVersion   = "1.0"
	mostTraceFiles = 200
	mostTraceBytes = 16 << 20 // of one file
	mostTraces     = 20_000
	mostModel      = 250 // characters of a model's name, as the schema says
)

type traceRecord struct {
	Version   string      `json:"version"`
	ID        string      `json:"id"`
	Timestamp string      `json:"timestamp"`
	VCS       *traceVCS   `json:"vcs,omitempty"`
	Tool      *traceTool  `json:"tool,omitempty"`
	Files     []traceFile `json:"files"`
}

type traceVCS struct {
	Type     string `json:"type"`
	Revision string `json:"revision"`
}

type traceTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type traceFile struct {
	Path          string              `json:"path"`
	Conversations []traceConversation `json:"conversations"`
}

type traceConversation struct {
	URL         string            `json:"url,omitempty"`
	Contributor *traceContributor `json:"contributor,omitempty"`
	Ranges      []traceRange      `json:"ranges"`
	Related     []traceRelated    `json:"related,omitempty"`
}

type traceContributor struct {
	Type  string `json:"type"`
	Model string `json:"model_id,omitempty"`
}

type traceRange struct {
	Start       int               `json:"start_line"`
	End         int               `json:"end_line"`
	Hash        string            `json:"content_hash,omitempty"`
	Contributor *traceContributor `json:"contributor,omitempty"`
}

type traceRelated struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// Trace is what a record of Agent Trace says of lines.
type Trace struct {
	Tool        string `json:"tool,omitempty"`
	Contributor string `json:"contributor"` // human, ai, mixed or unknown
	Model       string `json:"model,omitempty"`
	URL         string `json:"url,omitempty"`
	Record      string `json:"record"` // the id of the record
}

// readTraces reads the records of a work tree, by revision. They are written by other programs, so
// that a file which cannot be read, and what is no record, is left out.
func readTraces(root string) map[string][]traceRecord {
	found := map[string][]traceRecord{}
	folder, err := safeFolder(root)
	if err != nil {
		return found
	}
	defer folder.Close()
	entries, _ := fs.ReadDir(folder.FS(), ".")
	total := 0
	for _, e := range entries[:min(len(entries), mostTraceFiles)] {
		if ext := filepath.Ext(e.Name()); ext != ".json" && ext != ".jsonl" {
			continue
		}
		content, err := safefile.ReadIn(folder, e.Name(), mostTraceBytes)
		if err != nil {
			continue
		}
		from := json.NewDecoder(bytes.NewReader(content))
		for total < mostTraces {
			var r traceRecord
			if err := from.Decode(&r); err != nil {
				break
			}
			if total++; r.VCS != nil && r.VCS.Type == "git" && isName(r.VCS.Revision) {
				found[r.VCS.Revision] = append(found[r.VCS.Revision], r)
			}
		}
	}
	return found
}

func safeFolder(root string) (*os.Root, error) {
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return safefile.FolderIn(top, traceFolder)
}

// ofTrace returns what a record says of a line of a commit. Where several disagree, none counts.
func (o *origins) ofTrace(ctx context.Context, c *commit, b blamed, _ int) (found origin, ok bool, err error) {
	var said []Trace
	for _, r := range o.traces[c.sha] {
		for _, f := range r.Files {
			if f.Path != b.path {
				continue
			}
			for _, talk := range f.Conversations {
				for _, part := range talk.Ranges {
					by := part.Contributor
					if by == nil {
						by = talk.Contributor
					}
					if by == nil || b.line < part.Start || b.line > part.End || !o.hashed(ctx, c.sha, b.path, part) {
						continue
					}
					t := Trace{Contributor: word(by.Type), Model: word(by.Model), URL: word(talk.URL), Record: word(r.ID)}
					if r.Tool != nil {
						t.Tool = word(strings.TrimSpace(r.Tool.Name + " " + r.Tool.Version))
					}
					said = append(said, t)
				}
			}
		}
	}
	for _, t := range said {
		if t.Contributor != said[0].Contributor || t.Model != said[0].Model {
			return found, false, nil
		}
	}
	if len(said) == 0 || said[0].Contributor == "unknown" {
		return found, false, nil
	}
	return origin{commit: c, trace: &said[0], how: "trace"}, true, nil
}

// hashed reports whether the lines of a range are those of its hash, if that is a SHA-256. The
// format names no other that every program knows.
func (h *history) hashed(ctx context.Context, rev, path string, part traceRange) bool {
	want, isSHA := strings.CutPrefix(part.Hash, "sha256:")
	if !isSHA {
		return true
	}
	lines := h.lines(ctx, rev, path)
	return part.Start >= 1 && part.End <= len(lines) && part.Start <= part.End && want == hashOf(lines[part.Start-1:part.End])
}

func hashOf(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

func word(text string) string { return units.Cut(clean.Line(text), mostModel) }

// traceOf is the record of an answer. It is about a commit, so the file has to be as that has it.
func traceOf(a *Answer, lines []string, version string, now time.Time) (traceRecord, error) {
	if !a.Committed {
		return traceRecord{}, errors.New("the file differs from its last commit, and a record is about a commit")
	}
	r := traceRecord{
		Version: traceVersion, Timestamp: now.UTC().Format(time.RFC3339), VCS: &traceVCS{"git", a.Head},
		Tool: &traceTool{"ralph", version},
	}
	f := traceFile{Path: a.File, Conversations: []traceConversation{}}
	places := map[string]int{}
	for _, part := range a.Ranges {
		if part.By == byUnknown {
			continue // a line without a record is unknown
		}
		url, by := conversationOf(part.Origin)
		key := fmt.Sprint(url, *by)
		at, known := places[key]
		if !known {
			at = len(f.Conversations)
			places[key] = at
			f.Conversations = append(f.Conversations, traceConversation{URL: url, Contributor: by})
		}
		f.Conversations[at].Ranges = append(f.Conversations[at].Ranges, traceRange{Start: part.From, End: part.To,
			Hash: "sha256:" + hashOf(lines[part.From-1:part.To])})
	}
	r.Files = []traceFile{f}
	// The same answer gets the same id: a name-based UUID (RFC 9562, version 8).
	content, err := json.Marshal(r.Files)
	if err != nil {
		return r, err
	}
	sum := sha256.Sum256(slices.Concat([]byte(a.Head+"\x00"), content))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	r.ID = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return r, nil
}

// conversationOf says who wrote lines as the format does. The conversation of an iteration is its
// journal, which has no address that others could open.
func conversationOf(o Origin) (url string, by *traceContributor) {
	switch {
	case o.Trace != nil:
		return o.Trace.URL, &traceContributor{o.Trace.Contributor, o.Trace.Model}
	case o.Loop != nil:
		by = &traceContributor{Type: "ai"}
		if len(o.Loop.Models) == 1 {
			by.Model = modelID(o.Loop.Models[0])
		}
		return fmt.Sprintf("urn:ralph:%s:%d", o.Loop.ID, o.Loop.Iteration), by
	}
	return "", &traceContributor{Type: "human"}
}

// modelID names a model as models.dev does, with its provider where the name tells.
func modelID(model string) string {
	if strings.Contains(model, "/") {
		return model
	}
	for _, p := range []struct{ prefix, provider string }{
		{"claude-", "anthropic"}, {"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"codex-", "openai"}, {"gemini-", "google"},
	} {
		if strings.HasPrefix(model, p.prefix) {
			return p.provider + "/" + model
		}
	}
	return model
}
