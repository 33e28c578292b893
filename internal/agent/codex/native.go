package codex

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// triples are the platforms that Codex has a native program for, by the names of Go and of the
// packages.
var triples = map[[2]string]struct{ pkg, triple string }{
	{"linux", "amd64"}:   {"codex-linux-x64", "x86_64-unknown-linux-musl"},
	{"linux", "arm64"}:   {"codex-linux-arm64", "aarch64-unknown-linux-musl"},
	{"darwin", "amd64"}:  {"codex-darwin-x64", "x86_64-apple-darwin"},
	{"darwin", "arm64"}:  {"codex-darwin-arm64", "aarch64-apple-darwin"},
	{"windows", "amd64"}: {"codex-win32-x64", "x86_64-pc-windows-msvc"},
	{"windows", "arm64"}: {"codex-win32-arm64", "aarch64-pc-windows-msvc"},
}

// Native returns the native program that the wrapper `codex` of npm starts, and "" if
// program is no wrapper or there is none. The wrapper is a script for Node that, before Node
// had execve, lives on as the parent: killed, Codex and its tools live on, and it costs 50
// MB and a tenth of a second.
func Native(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	wrapper, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(wrapper) != "codex.js" {
		return ""
	}
	platform, ok := triples[[2]string{runtime.GOOS, runtime.GOARCH}]
	if !ok {
		return ""
	}
	name := "codex"
	if runtime.GOOS == "windows" {
		name = "codex.exe"
	}
	root := filepath.Dir(filepath.Dir(wrapper)) // …/@openai/codex
	for _, vendor := range []string{
		filepath.Join(filepath.Dir(root), platform.pkg, "vendor"), // beside it: npm, pnpm, bun
		filepath.Join(root, "node_modules", "@openai", platform.pkg, "vendor"),
		filepath.Join(root, "vendor"), // before there were packages by platform
	} {
		for _, folder := range []string{"bin", "codex"} { // the latter up to 0.98 at the least
			native := filepath.Join(vendor, platform.triple, folder, name)
			if info, err := os.Stat(native); err == nil && info.Mode().IsRegular() {
				return native
			}
		}
	}
	return ""
}
