package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionVerb struct {
	JSON bool `help:"Say it as JSON, with the commit and the toolchain."`
}

// about is this program.
type about struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree that differs from the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func aboutRalph() about {
	a := about{Version: buildVersion(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return a
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			a.Commit = s.Value
		case "vcs.modified":
			a.Modified = s.Value == "true"
		}
	}
	return a
}

// Run prints the version.
func (v *versionVerb) Run(e *env) error {
	a := aboutRalph()
	if v.JSON {
		return printJSON(e.stdout, a, "")
	}
	_, err := fmt.Fprintf(e.stdout, "ralph %s (%s, %s/%s)\n", a.Version, a.Go, a.OS, a.Arch)
	return err
}
