package moving

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
)

// Held-out guardrails are in an export only where a person asks for them, and an import keeps them
// only where one asks again: they are commands, and a stranger may have made the file. They are
// never below the project's folder, where an agent reads them: neither the file of the export, nor
// what an import unpacks.

// heldOutFile matches their files in an archive: of each guardrail its words, and its files.
var heldOutFile = units.Pattern(`^held-out/([^/\\]+)/(guardrail\.json|files/.+)$`)

// heldOut returns the store of the loop's project, and refuses an output where an agent reads it.
func heldOut(e *cli.Env, s registry.Status, file string) (holdout.Store, error) {
	store := holdout.Open(e.Home, s.Project)
	all, err := store.Guardrails()
	if err != nil {
		return store, err
	}
	if len(all) == 0 {
		return store, cli.Refuse("'ralph holdout list' shows what there is; those of your own settings.json stay there", "the project has no held-out guardrail")
	}
	root, err := repo.WorkTree(s.Project)
	if err != nil {
		return store, err
	}
	if cli.Within(cli.WithoutLinks(root), filepath.Join(cli.WithoutLinks(filepath.Dir(file)), filepath.Base(file))) {
		return store, cli.Refuse("name a file outside of the project with -o FILE",
			"%s is in the project, where an agent reads the held-out guardrails", e.Short(file))
	}
	return store, nil
}

func (p *packer) heldOut(m Manifest, store holdout.Store) error {
	all, err := store.Guardrails()
	if err != nil {
		return err
	}
	for _, g := range all {
		text, err := json.Marshal(g)
		if err != nil {
			return err
		}
		in := heldOutPrefix + g.Name + "/"
		if err := p.text(in+"guardrail.json", text, m); err != nil {
			return err
		}
		for _, name := range g.Files {
			if err := p.file(in+"files/"+name, store.File(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// A stage has the held-out guardrails of an archive that is being imported. It is in ralph's home.
type stage struct {
	root *os.Root // nil if a person does not want them
	seen int      // that the archive has
}

func newStage(home string, wanted bool) (*stage, error) {
	if !wanted {
		return &stage{}, nil
	}
	folder := filepath.Join(home, holdout.Folder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(folder, ".importing-")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	return &stage{root: root}, err
}

func (s *stage) remove() {
	if s.root != nil {
		_ = s.root.Close() // it only has names
		_ = os.RemoveAll(s.root.Name())
	}
}

// guardrails are those that were unpacked.
func (s *stage) guardrails() (all []holdout.Guardrail, err error) {
	if s.root == nil {
		return nil, nil
	}
	names, err := os.ReadDir(filepath.Join(s.root.Name(), heldOutPrefix))
	if os.IsNotExist(err) {
		return nil, nil
	}
	for _, name := range names {
		var g holdout.Guardrail
		var text []byte
		if text, err = safefile.ReadIn(s.root, s.path(name.Name(), "guardrail.json"), maxManifest); err == nil {
			err = json.Unmarshal(text, &g)
		}
		if err != nil {
			return nil, unwanted(fmt.Errorf("its held-out guardrail %q: %w", name.Name(), err))
		}
		g.Name = name.Name()
		all = append(all, g)
	}
	return all, err
}

func (s *stage) path(guardrail, name string) string {
	return filepath.Join(heldOutPrefix, guardrail, name)
}

// check refuses what the project has already.
func (s *stage) check(store holdout.Store) error {
	coming, err := s.guardrails()
	if err != nil {
		return err
	}
	here, err := store.Guardrails()
	if err != nil {
		return err
	}
	for _, g := range coming {
		for _, other := range here {
			if other.Name == g.Name || slices.ContainsFunc(g.Files, func(name string) bool { return slices.Contains(other.Files, name) }) {
				return cli.Refuse(fmt.Sprintf("'ralph holdout remove %s' removes it, or import without --held-out", other.Name),
					"the project has the held-out guardrail %s already", other.Name)
			}
		}
	}
	return nil
}

// keep gives the project the guardrails, and tells which.
func (s *stage) keep(e *cli.Env, store holdout.Store, project string) error {
	all, err := s.guardrails()
	if err != nil {
		return err
	}
	for n, g := range all {
		var paths []string
		if files := filepath.Join(s.root.Name(), s.path(g.Name, "files")); cli.Exists(files) {
			paths = []string{files}
		}
		g.Files = nil // those that are there count
		if g, err = store.Add(g, project, paths, false); err != nil {
			for _, added := range all[:n] {
				err = errors.Join(err, store.Remove(added.Name))
			}
			return unwanted(err)
		}
		cli.Tell(e.Stderr, "%s is held out here, with %s: %s", g.Name, units.Quantity(len(g.Files), "file"), cli.Clean(strings.TrimSpace(g.Command)))
	}
	return nil
}

// missed tells of those that the loop had and the project has not got.
func (s *stage) missed(e *cli.Env, had int) {
	switch {
	case s.root == nil && s.seen > 0:
		cli.Tell(e.Stderr, "the file has %s, left out because a stranger's commands may be among them: an import with --held-out keeps them",
			units.Quantity(s.seen, "held-out guardrail"))
	case had > s.seen:
		cli.Tell(e.Stderr, "the loop had %s, of which the file has %d: 'ralph holdout add' keeps others here", units.Quantity(had, "held-out guardrail"), s.seen)
	}
}
