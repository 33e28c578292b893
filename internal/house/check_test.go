package house

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A pkg is one package as its files have it. Paths, also those in imports of ours, are
// relative to the module.
type pkg struct {
	path  string
	files []file
}

// A file is one Go file that is no test.
type file struct {
	name    string
	imports []string // ours without the module's path and with a leading "./"
	clock   []int    // lines that read the clock
	spawns  []int    // lines that start a goroutine
	funcs   []string // functions it declares, without methods
	names   []string // plain names it uses
}

// A violation is one thing that stands in the way of the plan.
type violation struct{ what, why string }

func (v violation) String() string { return v.what + "\n\twhy not: " + v.why }

// check holds packages against the plan. It does no I/O, so that a test can hand it a
// house that is built wrong.
func check(pkgs []pkg) []violation {
	h := house{}
	for _, p := range pkgs {
		h[p.path] = p
	}
	var found []violation
	for _, p := range pkgs {
		found = append(found, h.place(p)...)
		found = append(found, h.arrows(p)...)
		found = append(found, h.clocks(p)...)
		found = append(found, h.purity(p)...)
	}
	return found
}

type house map[string]pkg

// place finds packages at the root that are not of the six, and unknown ones.
func (h house) place(p pkg) []violation {
	top, _, _ := strings.Cut(p.path, "/")
	if !slices.Contains(atRoot, top) {
		return []violation{{fmt.Sprintf("package %s stands at the root", p.path), whyRoot}}
	}
	if _, ok := roomOf(p.path); !ok {
		return []violation{{fmt.Sprintf("package %s stands on no floor", p.path),
			"whoever adds a room says where it stands: a row of the plan in internal/house/plan_test.go, and a word in docs/architecture.md"}}
	}
	return nil
}

func roomOf(pkgPath string) (room, bool) {
	for _, r := range plan {
		if base, tree := strings.CutSuffix(r.path, "/..."); pkgPath == base || tree && strings.HasPrefix(pkgPath, base+"/") {
			return r, true
		}
	}
	return room{}, false
}

// arrows finds imports that run upward or sideways, and test rooms in programs.
func (h house) arrows(p pkg) []violation {
	from, ok := roomOf(p.path)
	if !ok {
		return nil
	}
	var found []violation
	for _, f := range p.files {
		for _, target := range ours(f.imports) {
			arrow := fmt.Sprintf("%s → %s", path.Join(p.path, f.name), target)
			if within(target, testOnly) != "" && within(p.path, testOnly) == "" {
				found = append(found, violation{arrow + " takes a test's room into the program", within(target, testOnly)})
			}
			to, ok := roomOf(target)
			switch {
			case !ok || to.path == from.path:
			case to.floor > from.floor:
				found = append(found, violation{fmt.Sprintf("%s runs upward, from floor %g to floor %g", arrow, from.floor, to.floor), from.why})
			case to.floor == from.floor && sideways[[2]string{p.path, target}] == "":
				found = append(found, violation{fmt.Sprintf("%s runs sideways, on floor %g", arrow, from.floor), from.why})
			}
		}
	}
	return found
}

// clocks finds files that read the clock and are not on the list.
func (h house) clocks(p pkg) []violation {
	var found []violation
	for _, f := range p.files {
		for _, line := range f.clock {
			if name := path.Join(p.path, f.name); within(name, clocks) == "" {
				found = append(found, violation{fmt.Sprintf("%s:%d reads the clock", name, line), whyClock})
			}
		}
	}
	return found
}

// purity finds pure files that reach the world: directly, through packages of ours, by
// a goroutine, or by a function that stands in an impure file next door.
func (h house) purity(p pkg) []violation {
	rule, ok := pure[p.path]
	if !ok {
		return nil
	}
	var doors []string // functions of the impure files
	for _, f := range p.files {
		if !isPure(p.path, f.name) {
			doors = append(doors, f.funcs...)
		}
	}
	var found []violation
	for _, f := range p.files {
		if !isPure(p.path, f.name) {
			continue
		}
		name := path.Join(p.path, f.name)
		for _, trail := range h.reach(f, map[string]bool{p.path: true}) {
			found = append(found, violation{name + trail + " reaches the world", rule.why})
		}
		for _, line := range f.spawns {
			found = append(found, violation{fmt.Sprintf("%s:%d starts a goroutine", name, line), rule.why})
		}
		for _, used := range f.names {
			if slices.Contains(doors, used) {
				found = append(found, violation{fmt.Sprintf("%s uses %s of an impure file", name, used), rule.why})
			}
		}
	}
	return found
}

// reach returns a trail for each way from a file to the world.
func (h house) reach(f file, seen map[string]bool) []string {
	var trails []string
	for _, imported := range f.imports {
		if isWorld(imported) {
			trails = append(trails, " → "+imported)
		}
	}
	for _, target := range ours(f.imports) {
		if seen[target] {
			continue
		}
		seen[target] = true
		for _, next := range h[target].files {
			if !isPure(target, next.name) {
				continue
			}
			for _, trail := range h.reach(next, seen) {
				trails = append(trails, " → "+path.Join(target, next.name)+trail)
			}
		}
	}
	return trails
}

// isPure says whether a file counts where its package is reached. In a package
// without a rule of its own every file does.
func isPure(pkgPath, name string) bool {
	rule := pure[pkgPath]
	if len(rule.only) > 0 {
		return slices.Contains(rule.only, name)
	}
	return !slices.Contains(rule.except, name)
}

// isWorld says whether an import is of the world. Another module is: nobody here
// can say what it reaches.
func isWorld(imported string) bool {
	if strings.HasPrefix(imported, "./") {
		return false
	}
	first, _, _ := strings.Cut(imported, "/")
	if strings.Contains(first, ".") {
		return true
	}
	return slices.ContainsFunc(world, func(w string) bool { return imported == w || strings.HasPrefix(imported, w+"/") })
}

// ours returns the imports that are packages of this module.
func ours(imports []string) []string {
	var paths []string
	for _, imported := range imports {
		if rest, ok := strings.CutPrefix(imported, "./"); ok {
			paths = append(paths, rest)
		}
	}
	return paths
}

// within returns the reason of the entry whose path a name equals or lies under.
func within(name string, reasons map[string]string) string {
	for base, why := range reasons {
		if name == base || strings.HasPrefix(name, strings.TrimSuffix(base, "/")+"/") {
			return why
		}
	}
	return ""
}
