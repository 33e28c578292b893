package moving

import (
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// ownFile matches the files of a loop's folder that an export writes, the only ones that an import
// takes. The rest means something on one machine alone (locks, the worktree, commands that wait in
// the inbox), or is not ralph's.
var ownFile = units.Pattern(`^(task\.md|prompt\.md|reflect\.md|DONE|WAIT_WITHOUT_RESTART|PR\.md` +
	`|config\.json|state\.json|telemetry\.json|runner\.log|fleet\.json|facts\.md` +
	`|guardrail_[0-9]+_[A-Za-z0-9_]+(-[0-9]+)?\.log` +
	`|journal/[0-9]{6,}-i[0-9]{4,}\.jsonl(\.zst|\.torn-[0-9]+)?` +
	`|(blobs|guardrail-files)/[0-9a-f]{64}` +
	`|put-back/[0-9a-f]{8}-[^/\\]+` +
	`|iterations/[0-9]{3,}\.json)$`)

// The limits of an archive and of its work tree. A loop of 10,000 iterations has some 100,000
// files; text is packed to a tenth, and seldom to less than a fiftieth.
const (
	maxFiles  = 1_000_000
	maxBytes  = 64_000_000_000
	maxRatio  = 200        // how many times its packed size
	freeBytes = 64_000_000 // to which maxRatio does not apply
	headBytes = 4096       // that each file counts beside its content: a block of the disk
)

// A meter adds up what an archive unpacks to.
type meter struct {
	packed int64 // the size of the archive; 0 while it is not known
	files  int64
	bytes  int64
}

// add counts files, and returns an error if the archive may not have them.
func (m *meter) add(files, bytes int64) error {
	m.files += files
	// A header may name any size: no sum may overflow.
	m.bytes = min(m.bytes, maxBytes) + min(bytes, maxBytes) + min(files, maxFiles)*headBytes
	return m.check()
}

func (m *meter) check() error {
	switch {
	case m.files > maxFiles:
		return tooLarge("it has more than %d files", maxFiles)
	case m.bytes > maxBytes:
		return tooLarge("it unpacks to more than %s", units.Bytes(maxBytes))
	case m.packed > 0 && m.bytes > max(freeBytes, m.packed*maxRatio):
		return tooLarge("its %s unpack to more than %s", units.Bytes(m.packed), units.Bytes(max(freeBytes, m.packed*maxRatio)))
	}
	return nil
}

func tooLarge(format string, args ...any) error {
	return fmt.Errorf("%s: the limits are %d files, %s, and %d times its own size if that is more than %s",
		fmt.Sprintf(format, args...), maxFiles, units.Bytes(maxBytes), maxRatio, units.Bytes(freeBytes))
}

// unwanted is the refusal to import a file that a loop does not make.
func unwanted(err error) error {
	return cli.Refuse("nothing was imported: ask who made the file; if you trust them, 'ralph export' there writes it again", "%w", err)
}

// progress says how much of a large file was read.
type progress struct {
	from  io.Reader
	to    io.Writer
	size  int64
	read  int64
	tenth int64 // said last
}

// quick is the size of a file about which nothing is said.
const quick = 64_000_000

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	p.read += int64(n)
	if tenth := 10 * p.read / max(p.size, 1); p.size >= quick && tenth > p.tenth {
		p.tenth = tenth
		cli.Tell(p.to, "unpacked %d %% of %s", 10*tenth, units.Bytes(p.size))
	}
	return n, err
}
