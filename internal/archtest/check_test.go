package archtest

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
	does  string // the first sentence of its doc comment, without "Package x"
	files []file
}

// A file is one Go file, but no test.
type file struct {
	name    string
	imports []string // ours without the module's path and with a leading "./"
	clock   []int    // lines that read the clock
	spawns  []int    // lines that start a goroutine
	funcs   []string // functions it declares, without methods
	names   []string // plain names it uses
}

// A violation is one deviation from the plan.
type violation struct{ what, why string }

func (v violation) String() string { return v.what + "\n\twhy not: " + v.why }

// check compares packages with the plan. It does no I/O, so that a test can pass it a graph with
// each kind of mistake.
func check(pkgs []pkg) []violation {
	g := graph{}
	for _, p := range pkgs {
		g[p.path] = p
	}
	var found []violation
	for _, p := range pkgs {
		found = append(found, g.place(p)...)
		found = append(found, g.imports(p)...)
		found = append(found, g.clocks(p)...)
		found = append(found, g.purity(p)...)
	}
	return found
}

type graph map[string]pkg

// place finds packages at the root that are not public, and packages without a layer.
func (g graph) place(p pkg) []violation {
	top, _, _ := strings.Cut(p.path, "/")
	if !slices.Contains(atRoot, top) {
		return []violation{{fmt.Sprintf("package %s is at the root", p.path), whyRoot}}
	}
	if layerOf(p.path).name == "" {
		return []violation{{fmt.Sprintf("package %s has no layer", p.path), "a package belongs to the folder of a layer: the list in internal/archtest/plan_test.go"}}
	}
	return nil
}

// layerOf returns the layer of a package, or none.
func layerOf(pkgPath string) layer {
	for _, l := range layers {
		for _, known := range l.packages {
			if base, tree := strings.CutSuffix(known, "/..."); pkgPath == base || tree && strings.HasPrefix(pkgPath, base+"/") {
				return l
			}
		}
	}
	return layer{}
}

// imports finds imports that no layer allows.
func (g graph) imports(p pkg) []violation {
	from := layerOf(p.path)
	if from.name == "" {
		return nil
	}
	var found []violation
	for _, f := range p.files {
		for _, target := range ours(f.imports) {
			edge := [2]string{p.path, target}
			found = append(found, judge(edge, path.Join(p.path, f.name)+" → "+target, from, layerOf(target))...)
		}
	}
	return found
}

// judge compares one import with the layers.
func judge(edge [2]string, text string, from, to layer) []violation {
	switch {
	case to.name == "":
	case forbidden[edge] != "":
		return []violation{{text + " is forbidden", forbidden[edge]}}
	case from.name != "test kit" && isTestKit(edge[1]) && !isTestKit(edge[0]):
		return []violation{{text + " links a test package into the program", "what plays a part in tests must not be part of ralph"}}
	case to.name == from.name && from.name == "front" && !slices.Contains(shared, edge[1]):
		return []violation{{text + " joins two front ends", "what two front ends need is in client, projector or render"}}
	case to.name != from.name && !slices.Contains(strings.Fields(from.may), to.name):
		return []violation{{fmt.Sprintf("%s is an import of %s by %s", text, to.name, from.name), from.why}}
	}
	return nil
}

func isTestKit(pkgPath string) bool {
	return layerOf(pkgPath).name == "test kit" || strings.HasPrefix(pkgPath+"/", "internal/agent/agenttest/")
}

// clocks finds files that read the clock and are not on the list.
func (g graph) clocks(p pkg) []violation {
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

// purity finds pure files that reach the outside world: directly, through packages of this module,
// by a goroutine, or by a function of an impure file of the same package.
func (g graph) purity(p pkg) []violation {
	rule, ok := pure[p.path]
	if !ok {
		return nil
	}
	var impure []string // functions of the impure files
	for _, f := range p.files {
		if !isPure(p.path, f.name) {
			impure = append(impure, f.funcs...)
		}
	}
	var found []violation
	for _, f := range p.files {
		if !isPure(p.path, f.name) {
			continue
		}
		name := path.Join(p.path, f.name)
		for _, trail := range g.reach(f, map[string]bool{p.path: true}) {
			found = append(found, violation{name + trail + " reaches the outside world", rule.why})
		}
		for _, line := range f.spawns {
			found = append(found, violation{fmt.Sprintf("%s:%d starts a goroutine", name, line), rule.why})
		}
		for _, used := range f.names {
			if slices.Contains(impure, used) {
				found = append(found, violation{fmt.Sprintf("%s uses %s of an impure file", name, used), rule.why})
			}
		}
	}
	return found
}

// reach returns a trail for each way from a file to the world.
func (g graph) reach(f file, seen map[string]bool) []string {
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
		for _, next := range g[target].files {
			if !isPure(target, next.name) {
				continue
			}
			for _, trail := range g.reach(next, seen) {
				trails = append(trails, " → "+path.Join(target, next.name)+trail)
			}
		}
	}
	return trails
}

// isPure reports whether a file counts when its package is reached. In a package without a rule,
// every file does.
func isPure(pkgPath, name string) bool {
	rule := pure[pkgPath]
	if len(rule.only) > 0 {
		return slices.Contains(rule.only, name)
	}
	return !slices.Contains(rule.except, name)
}

// isWorld reports whether an import may reach the outside world. Any other module may.
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

// within returns the reason of the entry whose path a name equals or is below.
func within(name string, reasons map[string]string) string {
	for base, why := range reasons {
		if name == base || strings.HasPrefix(name, strings.TrimSuffix(base, "/")+"/") {
			return why
		}
	}
	return ""
}
