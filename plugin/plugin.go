// Package plugin has the files of ralph's plugin for coding agents: skills, hooks, and a manifest
// for each kind of agent. This folder is what agents load, and the program embeds it.
package plugin

import (
	"embed"
	"io/fs"
)

var (
	//go:embed all:.claude-plugin all:.codex-plugin hooks skills mcp.json plugin.json README.md
	files embed.FS
	//go:embed pi/*.ts pi/package.json pi/skills
	pi embed.FS
	//go:embed marketplaces/claude.json
	claude []byte
	//go:embed marketplaces/codex.json
	codex []byte
)

// Files are the files of the plugin for Claude Code and Codex.
func Files() fs.FS { return files }

// Pi is the package for pi: an extension in TypeScript, and the skill that it brings.
func Pi() fs.FS {
	folder, err := fs.Sub(pi, "pi")
	if err != nil {
		panic("plugin: " + err.Error()) // cannot happen: the name is valid
	}
	return folder
}

// Marketplaces are the files that list the plugin for an agent, by their path in a folder that has
// the plugin in plugin/. The root of the repository has the same two files.
func Marketplaces() map[string][]byte {
	return map[string][]byte{".claude-plugin/marketplace.json": claude, ".agents/plugins/marketplace.json": codex}
}
