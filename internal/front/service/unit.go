package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A Unit is a file that systemd or launchd reads, with a mark by which ralph knows what a person
// changed.
type Unit struct {
	Path string
	Text string
	link string // enables it; empty where something else does
}

// NewUnit marks a file that a verb of ralph writes.
func NewUnit(path, text, verb string) Unit {
	line := mark + verb + markEnd + sum(text)
	if strings.HasSuffix(path, ".plist") {
		return Unit{Path: path, Text: strings.Replace(text, "\n", "\n<!-- "+line+" -->\n", 1)}
	}
	return Unit{Path: path, Text: "# " + line + "\n" + text}
}

// Folder is where the system of this person reads units.
func Folder(e *cli.Env) (string, error) {
	home := e.Variable("HOME")
	if !filepath.IsAbs(home) {
		return "", cli.Refuse("set HOME", "your home folder is not known")
	}
	switch config := e.Variable("XDG_CONFIG_HOME"); {
	case Platform == "darwin":
		return filepath.Join(home, "Library", "LaunchAgents"), nil
	case Platform != "linux":
		return "", cli.Refuse("Linux and macOS have one", "there is no service for %s", Platform)
	case filepath.IsAbs(config):
		return filepath.Join(config, "systemd", "user"), nil
	}
	return filepath.Join(home, ".config", "systemd", "user"), nil
}

const (
	systemdName = "ralph-resume.service"
	launchdName = "io.github.ralph-loop.resume"
	// environmentName is a file in ralph's home, for keys that the agents need.
	environmentName = "service.env"
)

// unitOf describes the unit that resumes loops.
func unitOf(e *cli.Env) (Unit, error) {
	folder, err := Folder(e)
	if err != nil {
		return Unit{}, err
	}
	if Platform == "darwin" {
		text, err := LaunchdText(e, launchdName, "", "service", "resume")
		return NewUnit(filepath.Join(folder, launchdName+".plist"), text, "service install"), err
	}
	text, err := SystemdText(e, "Resume the loops of ralph that were running", "service", "resume")
	u := NewUnit(filepath.Join(folder, systemdName), text+"\n[Install]\nWantedBy=default.target\n", "service install")
	u.link = filepath.Join(folder, "default.target.wants", systemdName)
	return u, err
}

// SystemdText is a unit of the person's own systemd that runs a verb once. KillMode leaves the
// runners alone when the unit ends, and Restart would run twice what already runs.
func SystemdText(e *cli.Env, description string, words ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return `[Unit]
Description=` + systemdPath(description) + `
After=network-online.target

[Service]
Type=oneshot
ExecStart=` + systemdQuote(self) + " " + strings.Join(words, " ") + `
Environment=` + systemdQuote("PATH="+e.Variable("PATH")) + `
Environment=` + systemdQuote("RALPH_HOME="+e.Home) + `
EnvironmentFile=-` + systemdPath(filepath.Join(e.Home, environmentName)) + `
KillMode=process
TimeoutStartSec=infinity
`, nil
}

// systemdQuote quotes a word (systemd.syntax(7)), in which a percent sign begins a specifier.
func systemdQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, "\n", `\n`).Replace(word) + `"`
}

// systemdPath is a path where systemd reads the rest of a line.
func systemdPath(path string) string { return strings.ReplaceAll(path, "%", "%%") }

// LaunchdText is an agent of launchd that runs a verb when it is loaded. more are further keys.
func LaunchdText(e *cli.Env, label, more string, words ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return launchdText(self, e.Home, e.Variable("PATH"), label, more, words...), nil
}

func launchdText(self, ralphHome, path, label, more string, words ...string) string {
	value := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // into memory
		return "<string>" + b.String() + "</string>"
	}
	command := value(self)
	for _, word := range words {
		command += "\n\t\t" + value(word)
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	` + value(label) + `
	<key>ProgramArguments</key>
	<array>
		` + command + `
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		` + value(path) + `
		<key>RALPH_HOME</key>
		` + value(ralphHome) + `
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>AbandonProcessGroup</key>
	<true/>
` + more + `</dict>
</plist>
`
}

// The line that says what ralph wrote, so that it knows what a person changed.
const (
	mark    = "Written by 'ralph "
	markEnd = "'; the SHA-256 of the rest is "
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// EnvironmentFile is where keys of agents are, which systemd gives to what it runs.
func EnvironmentFile(e *cli.Env) string { return filepath.Join(e.Home, environmentName) }

// maxUnit bounds the file, in bytes.
const maxUnit = 64 << 10

// States of a unit.
const (
	Absent   = "absent"
	Current  = "installed"
	outdated = "outdated" // an earlier version or another place of ralph wrote it
	foreign  = "changed"  // a person wrote or changed it
)

// State compares the file with what ralph would write.
func (u Unit) State() (string, error) {
	text, err := safefile.Read(u.Path, maxUnit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Absent, nil
	case err != nil:
		return "", fmt.Errorf("read the service: %w", err)
	case string(text) == u.Text:
		return Current, nil
	}
	before, rest, _ := strings.Cut(string(text), mark)
	_, rest, ok := strings.Cut(rest, markEnd)
	written, rest, _ := strings.Cut(rest, "\n")
	written = strings.TrimSuffix(written, " -->")
	if ok && sum(strings.TrimSuffix(strings.TrimSuffix(before, "# "), "<!-- ")+rest) == written {
		return outdated, nil
	}
	return foreign, nil
}

// Lingers reports whether the person's services begin at boot, and not only at the login.
func Lingers(e *cli.Env) bool {
	_, err := os.Stat(filepath.Join("/var/lib/systemd/linger", filepath.Base(userName(e))))
	return err == nil
}

func userName(e *cli.Env) string {
	if name := e.Variable("USER"); name != "" {
		return name
	}
	if name := e.Variable("LOGNAME"); name != "" {
		return name
	}
	return strconv.Itoa(os.Getuid())
}

// Platform is the system that a unit is for; tests change it.
var Platform = runtime.GOOS
