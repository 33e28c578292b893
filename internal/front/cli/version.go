package cli

import (
	"runtime"
	"runtime/debug"
)

// About is this program.
type About struct {
	Version  string `json:"version"` // dev where neither a release nor the toolchain names one
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree that differs from the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// AboutRalph returns what is known about this build.
func AboutRalph() About {
	a := About{Version: Release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if a.Version == "" && info.Main.Version != "(devel)" {
		a.Version = info.Main.Version
	}
	if a.Version == "" {
		a.Version = "dev"
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

// BuildVersion is the version of this build.
func BuildVersion() string { return AboutRalph().Version }

// Release is the version of a release; empty for any other build.
var Release string
