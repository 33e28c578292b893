package provenance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/clean"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Ref has the notes on the commits that loops made.
const Ref = "refs/notes/ralph"

// A Note says which iteration made a commit.
type Note struct {
	Format    int       `json:"ralph"` // 1
	Loop      string    `json:"loop"`  // the loop's id
	Name      string    `json:"name"`
	Iteration int       `json:"iteration"`
	Seq       event.Seq `json:"seq"` // of the decision that led to the note
	Agent     string    `json:"agent,omitempty"`
	Models    []string  `json:"models,omitempty"`
	USD       *float64  `json:"usd"` // so far; null if it is not known
	Checks    []Check   `json:"checks,omitempty"`
	// Journal is what shows it; nil if the journal could not be read.
	Journal *Prefix `json:"journal,omitempty"`
}

// A Prefix is the beginning of a segment of a journal, up to an event and with its line.
type Prefix struct {
	Segment string    `json:"segment"`
	Seq     event.Seq `json:"seq"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
}

const (
	mostNotes    = 10_000  // that are read of one repository
	notesAtOnce  = 1000    // that git is asked for; all of them may be more than it may answer
	mostNote     = 8 << 10 // bytes of one
	mostOfList   = 50      // entries of a list in a note
	mostWord     = 300     // bytes of a text in a note
	noteAttempts = 5       // to add a note while others do
)

// PrefixAt returns the beginning of the last segment of a journal up to an event; nil if that is
// not there.
func PrefixAt(dir string, seq event.Seq) (*Prefix, error) {
	list, err := journal.Segments(dir)
	if err != nil || len(list) == 0 || list[len(list)-1].Packed {
		return nil, err
	}
	name := list[len(list)-1].Name
	f, err := safefile.Open(filepath.Join(dir, "journal", name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, sum, lines := Prefix{Segment: name}, sha256.New(), bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		_, _ = sum.Write(line)
		p.Bytes += int64(len(line))
		if e, err := event.Parse(bytes.TrimSuffix(line, []byte{'\n'})); err == nil && e.Seq == seq {
			p.Seq, p.SHA256 = seq, hex.EncodeToString(sum.Sum(nil))
			return &p, nil
		}
	}
}

// Write adds a note to commits of the repository around dir, and replaces an earlier one of ralph.
// Other programs may add notes at the same time. Where git signs the person's commits, that of the
// notes is signed too, which may start the person's program for that.
func Write(ctx context.Context, dir string, n Note, commits []string, env ...string) error {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	if err := write(ctx, dir, n, commits, env); err != nil {
		return fmt.Errorf("add a note to %s: %w", units.Quantity(len(commits), "commit"), err)
	}
	return nil
}

func write(ctx context.Context, dir string, n Note, commits, env []string) error {
	text, err := n.text()
	if err != nil {
		return err
	}
	g := repo.In(dir, env...)
	if _, err := g.Line(ctx, "var", "GIT_COMMITTER_IDENT"); err != nil { // git does not know who commits
		g = g.WithOwnIdentity()
	}
	// The notes are written under a name of this loop's alone, and put in place only if no
	// other program has added some meanwhile.
	own := Ref + "-of-" + n.Loop
	for attempt := 1; ; attempt++ {
		err := writeOnce(ctx, g, own, append(text, '\n'), commits)
		if err == nil || attempt == noteAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// text is a note as it is written: at most as long as one that is read. Guardrails may be many
// and long.
func (n Note) text() (text []byte, err error) {
	n = n.clean(mostWord)
	n.Format = 1
	for most := mostWord; ; most /= 2 {
		if text, err = json.Marshal(n); err != nil || len(text) < mostNote || most == 1 {
			return text, err
		}
		n = n.clean(most)
	}
}

func writeOnce(ctx context.Context, g repo.Git, own string, text []byte, commits []string) (err error) {
	old, err := g.Line(ctx, "rev-parse", "--verify", "--quiet", Ref+"^{commit}")
	if err != nil && repo.ExitCode(err) != 1 {
		return err
	}
	if old == "" {
		_, err = g.Read(ctx, "update-ref", "--no-deref", "-d", own)
	} else {
		_, err = g.Read(ctx, "update-ref", "--no-deref", own, old)
	}
	if err != nil {
		return err
	}
	defer func() {
		_, removed := g.Read(context.WithoutCancel(ctx), "update-ref", "--no-deref", "-d", own)
		err = errors.Join(err, removed)
	}()
	for _, commit := range commits {
		if _, err := g.Feed(ctx, text, "notes", "--ref="+own, "add", "--force", "--file=-", commit); err != nil {
			return err
		}
	}
	made, err := g.Line(ctx, "rev-parse", "--verify", own+"^{commit}")
	if err != nil {
		return err
	}
	if signs, _ := g.Line(ctx, "config", "--type=bool", "--get", "commit.gpgSign"); signs == "true" {
		if made, err = sign(ctx, g, made, old); err != nil {
			return fmt.Errorf("sign it: %w", err)
		}
	}
	if old == "" {
		old = strings.Repeat("0", len(made))
	}
	_, err = g.Read(ctx, "update-ref", "--no-deref", "-m", "notes: added by ralph", Ref, made, old)
	return err
}

// sign makes a signed commit of the notes in another one.
func sign(ctx context.Context, g repo.Git, commit, parent string) (string, error) {
	args := []string{"commit-tree", "--gpg-sign", "-m", "Notes added by ralph"}
	if key, _ := g.Line(ctx, "config", "--get", "user.signingKey"); key != "" {
		args[1] += "=" + key
	}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return g.Line(ctx, append(args, commit+"^{tree}")...)
}

// Notes returns the notes of the repository around dir, by commit. A commit has several if git has
// joined those of commits that became one. What is no note of this format is left out. All texts
// are clean and bounded; whether they are true is not known.
func Notes(ctx context.Context, dir string, env ...string) (map[string][]Note, error) {
	ctx, cancel := repo.Bounded(ctx, repo.ReadTime)
	defer cancel()
	g := repo.In(dir, env...)
	list, err := g.Line(ctx, "notes", "--ref="+Ref, "list")
	if repo.ExitCode(err) > 0 || list == "" {
		return nil, nil // there are none
	}
	if err != nil {
		return nil, fmt.Errorf("read the notes: %w", err)
	}
	var blobs, commits []string
	for line := range strings.Lines(list) {
		blob, commit, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && len(commits) < mostNotes {
			blobs, commits = append(blobs, blob+"\n"), append(commits, commit)
		}
	}
	found := map[string][]Note{}
	at := 0
	for names := range slices.Chunk(blobs, notesAtOnce) {
		err = g.Objects(ctx, []byte(strings.Join(names, "")), mostNote, func(content []byte) {
			if all := ParseNotes(content); len(all) > 0 {
				found[commits[at]] = all
			}
			at++
		})
		if err != nil {
			return nil, fmt.Errorf("read the notes: %w", err)
		}
	}
	return found, nil
}

// ParseNotes reads what git has as the note on one commit.
func ParseNotes(content []byte) (all []Note) {
	from := json.NewDecoder(bytes.NewReader(content))
	for len(all) < mostOfList {
		var n Note
		if err := from.Decode(&n); err != nil {
			return all
		}
		if n.Format == 1 && n.Loop != "" && n.Iteration > 0 {
			all = append(all, n.clean(mostWord))
		}
	}
	return all
}

// clean returns a note with clean texts; those in lists have at most so many characters.
func (n Note) clean(most int) Note {
	word := func(s string) string { return units.Cut(clean.Line(s), most) }
	n.Loop, n.Name, n.Agent = units.Cut(clean.Line(n.Loop), mostWord), units.Cut(clean.Line(n.Name), mostWord), units.Cut(clean.Line(n.Agent), mostWord)
	n.Models, n.Checks = slices.Clone(n.Models[:min(len(n.Models), mostOfList)]), slices.Clone(n.Checks[:min(len(n.Checks), mostOfList)])
	for i, model := range n.Models {
		n.Models[i] = word(model)
	}
	for i := range n.Checks {
		n.Checks[i].Name = word(n.Checks[i].Name)
	}
	if n.Journal != nil {
		journal := *n.Journal
		journal.Segment, journal.SHA256 = units.Cut(clean.Line(journal.Segment), mostWord), units.Cut(clean.Line(journal.SHA256), mostWord)
		n.Journal = &journal
	}
	return n
}
