package registration

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
)

var notInName = units.Pattern(`-?[^a-z0-9._-]+`)

// SlugName turns a branch or folder name into a valid loop name: lower case, runs of other
// characters become one "-". A valid name is unchanged; a name without any valid character becomes
// "loop". Two names may have the same slug.
func SlugName(s string) string {
	if registry.CheckName(s) == nil {
		return s
	}
	slug := strings.TrimLeft(notInName().ReplaceAllString(strings.ToLower(s), "-"), "-._")
	slug = strings.TrimRight(slug[:min(len(slug), registry.MaxName)], ".-_")
	if base, ok := strings.CutSuffix(slug, ".lock"); ok {
		slug = base + "-lock"
	}
	switch slug {
	case "":
		return "loop"
	case "archive", "session":
		return slug + "-loop"
	case "settings.json", "settings.local.json":
		return strings.ReplaceAll(slug, ".", "-")
	}
	return slug
}
