package testgit

import (
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// Plants are settings for a repository of [Born]. Each makes git start a program.
var Plants = map[string]func(w Tree, program string){
	"fsmonitor":  func(w Tree, program string) { w.Git("config", "core.fsmonitor", program) },
	"hooks path": func(w Tree, program string) { w.Git("config", "core.hooksPath", filepath.Dir(program)) },
	"clean filter": func(w Tree, program string) {
		w.Git("config", "filter.odd.clean", program)
		w.Git("config", "filter.odd.required", "true")
		w.Write(".git/info/attributes", "* filter=odd\n")
	},
	"process filter": func(w Tree, program string) {
		w.Git("config", "filter.odd.process", program)
		w.Git("config", "filter.odd.required", "true")
		w.Write(".git/info/attributes", "* filter=odd\n")
	},
	"a filter whose name would end a setting": func(w Tree, program string) {
		w.Git("config", "filter.a=b.c.clean", program)
		w.Write(".git/info/attributes", "* filter=a=b.c\n")
	},
	"external diff": func(w Tree, program string) { w.Git("config", "diff.external", program) },
	"diff driver": func(w Tree, program string) {
		w.Git("config", "diff.odd.command", program)
		w.Git("config", "diff.odd.textconv", program)
		w.Write(".git/info/attributes", "* diff=odd\n")
	},
	"pager": func(w Tree, program string) { w.Git("config", "core.pager", program) },
	"signatures": func(w Tree, program string) {
		w.Git("config", "log.showSignature", "true")
		w.Git("config", "gpg.program", program)
	},
	"a promised object": func(w Tree, program string) {
		w.Git("config", "remote.origin.url", "ext::"+program)
		w.Git("config", "remote.origin.promisor", "true")
		w.Git("config", "remote.origin.partialclonefilter", "blob:none")
		w.Git("config", "core.repositoryFormatVersion", "1")
		w.Git("config", "extensions.partialClone", "origin")
		blob := w.Git("rev-parse", "HEAD:a")
		testfile.Must(w.T, os.Remove(filepath.Join(w.Dir, ".git/objects", blob[:2], blob[2:])))
	},
	"a promised object by ssh": func(w Tree, program string) {
		w.Git("config", "remote.origin.url", "ssh://nowhere.invalid/x")
		w.Git("config", "remote.origin.promisor", "true")
		w.Git("config", "core.repositoryFormatVersion", "1")
		w.Git("config", "extensions.partialClone", "origin")
		w.Git("config", "core.sshCommand", program)
		blob := w.Git("rev-parse", "HEAD:a")
		testfile.Must(w.T, os.Remove(filepath.Join(w.Dir, ".git/objects", blob[:2], blob[2:])))
	},
}

// Program writes a script into the repository that leaves a mark when it is run, and never ends by
// itself.
func (w Tree) Program(name string) (path, mark string) {
	w.T.Helper()
	path, mark = filepath.Join(w.Dir, ".git", name), filepath.Join(w.Dir, ".git", name+".ran")
	w.Write(".git/"+name, "#!/bin/sh\ntouch '"+mark+"'\nexec sleep 600\n")
	testfile.Must(w.T, os.Chmod(path, 0o755))
	return path, mark
}
