package inbox

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// PassLimit is how many items one Pending gives at most.
const PassLimit = 256

// Item is one file of the inbox: a command, or what must be rejected. Exactly one of them is set.
type Item struct {
	Command *Command
	Reject  *Reject
}

// Reject is a file that is not a command.
type Reject struct {
	Name   string // of the file, any bytes but a slash; one of the agent's after from-agent/
	Reason string // one line, for a person
	Code   string // for programs: docs/reference/format.md has them
}

// Box is the runner's side of an inbox. It keeps nothing open. The files are the state. Only files
// that are done or rejected and could not be removed are remembered, as long as they are there, and
// skipped.
//
// It has two parts. That of people takes every command, that of the agent only what an agent may
// ask for.
type Box struct {
	loopDir string
	folder  string // in the loop's folder
	agent   *Box   // the part of the agent; nil in that part itself
	watch   watchSettings

	newID func(time.Time) (string, error) // for files that are named by their kind

	mu         sync.Mutex
	stuck      map[string]fs.FileInfo // by name
	unfinished map[string]*unfinished // by name
	wake       chan struct{}          // of the running Watch
}

// stuckMost bounds what is remembered, in files.
const stuckMost = 1 << 17

// Open returns the inbox of the loop at loopDir and makes its folders if they are missing. The
// caller holds the loop's lock.
func Open(loopDir string) (*Box, error) {
	abs, err := filepath.Abs(loopDir)
	if err != nil {
		return nil, fmt.Errorf("open inbox: %w", err)
	}
	newID := monotonicIDs(rand.Reader)
	box := newBox(abs, Folder, newID)
	box.agent = newBox(abs, AgentFolder, newID)
	d, err := makeDir(abs, Folder)
	if err != nil {
		return nil, fmt.Errorf("open inbox: %w", err)
	}
	d.close()
	// The agent may put anything in the place of its part, which is empty then until the next Open.
	part := filepath.Join(abs, AgentFolder)
	if info, err := os.Lstat(part); err == nil && !info.IsDir() {
		_ = safefile.Move(part, part+".aside-"+rand.Text()) // else it stays empty
	}
	if d, err := makeDir(abs, AgentFolder); err == nil {
		d.close()
	}
	return box, nil
}

func newBox(loopDir, folder string, newID func(time.Time) (string, error)) *Box {
	return &Box{
		loopDir: loopDir, folder: folder, watch: defaultWatch, newID: newID,
		stuck: map[string]fs.FileInfo{}, unfinished: map[string]*unfinished{},
	}
}

func (b *Box) open() (*dir, error) { return openDir(b.loopDir, b.folder) }

// Pending claims what was dropped and returns all items that are not yet done or rejected: commands
// in the order of their ids, then the files that are not commands. It gives at most PassLimit
// items; when it gives that many, call it again after their Done and Reject, without waiting for a
// wake-up. It only renames files: <id>.json to <id>.claimed, and <kind>.json to <id>.<kind>.claimed
// with a new id. A file for which Done or Reject has failed is not returned again by this Box, as
// long as it is the same file. A file that is named by its kind and is still being written is left
// for a later call. The part of the agent comes last, so that no number of its files delays a
// person.
//
// An inbox that has vanished is an error that is fs.ErrNotExist. It is not created again, since
// that would keep the loop's folder from being removed. The part of the agent is empty then.
func (b *Box) Pending() ([]Item, error) {
	items, err := b.pending(PassLimit)
	if err != nil || len(items) == PassLimit {
		return items, err
	}
	more, err := b.agent.pending(PassLimit - len(items))
	if isAbsent(err) {
		err = nil
	}
	for _, item := range more {
		if item.Reject != nil {
			item.Reject.Name = AgentFolder + "/" + item.Reject.Name
		}
		if !slices.ContainsFunc(items, item.sharesID) { // else it comes again, once the other is done
			items = append(items, item)
		}
	}
	return items, err
}

// sharesID reports whether two commands have one id, as an agent can choose it.
func (i Item) sharesID(other Item) bool {
	return i.Command != nil && other.Command != nil && i.Command.ID == other.Command.ID
}

// isAbsent reports whether a part is not there, or is no folder, such as a link to one.
func isAbsent(err error) bool {
	_, unsafe := errors.AsType[*safefile.Error](err)
	return unsafe || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

func (b *Box) pending(limit int) ([]Item, error) {
	d, err := b.open()
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	defer d.close()
	files, err := b.firstFiles(d, limit)
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	items := make([]Item, 0, len(files))
	for _, f := range files {
		c, err := b.claim(d, &f)
		switch {
		case errors.Is(err, fs.ErrNotExist): // withdrawn since the folder was read
		case errors.Is(err, errUnfinished):
		case errors.Is(err, errRefused):
			items = append(items, Item{Reject: &Reject{Name: f.name, Reason: reason(err), Code: codeOf(err)}})
		case err != nil:
			return items, fmt.Errorf("claim command: %w", err)
		default:
			items = append(items, Item{Command: &c})
		}
	}
	return items, nil
}

// file is a name in the inbox.
type file struct {
	name    string
	id      string // "" if the name has none
	kind    Kind   // "" if the name has none
	claimed bool
}

// isCommand reports whether the name is one that a command may have.
func (f file) isCommand() bool { return f.id != "" || f.kind != "" }

// parseName reads a name in the inbox, and reports whether it concerns the runner.
func parseName(name string) (f file, concerns bool) {
	if strings.HasPrefix(name, ".") || name == RejectedFolder {
		return file{}, false
	}
	if stem, ok := strings.CutSuffix(name, droppedSuffix); ok {
		if canonicalID(stem) {
			return file{name: name, id: stem}, true
		}
		kind, _, _ := strings.Cut(stem, ".")
		if slices.Contains(event.CommandKinds, Kind(kind)) {
			return file{name: name, kind: Kind(kind)}, true
		}
	}
	if stem, ok := strings.CutSuffix(name, claimedSuffix); ok {
		id, kind, given := strings.Cut(stem, ".")
		if canonicalID(id) && (!given || slices.Contains(event.CommandKinds, Kind(kind))) {
			return file{name: name, id: id, kind: Kind(kind), claimed: true}, true
		}
	}
	return file{name: name}, true
}

// order sorts commands by id, then commands without an id by name, then the rest by name, so that
// no number of odd files delays a stop. Of one id, the claimed file comes first.
func order(a, b file) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.id, b.id),
		strings.Compare(a.name, b.name)) // .claimed before .json
}

func (f file) rank() int {
	switch {
	case f.id != "":
		return 0
	case f.kind != "":
		return 1
	}
	return 2
}

// firstFiles returns the first limit files in order, without those that are stuck or unfinished. It
// reads the whole folder and keeps little of it at any time.
func (b *Box) firstFiles(d *dir, limit int) ([]file, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var first []file
	there := make(map[string]fs.FileInfo, len(b.stuck))
	writing := make(map[string]*unfinished, len(b.unfinished))
	for {
		names, err := d.handle.Readdirnames(1024)
		for _, name := range names {
			f, concerns := parseName(name)
			switch {
			case !concerns:
			case b.isStuck(d, name):
				there[name] = b.stuck[name]
			case b.isBeingWritten(d, name):
				writing[name] = b.unfinished[name]
			default:
				if u := b.unfinished[name]; u != nil {
					writing[name] = u // claim knows whether it has settled
				}
				first = append(first, f)
			}
		}
		if len(first) > 4*limit || err != nil {
			slices.SortFunc(first, order)
			first = first[:min(len(first), limit)]
		}
		if errors.Is(err, io.EOF) {
			b.stuck, b.unfinished = there, writing
			return first, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// isStuck reports whether a name is still that of a remembered file, and not of a new one. b.mu is
// held.
func (b *Box) isStuck(d *dir, name string) bool {
	was, ok := b.stuck[name]
	if !ok {
		return false
	}
	now, err := d.root.Lstat(name)
	return err == nil && os.SameFile(was, now)
}

// remember keeps Pending from returning a file again.
func (b *Box) remember(d *dir, name string) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return // it is gone
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.stuck) < stuckMost {
		b.stuck[name] = info
	}
}

// errRefused marks the errors for which a file is rejected. All others are the folder's, and may be
// temporary.
var errRefused = errors.New("refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errRefused, fmt.Errorf(format, args...))
}

// reason is the text of an error of refuse, as one line.
func reason(err error) string {
	s := strings.TrimPrefix(err.Error(), errRefused.Error()+": ")
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// claim reads a command and, in one rename, takes it out of Withdraw's reach. On return, f has the
// file's new name.
func (b *Box) claim(d *dir, f *file) (Command, error) {
	if !f.isCommand() {
		return Command{}, refuse("%w", wrong("command-name", "its name is neither <id>%s with the id a ULID in upper case, nor <kind>%s",
			droppedSuffix, droppedSuffix))
	}
	content, info, err := d.read(f.name)
	if err != nil {
		return Command{}, err
	}
	if f.kind != "" && !f.claimed && isUnfinished(content) && !b.hasSettled(f.name, info) {
		return Command{}, errUnfinished
	}
	c, err := decode(*f, content)
	if err != nil {
		return Command{}, refuse("%w", err)
	}
	if b.agent == nil && !c.Kind.IsAgents() {
		return Command{}, refuse("%w", wrong("agent-may-not", "%s is up to a person: an agent may ask, wait and be blocked", c.Kind))
	}
	if f.claimed {
		return c, nil
	}
	if f.id == "" {
		return b.claimByKind(d, f)
	}
	return c, moveFile(d, f, f.id+claimedSuffix)
}

// claimByKind gives the command of a file that is named by its kind an id, and claims it, in one
// rename: after a crash it either has both or neither. The folder is synced, or the next runner
// might find it again, give it another id, and deliver it twice. Another file may have replaced it
// since it was read, so it is read again under the new name, which no other file takes.
func (b *Box) claimByKind(d *dir, f *file) (Command, error) {
	id, err := b.giveID(d)
	if err != nil {
		return Command{}, err
	}
	if err := claimAs(d, f, id); err != nil {
		return Command{}, err
	}
	return b.claim(d, f)
}

// giveID returns an id whose time is that of the folder's last change, which is from the file
// system's clock, as for a drop. The file's own time may be older: moving a file does not change
// it.
func (b *Box) giveID(d *dir) (string, error) {
	info, err := d.handle.Stat()
	if err != nil {
		return "", err
	}
	id, err := b.newID(info.ModTime())
	if err != nil {
		return "", refuse("it cannot be given an id: %w", err)
	}
	return id, nil
}

// claimAs renames the file of a command without id, durably.
func claimAs(d openBox, f *file, id string) error {
	if err := moveFile(d, f, id+"."+string(f.kind)+claimedSuffix); err != nil {
		return err
	}
	f.id, f.claimed = id, true
	return d.names().Sync()
}

// moveFile gives a file the name of a claim.
func moveFile(d openBox, f *file, newName string) error {
	err := d.place(f.name, newName)
	switch {
	case err == nil:
		f.name = newName
	case errors.Is(err, fs.ErrExist):
		return refuse("%w", wrong("command-twice", "a command with this id is being handled"))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return refuse("it cannot be claimed: %w", err)
	}
	return err
}

// read reads a regular file of at most MaxSize.
func (d *dir) read(name string) ([]byte, fs.FileInfo, error) {
	f, err := safefile.OpenIn(d.root, name)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	content, err := safefile.ReadAll(f, MaxSize)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	return content, info, nil
}

// unreadable refuses a file whose reading fails for a cause of its own. Other errors are the
// folder's.
func unreadable(err error) error {
	if problem, ok := errors.AsType[*safefile.Error](err); ok {
		if problem.Problem == safefile.TooLarge {
			return refuse("it %w", wrong("command-size", "%s", problem.Reason()))
		}
		return refuse("it %s", problem.Reason())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EIO) {
		return refuse("it cannot be read: %w", err)
	}
	return err
}

// Done removes a claimed command. Call it when the receipt is in the journal and synced: until
// then, the file is the only copy. A command that is not there is done already. If the file cannot
// be removed, Done returns an error, and this Box still treats the command as done.
func (b *Box) Done(id string) error {
	if !canonicalID(id) {
		return fmt.Errorf("remove command: %.40q is not an id", id)
	}
	removed, err := b.removeClaim(id)
	if err == nil && !removed {
		if _, err = b.agent.removeClaim(id); isAbsent(err) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("remove command: %w", err)
	}
	return nil
}

// removeClaim removes the claim of a command, and reports whether there was one.
func (b *Box) removeClaim(id string) (bool, error) {
	d, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer d.close()
	for _, name := range claimNames(id) {
		err := d.root.Remove(name)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			b.remember(d, name)
			return false, err
		}
	}
	return false, nil
}

// claimNames returns the names that the claim of a command may have.
func claimNames(id string) []string {
	names := []string{id + claimedSuffix}
	for _, kind := range event.CommandKinds {
		names = append(names, id+"."+string(kind)+claimedSuffix)
	}
	return names
}
