package plugininstall

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// piPackage is the name of the extension in its package.json.
const piPackage = "ralph-pi"

// piArguments are the arguments of pi for the folder. A person has agreed to what is done in this
// project, so pi does not have to ask whether it is trusted.
func piArguments(verb string, w *work) []string {
	args := []string{verb, w.folder.path}
	if w.scope == scopeProject {
		args = append(args, "--local", "--approve")
	}
	return args
}

// piScan reads pi's settings, since pi lists its packages for people only. elsewhere is a folder
// with the same extension that is not ralph's.
func piScan(a agent, e *cli.Env, folder string) (all []Installed, elsewhere string, err error) {
	for _, place := range []struct{ scope, project, settings string }{
		{scopeUser, "", filepath.Join(a.config(e), "settings.json")},
		{scopeProject, e.Root(), filepath.Join(e.Root(), a.projectSettings)},
	} {
		packages, err := piPackages(e, place.settings)
		if err != nil {
			return nil, "", cli.Failed("repair it; pi does not read it either", "%s: %w", e.Short(place.settings), err)
		}
		for _, path := range packages {
			name, version := piManifest(path)
			switch {
			case cli.WithoutLinks(path) == folder:
				all = append(all, Installed{Scope: place.scope, Project: place.project, Version: version, Enabled: true, From: folder})
			case name == piPackage:
				elsewhere = path
			}
		}
	}
	return all, elsewhere, nil
}

// piPackages returns the folders that settings of pi name as packages, with their links.
func piPackages(e *cli.Env, settings string) (folders []string, err error) {
	text, err := safefile.ReadLinked(settings, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct{ Packages []json.RawMessage }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("it is not JSON as pi writes it: %w", err)
	}
	for _, entry := range file.Packages {
		var object struct{ Source string }
		if json.Unmarshal(entry, &object.Source) != nil && json.Unmarshal(entry, &object) != nil {
			continue
		}
		path := object.Source
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(e.Variable("HOME"), rest)
		}
		switch {
		case path == "" || strings.Contains(path, ":") && !filepath.IsAbs(path):
			continue // of npm or git
		case !filepath.IsAbs(path):
			path = filepath.Join(cli.WithoutLinks(filepath.Dir(settings)), path)
		}
		folders = append(folders, path)
	}
	return folders, nil
}

// piManifest returns the name and version of a package; empty if it cannot be read.
func piManifest(folder string) (name, version string) {
	var manifest struct{ Name, Version string }
	text, err := safefile.ReadLinked(filepath.Join(folder, "package.json"), mostFile)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return "", ""
	}
	return manifest.Name, manifest.Version
}
