package plugininstall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/plugin"
)

const (
	pluginFolder = "plugin" // in the marketplace
	mostFile     = 1 << 20  // bytes of a file that is compared
)

// portable is the manifest of the Agent Plugins standard, which knows no hooks.
const portable = "plugin.json"

// content returns the files of the agent's folder by their path, and the version of the plugin. It
// ends with a hash of the files: agents that copy a plugin then notice that another build of ralph
// has another one.
func (a agent) content() (files map[string][]byte, version string, err error) {
	files = map[string][]byte{}
	hash := sha256.New()
	where := ""
	if a.hasMarketplaces() {
		where = pluginFolder + "/"
	}
	err = fs.WalkDir(a.plugin(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == portable && a.portableHidesHooks {
			return err
		}
		text, err := fs.ReadFile(a.plugin(), name)
		if err == nil {
			fmt.Fprintf(hash, "%s %d\n%s", name, len(text), text)
			files[where+name] = text
		}
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("read the plugin: %w", err)
	}
	var manifest struct{ Version string }
	if err := json.Unmarshal(files[a.manifest], &manifest); err != nil {
		return nil, "", fmt.Errorf("read the plugin: %w", err)
	}
	version = manifest.Version + "+" + hex.EncodeToString(hash.Sum(nil))[:12]
	for name, text := range files {
		if name == a.manifest || strings.HasSuffix(name, "/plugin.json") {
			files[name] = bytes.Replace(text, []byte(`"version": "`+manifest.Version+`"`), []byte(`"version": "`+version+`"`), 1)
		}
	}
	if a.hasMarketplaces() {
		maps.Copy(files, plugin.Marketplaces())
	}
	return files, version, nil
}

// A folder is the marketplace of one agent.
type folder struct {
	path  string
	files map[string][]byte // as they have to be
}

// difference returns what has to be written and removed, by path in the folder, sorted.
func (f folder) difference() (write, remove []string, err error) {
	found, err := f.found()
	if err != nil {
		return nil, nil, err
	}
	for name, want := range f.files {
		text, err := safefile.Read(filepath.Join(f.path, name), mostFile)
		if err != nil || !bytes.Equal(text, want) || slices.ContainsFunc(found, func(other string) bool { return above(other, name) }) {
			write = append(write, name)
		}
	}
	for _, name := range found {
		if _, ours := f.files[name]; !ours {
			remove = append(remove, name)
		}
	}
	slices.Sort(write)
	return write, remove, nil
}

// above reports whether a path is that of a folder of the other one. What is found there is no
// folder: a link to one leads out of the plugin's.
func above(name, other string) bool { return strings.HasPrefix(other, name+"/") }

// found returns what is in the folder, by path, folders left out.
func (f folder) found() (names []string, err error) {
	if info, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err == nil && !info.IsDir() {
		return nil, cli.Refuse("remove it", "%s is no folder", f.path)
	}
	err = filepath.WalkDir(f.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(f.path, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the folder of the plugin: %w", err)
	}
	return names, nil
}

// update writes and removes files. The deepest come first, so that an agent which reads the folder
// meanwhile finds most of what a manifest names. What has the place of a folder is removed before
// anything is written.
func (f folder) update(write, remove []string) error {
	write = slices.Clone(write)
	slices.SortStableFunc(write, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	last := slices.Clone(remove)
	for _, name := range remove {
		if slices.ContainsFunc(write, func(other string) bool { return above(name, other) }) {
			last = slices.DeleteFunc(last, func(other string) bool { return other == name })
			if err := f.drop(name); err != nil {
				return err
			}
		}
	}
	for _, name := range write {
		path := filepath.Join(f.path, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = safefile.WriteFile(path, f.files[name], 0o644)
		}
		if err != nil {
			return fmt.Errorf("write the plugin: %w", err)
		}
	}
	for _, name := range last {
		if err := f.drop(name); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a file, or a link and not what it leads to.
func (f folder) drop(name string) error {
	if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old file of the plugin: %w", err)
	}
	return nil
}
