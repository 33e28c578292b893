package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// opens finds what may open a pipe, a device or the target of a link. Only a new file is opened
// safely without package safefile.
var opens = regexp.MustCompile(`\bos\.(?:ReadFile|WriteFile|Open|Create)\(|\bos\.OpenFile\((?:[^\n]*os\.O_EXCL)?`)

// opensFiles are the files that may: what they open was not made by an agent or a repository.
var opensFiles = []string{
	"internal/agent/rehearsal/player/scenario.go",  // the person names it; it may be a pipe
	"internal/verb/doctor/system_linux.go",         // /proc
	"internal/ground/process/system_linux.go",      // /proc
	"internal/effect/registration/holder_linux.go", // /proc
	"internal/ground/safefile/open.go",
	"internal/ground/safefile/os.go",
}

// isProduct reports whether a file is part of the program: no test, no tool.
func isProduct(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
		!strings.HasPrefix(name, "tools/") && !strings.HasPrefix(name, "bench/") && !strings.HasPrefix(name, "internal/agent/agenttest/") && !strings.HasPrefix(name, "internal/testkit/") &&
		!strings.HasPrefix(name, "pool/pooltest/")
}

func TestFilesAreOpenedBySafefile(t *testing.T) {
	used := map[string]bool{}
	eachText(t, func(name, text string) {
		if !isProduct(name) || strings.HasPrefix(name, "pool/") { // a module of its own: safefile is not public
			return
		}
		for _, call := range opens.FindAllString(text, -1) {
			switch {
			case strings.HasSuffix(call, "os.O_EXCL"):
			case slices.Contains(opensFiles, name):
				used[name] = true
			default:
				t.Errorf("%s: %s…): package safefile opens files", name, call)
			}
		}
	})
	for _, name := range opensFiles {
		if !used[name] {
			t.Errorf("%s opens no file: take it from the list", name)
		}
	}
}

// removes finds what may remove or replace more than one file of a person: a folder with all that
// is in it, a worktree, a ref, the files of a checkout.
var removes = regexp.MustCompile(`\.RemoveAll\(|"worktree", "remove"|"update-ref",[^\n]*"-d"|"(?:checkout|merge|reset|restore|clean|stash)", "-`)

// removers are the files and folders that may, and what they remove. Package keep says before what
// would be lost, and keeps what is there.
var removers = map[string]string{
	"internal/effect/keep/":                  "what it has kept, or what FindLosses has named before",
	"internal/front/conformance/":            "the folder of its copies of the corpus",
	"internal/verb/cleaning/cleaning.go":     "a loop's folder, after a person was shown what is lost with it",
	"internal/verb/forking/forking.go":       "the journal of a fork that did not come about",
	"internal/verb/launch/cleanup.go":        "what a start that failed has made",
	"internal/verb/launch/trial.go":          "the folder of its logs",
	"internal/verb/moving/export.go":         "an export that was cut off",
	"internal/verb/moving/heldout.go":        "the folder in which an import unpacks held-out guardrails",
	"internal/verb/moving/import.go":         "the folder in which an import is made",
	"internal/effect/plan/archive.go":        "an archive that was cut off",
	"internal/verb/plugininstall/install.go": "an earlier copy of the plugin",
	"internal/effect/scratch/":               "throw-away work trees, which are made there",
	"internal/effect/provenance/note.go":     "the ref under which notes are written until they are in place",
	"internal/verb/blaming/history.go":       "the folder of its objects",
	"internal/effect/sandbox/escape.go":      "the folder of a probe",
	"pool/check/":                            "the folder in which a journal is assembled to be verified",
	"pool/serve/serve.go":                    "what a first start that was cut off left of the bucket, without messages",
	"pool/takeover/take.go":                  "the folder in which a loop is assembled",
	"pool/tree/":                             "the folder in which a tree is made or unpacked",
	"pool/worker/checkout.go":                "a clone that was cut off before it had its name",
	"pool/worker/merge.go":                   "a merge that conflicts, in a new clone, before any work in it",
	"internal/effect/sandbox/machine.go":     "what a machine that no loop uses any more shared with agents",
	"internal/effect/sandbox/proxy.go":       "the folder of its socket",
}

// remover returns the name under which the list has a file; empty if it has it not.
func remover(name string) string {
	for _, known := range []string{name, path.Dir(name) + "/"} {
		if removers[known] != "" {
			return known
		}
	}
	return ""
}

func TestRemovalsAreKnown(t *testing.T) {
	used := map[string]bool{}
	eachText(t, func(name, text string) {
		if !isProduct(name) || strings.HasPrefix(name, "internal/verb/shellguard/") {
			return
		}
		for _, call := range removes.FindAllString(text, -1) {
			if used[remover(name)] = true; remover(name) == "" {
				t.Errorf("%s: %s: what would be lost? Package keep removes and replaces; only what no person can have made is removed elsewhere", name, call)
			}
		}
	})
	for name := range removers {
		if !used[name] {
			t.Errorf("%s removes nothing: take it from the list", name)
		}
	}
}
