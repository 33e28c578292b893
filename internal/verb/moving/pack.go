package moving

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// staysHere are the names in a loop's folder that mean nothing elsewhere: locks, the space for the
// last events, the fence; and what the bundle holds. An export does not name them.
var staysHere = []string{
	"run.lock", "notify", loopfolder.Reserve, loopfolder.Spare, "sandbox", workspace.Folder, workspace.Record, workspace.MergeFolder,
	loopfolder.Moved, loopfolder.Pool, "inbox/rejected", "from-agent/rejected",
}

// ownFolders are those whose files are packed, or named to a person.
var ownFolders = []string{".", "journal", "blobs", guardrail.KeptDir, keep.FoundDir, loopstate.IterationsDir, "inbox", "from-agent"}

// pack writes an archive, with files without the journal. It is durable on return, but for its
// name. It returns the names that it left out of it. held is the zero store where it gets no
// held-out guardrails.
func pack(name string, m Manifest, dir, bundle, settings, prompt string, held holdout.Store, files bool) (left []string, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := zstd.NewWriter(f)
	if err != nil {
		return nil, err
	}
	p := packer{Writer: tar.NewWriter(z), files: files}
	if err = p.all(m, dir, bundle, settings, prompt, held); err != nil {
		return nil, errors.Join(err, z.Close())
	}
	if err = p.Close(); err == nil {
		err = z.Close()
	}
	if err == nil {
		err = fsync(f)
	}
	if err == nil {
		p.meter.packed, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = p.meter.check()
	}
	return p.left, err
}

// Tests notice with these what was made durable, and when.
var (
	fsync      = (*os.File).Sync
	syncFolder = safefile.SyncFolder
)

type packer struct {
	*tar.Writer

	meter meter    // what no import takes is not written
	left  []string // in the loop's folder
	files bool     // without the journal: the loop may run, and remove files meanwhile
}

func (p *packer) all(m Manifest, dir, bundle, settings, prompt string, held holdout.Store) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := p.text(manifestName, text, m); err != nil {
		return err
	}
	if bundle != "" {
		if err := p.file(bundleName, bundle); err != nil {
			return err
		}
	}
	if err := p.file(settingsName, settings); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if held.Dir != "" {
		if err := p.heldOut(m, held); err != nil {
			return err
		}
	}
	return p.folder(dir, prompt)
}

func (p *packer) text(name string, text []byte, m Manifest) error {
	err := p.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: m.At})
	if err == nil {
		_, err = p.Write(text)
	}
	return err
}

// folder adds the loop's own files, and a copy of a prompt file from outside. It skips links and
// devices, which no file of ralph's is.
func (p *packer) folder(dir, prompt string) error {
	copied := ""
	if prompt != "" {
		if linked, err := filepath.EvalSymlinks(prompt); err == nil {
			prompt = linked // as a start takes it
		}
		switch err := p.file(loopPrefix+loopstate.PromptCopy, prompt); {
		case err == nil:
			copied = loopstate.PromptCopy
		case errors.Is(err, fs.ErrNotExist):
			p.left = append(p.left, prompt+" (its prompt, which is gone)")
		default:
			return err
		}
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if p.files && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if name == copied {
			return nil
		}
		if entry.Type().IsRegular() && ownFile().MatchString(name) {
			if p.files && isJournal(name) {
				return nil
			}
			err := p.file(loopPrefix+name, path)
			if p.files && errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}
		if slices.Contains(ownFolders, name) && entry.IsDir() {
			return nil
		}
		// A name that begins with a dot is a file half written, or the .git of HideFromClean.
		if !slices.Contains(staysHere, name) && !strings.HasPrefix(entry.Name(), ".") {
			p.left = append(p.left, name)
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

func (p *packer) file(name, path string) error {
	f, err := safefile.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := p.meter.add(1, info.Size()); err != nil {
		return err
	}
	if err := p.WriteHeader(&tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	_, err = io.Copy(p, io.LimitReader(f, info.Size()))
	return err
}
