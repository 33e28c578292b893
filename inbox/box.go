package inbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// PassLimit is how many items one Pending gives at most.
const PassLimit = 256

// Item is one file of the inbox: a command, or what must be rejected. Exactly one of them is set.
type Item struct {
	Command *Command
	Reject  *Reject
}

// Reject is a file that is no command.
type Reject struct {
	Name   string // of the file, any bytes but a slash
	Reason string // one line, for a person
}

// Box is the runner's side of an inbox. It keeps nothing open. The files are the state, but for those that are done with and could
// not be moved away: these it remembers for as long as they stand there, and passes over.
type Box struct {
	loopDir string
	watch   watchSettings

	mu    sync.Mutex
	stuck map[string]fs.FileInfo // by name
}

// stuckMost bounds what is remembered, in files.
const stuckMost = 1 << 17

// Open returns the inbox of the loop at loopDir and makes its folder if it is missing. The caller holds the loop's lock.
func Open(loopDir string) (*Box, error) {
	abs, err := filepath.Abs(loopDir)
	if err != nil {
		return nil, fmt.Errorf("open inbox: %w", err)
	}
	d, err := makeDir(abs)
	if err != nil {
		return nil, fmt.Errorf("open inbox: %w", err)
	}
	d.close()
	return &Box{loopDir: abs, watch: defaultWatch, stuck: map[string]fs.FileInfo{}}, nil
}

// Pending claims what was dropped and returns all items that are not yet done or rejected: commands in the order of their ids, then the files that
// are none. It gives at most PassLimit items; when it gives that many, call it again after their Done and Reject, without waiting for
// a wake-up. It changes no file but by renaming <id>.json to <id>.claimed. A file of which Done or Reject has failed is not given again
// by this Box, as long as it is the same file.
//
// An inbox that has vanished is an error that is fs.ErrNotExist. It is not made again: somebody removes the loop's folder, of which that
// would leave something.
func (b *Box) Pending() ([]Item, error) {
	d, err := openDir(b.loopDir)
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	defer d.close()
	files, err := b.firstFiles(d, PassLimit)
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	items := make([]Item, 0, len(files))
	for _, f := range files {
		c, err := d.claim(f)
		switch {
		case errors.Is(err, fs.ErrNotExist): // withdrawn since the folder was read
		case errors.Is(err, errRefused):
			items = append(items, Item{Reject: &Reject{Name: f.name, Reason: reason(err)}})
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
	id      string // "" if the name is none of a command
	claimed bool
}

// parseName says what a name in the inbox is, and whether it concerns the runner at all.
func parseName(name string) (f file, concerns bool) {
	if strings.HasPrefix(name, ".") || name == rejectedFolder {
		return file{}, false
	}
	f = file{name: name}
	id, isCommand := strings.CutSuffix(name, droppedSuffix)
	if !isCommand {
		id, f.claimed = strings.CutSuffix(name, claimedSuffix)
		isCommand = f.claimed
	}
	if isCommand && canonicalID(id) {
		f.id = id
	} else {
		f.claimed = false
	}
	return f, true
}

// order puts commands by id before the rest by name, so that no number of odd files keeps a stop waiting. Of one id, what is claimed goes first.
func order(a, b file) int {
	if (a.id == "") != (b.id == "") {
		return strings.Compare(b.id, a.id)
	}
	if a.id != b.id {
		return strings.Compare(a.id, b.id)
	}
	return strings.Compare(a.name, b.name) // .claimed before .json
}

// firstFiles returns the first limit files in order, without those that are stuck. It reads the whole folder and keeps little of it at any
// time.
func (b *Box) firstFiles(d *dir, limit int) ([]file, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var first []file
	there := make(map[string]fs.FileInfo, len(b.stuck))
	for {
		names, err := d.handle.Readdirnames(1024)
		for _, name := range names {
			f, concerns := parseName(name)
			switch {
			case !concerns:
			case b.isStuck(d, name):
				there[name] = b.stuck[name]
			default:
				first = append(first, f)
			}
		}
		if len(first) > 4*limit || err != nil {
			slices.SortFunc(first, order)
			first = first[:min(len(first), limit)]
		}
		if errors.Is(err, io.EOF) {
			b.stuck = there
			return first, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// isStuck reports whether a name is that of a file that is remembered, and not of another one by now. b.mu is held.
func (b *Box) isStuck(d *dir, name string) bool {
	was, ok := b.stuck[name]
	if !ok {
		return false
	}
	now, err := d.root.Lstat(name)
	return err == nil && os.SameFile(was, now)
}

// remember keeps a file from being given again.
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

// errRefused marks the errors for which a file is rejected. All others are the folder's, and may pass.
var errRefused = errors.New("refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errRefused, fmt.Errorf(format, args...))
}

// reason is one line of what refuse was told.
func reason(err error) string {
	s := strings.TrimPrefix(err.Error(), errRefused.Error()+": ")
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// claim reads a command and, in one rename, takes it out of Withdraw's reach.
func (d *dir) claim(f file) (Command, error) {
	if f.id == "" {
		return Command{}, refuse("its name is not <id>%s with the id a ULID in upper case", droppedSuffix)
	}
	content, err := d.read(f.name)
	if err != nil {
		return Command{}, err
	}
	c, err := decode(f.id, content)
	if err != nil {
		return Command{}, refuse("%w", err)
	}
	if f.claimed {
		return c, nil
	}
	err = d.moveTo(f.name, d, f.id+claimedSuffix)
	switch {
	case errors.Is(err, fs.ErrExist):
		return Command{}, refuse("a command with this id is being handled")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Command{}, refuse("it cannot be claimed: %w", err)
	}
	return c, err
}

// read reads a regular file of at most MaxSize, and opens nothing else: some devices act when they are opened.
func (d *dir) read(name string) ([]byte, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := acceptable(info); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, opened) {
		return nil, refuse("it was replaced while it was being read")
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(content) > MaxSize {
		return nil, refuse("%w", errTooLarge)
	}
	return content, nil
}

// unreadable refuses a file whose reading fails for a cause of its own, which would otherwise keep all others waiting for ever.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EIO) {
		return refuse("it cannot be read: %w", err)
	}
	return err
}

func acceptable(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return refuse("it is a folder")
	case mode&fs.ModeSymlink != 0:
		return refuse("it is a symbolic link")
	case !mode.IsRegular():
		return refuse("it is not a regular file")
	case info.Size() > MaxSize:
		return refuse("%w", errTooLarge)
	}
	return nil
}

// Done removes a claimed command. Call it when the receipt is in the journal and synced: until then, the file is the only copy. A command that
// is not there is done already. One that cannot be removed is an error, and done all the same for this Box.
func (b *Box) Done(id string) error {
	if !canonicalID(id) {
		return fmt.Errorf("remove command: %.40q is not an id", id)
	}
	d, err := openDir(b.loopDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove command: %w", err)
	}
	defer d.close()
	if err := d.root.Remove(id + claimedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.remember(d, id+claimedSuffix)
		return fmt.Errorf("remove command: %w", err)
	}
	return nil
}

// Reject moves inbox/<name> to inbox/rejected/<name> and writes the reason beside it, in <name>.reason. Where either name is taken, both get
// a number; a name too long for a suffix is shortened. A file that is not there is rejected already. One that cannot be moved (it or the
// folder is another user's, or may not be changed) is an error, and this Box gives it no more. Nothing is read, followed or copied.
func (b *Box) Reject(name, reason string) error {
	if err := b.reject(name, reason); err != nil {
		return fmt.Errorf("reject inbox file %.80q: %w", name, err)
	}
	return nil
}

func (b *Box) reject(name, reason string) error {
	if _, concerns := parseName(name); !concerns || filepath.Base(name) != name {
		return errors.New("not the name of a file in an inbox")
	}
	d, err := openDir(b.loopDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.moveToRejected(name, reason); err != nil {
		b.remember(d, name)
		return err
	}
	return nil
}

// rejectTries is how many names are tried for a rejected file.
const rejectTries = 1024

func (d *dir) moveToRejected(name, reason string) error {
	rejected, err := d.openRejected()
	if err != nil {
		return err
	}
	defer rejected.close()
	base := shorten(name)
	for n := range rejectTries {
		target := base
		if n > 0 {
			target += "." + strconv.Itoa(n)
		}
		err := d.rejectAs(name, rejected, target, reason)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("%d files of that name are there: %w", rejectTries, fs.ErrExist)
}

// rejectAs writes the reason first: if this dies in between, the file is still in the inbox and is rejected again.
func (d *dir) rejectAs(name string, rejected *dir, target, reason string) error {
	note := target + ".reason"
	f, err := rejected.root.OpenFile(note, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, reason+"\n")
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.moveTo(name, rejected, target)
	}
	if err != nil {
		_ = rejected.root.Remove(note) // what went wrong is in err
	}
	return err
}

// openRejected opens inbox/rejected. Where something else has that name, it is put aside under a hidden one.
func (d *dir) openRejected() (*dir, error) {
	for n := range rejectTries {
		if info, err := d.root.Lstat(rejectedFolder); err != nil || info.IsDir() {
			return makeWithin(d.root, rejectedFolder)
		}
		err := d.moveTo(rejectedFolder, d, "."+rejectedFolder+"."+strconv.Itoa(n))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("what stands in the place of %s cannot be put aside: %w", rejectedFolder, fs.ErrExist)
}

// shorten leaves room in 255 bytes for a number and ".reason". It cuts between characters: macOS takes no other names.
func shorten(name string) string {
	const longest = 220
	if len(name) <= longest {
		return name
	}
	end := longest
	for end > longest-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}
