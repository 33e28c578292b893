package moving

import (
	"archive/tar"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// maxManifest bounds the manifest, in bytes.
const maxManifest = 1 << 20

// An archive is the file of an export.
type archive struct {
	Manifest
	file *os.File
	zstd *zstd.Decoder
	tar  *tar.Reader

	progress progress
	meter    meter
	held     *stage
	claim    *fence.Claim // of a pool, for whose host the loop is imported; or nil
}

// errForeign reports a file that no export wrote.
var errForeign = errors.New("it is no file of 'ralph export'")

// open reads the manifest.
func open(path string) (a *archive, err error) {
	a = &archive{held: &stage{}}
	if a.file, err = safefile.OpenLinked(path, os.O_RDONLY, 0); err != nil {
		return nil, err
	}
	info, err := a.file.Stat()
	if err != nil {
		return nil, errors.Join(err, a.file.Close())
	}
	a.meter.packed = info.Size()
	a.progress = progress{from: a.file, to: io.Discard, size: info.Size()}
	// Without goroutines, what it reads is read while this process waits for it.
	a.zstd, err = zstd.NewReader(&a.progress, zstd.WithDecoderMaxMemory(256<<20), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, a.file.Close())
	}
	a.tar = tar.NewReader(a.zstd)
	if err := a.readManifest(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *archive) close() {
	a.zstd.Close()
	_ = a.file.Close() // it was only read
}

func (a *archive) readManifest() error {
	header, err := a.tar.Next()
	if err != nil && !errors.Is(err, zstd.ErrMagicMismatch) {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if err != nil || header.Name != manifestName || header.Size > maxManifest {
		return errForeign
	}
	text, err := io.ReadAll(a.tar)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &a.Manifest); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if a.Format != formatVersion {
		return cli.Refuse("import it with a newer ralph", "it has the format %d, and this ralph reads %d", a.Format, formatVersion)
	}
	if _, err := ulid.ParseStrict(a.ID); err != nil {
		return fmt.Errorf("%w: the loop's id is %w", errForeign, err)
	}
	if err := registry.CheckName(a.Name); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if !filepath.IsLocal(filepath.FromSlash(a.Inside)) || slices.ContainsFunc(strings.Split(a.Inside, "/"), ofGit) {
		return fmt.Errorf("%w: the project is in %q", errForeign, a.Inside)
	}
	if r := a.Repo; r != nil && (!isCommit(r.Head) || !isCommit(r.Tree)) {
		return fmt.Errorf("%w: the commits are %q and %q", errForeign, r.Head, r.Tree)
	}
	return nil
}

// ofGit reports whether a folder's name means git's own on some file system.
func ofGit(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// isCommit reports whether a text is the id of an object, and not another name for one.
func isCommit(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && (len(id) == 40 || len(id) == 64)
}

// unpack writes the files of the archive to a folder, and nothing that no export writes. Held-out
// guardrails go to their stage.
func (a *archive) unpack(folder *os.Root) error {
	for {
		header, err := a.tar.Next()
		if errors.Is(err, io.EOF) {
			return a.ended()
		}
		if err != nil {
			return err
		}
		name, inLoop := strings.CutPrefix(header.Name, loopPrefix)
		heldOut := heldOutFile().FindStringSubmatch(header.Name)
		if path.Clean(header.Name) != header.Name {
			heldOut = nil
		}
		if header.Typeflag != tar.TypeReg ||
			!(inLoop && ownFile().MatchString(name)) && header.Name != bundleName && header.Name != settingsName && heldOut == nil {
			return unwanted(fmt.Errorf("it has %q, which no export writes", header.Name))
		}
		if err := a.meter.add(1, header.Size); err != nil {
			return unwanted(err)
		}
		in, mode := folder, os.FileMode(0o600)
		if heldOut != nil {
			in, mode = a.held.root, mode|header.FileInfo().Mode()&0o100
			if heldOut[2] == "guardrail.json" {
				a.held.seen++
			}
		}
		if in == nil {
			continue
		}
		if err := a.unpackFile(in, filepath.FromSlash(header.Name), mode); err != nil {
			return err
		}
	}
}

// ended reads on to the file's own end, where the checksum of all of it is compared.
func (a *archive) ended() error {
	switch n, err := io.CopyN(io.Discard, a.zstd, 1); {
	case n > 0:
		return unwanted(errors.New("it has more after its last file, which no export writes"))
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

func (a *archive) unpackFile(folder *os.Root, name string, mode os.FileMode) error {
	if err := folder.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := folder.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, a.tar)
	if err == nil {
		err = fsync(f)
	}
	return errors.Join(err, f.Close())
}
