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

// A unit is the file that the system reads at the beginning of a session.
type unit struct {
	path string
	link string // enables it; empty where the file alone does
	text string
}

const (
	systemdName = "ralph-resume.service"
	launchdName = "io.github.ralph-loop.resume.plist"
	// environmentName is a file in ralph's home, for keys that the agents need.
	environmentName = "service.env"
)

// unitOf describes the unit of this person.
func unitOf(e *cli.Env, goos string) (unit, error) {
	home := e.Variable("HOME")
	if !filepath.IsAbs(home) {
		return unit{}, cli.Refuse("set HOME", "your home folder is not known")
	}
	self, err := os.Executable()
	if err != nil {
		return unit{}, fmt.Errorf("find this program: %w", err)
	}
	var u unit
	switch goos {
	case "linux":
		config := e.Variable("XDG_CONFIG_HOME")
		if !filepath.IsAbs(config) {
			config = filepath.Join(home, ".config")
		}
		folder := filepath.Join(config, "systemd", "user")
		u = unit{
			path: filepath.Join(folder, systemdName), link: filepath.Join(folder, "default.target.wants", systemdName),
			text: systemdText(self, e.Home, e.Variable("PATH")),
		}
		u.text = "# " + mark + sum(u.text) + "\n" + u.text
	case "darwin":
		u = unit{path: filepath.Join(home, "Library", "LaunchAgents", launchdName), text: launchdText(self, e.Home, e.Variable("PATH"))}
		u.text = strings.Replace(u.text, "\n", "\n<!-- "+mark+sum(u.text)+" -->\n", 1)
	default:
		return unit{}, cli.Refuse("call 'ralph service resume' when you log in", "there is no service for %s", goos)
	}
	return u, nil
}

// systemdText is a unit of the person's own systemd. KillMode leaves the runners alone when the
// unit ends, and Restart would run twice what already runs.
func systemdText(self, ralphHome, path string) string {
	return `[Unit]
Description=Resume the loops of ralph that were running
After=network-online.target

[Service]
Type=oneshot
ExecStart=` + systemdQuote(self) + ` service resume
Environment=` + systemdQuote("PATH="+path) + `
Environment=` + systemdQuote("RALPH_HOME="+ralphHome) + `
EnvironmentFile=-` + systemdPath(filepath.Join(ralphHome, environmentName)) + `
KillMode=process
TimeoutStartSec=infinity

[Install]
WantedBy=default.target
`
}

// systemdQuote quotes a word (systemd.syntax(7)), in which a percent sign begins a specifier.
func systemdQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, "\n", `\n`).Replace(word) + `"`
}

// systemdPath is a path where systemd reads the rest of a line.
func systemdPath(path string) string { return strings.ReplaceAll(path, "%", "%%") }

func launchdText(self, ralphHome, path string) string {
	value := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // into memory
		return "<string>" + b.String() + "</string>"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	` + value(strings.TrimSuffix(launchdName, ".plist")) + `
	<key>ProgramArguments</key>
	<array>
		` + value(self) + `
		<string>service</string>
		<string>resume</string>
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
</dict>
</plist>
`
}

// mark begins the line that says what ralph wrote, so that it knows what a person changed.
const mark = "Written by 'ralph service install'; the SHA-256 of the rest is "

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// maxUnit bounds the file, in bytes.
const maxUnit = 64 << 10

// States of a unit.
const (
	absent   = "absent"
	current  = "installed"
	outdated = "outdated" // an earlier version or another place of ralph wrote it
	foreign  = "changed"  // a person wrote or changed it
)

func (u unit) state() (string, error) {
	text, err := safefile.Read(u.path, maxUnit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil
	case err != nil:
		return "", fmt.Errorf("read the service: %w", err)
	case string(text) == u.text:
		return current, nil
	}
	before, rest, ok := strings.Cut(string(text), mark)
	written, rest, _ := strings.Cut(rest, "\n")
	written = strings.TrimSuffix(written, " -->")
	if ok && sum(strings.TrimSuffix(strings.TrimSuffix(before, "# "), "<!-- ")+rest) == written {
		return outdated, nil
	}
	return foreign, nil
}

// lingers reports whether the person's services begin at boot, and not only at the login.
func lingers(e *cli.Env) bool {
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

// platform is the system that a unit is for; tests change it.
var platform = runtime.GOOS
