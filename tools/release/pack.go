package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

const (
	summary  = "Runs a coding agent again and again until the work is proved done"
	homepage = "https://github.com/ralph-loop/ralph"
)

// archive writes the archive of a target: a zip for Windows, else a tar.gz.
func (r *release) archive(t target, all []file) (err error) {
	to, err := os.Create(filepath.Join(r.out, r.archiveName(t)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if t.os == "windows" {
		return r.zip(to, r.name(t), all)
	}
	return r.tar(to, r.name(t), all)
}

func (r *release) archiveName(t target) string {
	if t.os == "windows" {
		return r.name(t) + ".zip"
	}
	return r.name(t) + ".tar.gz"
}

func (r *release) tar(to io.Writer, folder string, all []file) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range all {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		header := tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: int64(f.mode), Size: int64(len(content)), ModTime: r.epoch, Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

func (r *release) zip(to io.Writer, folder string, all []file) error {
	archive := zip.NewWriter(to)
	for _, f := range all {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		header := zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: r.epoch}
		header.SetMode(f.mode)
		entry, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// packages writes the packages of Linux.
func (r *release) packages(t target, all []file) error {
	if t.os != "linux" {
		return nil
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		if err := r.pack(t, format, all); err != nil {
			return fmt.Errorf("make the %s: %w", format, err)
		}
	}
	return nil
}

func (r *release) pack(t target, format string, all []file) (err error) {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "ralph", Arch: t.arch, Platform: t.os, Version: r.version, Release: "1", MTime: r.epoch, Section: "devel", Priority: "optional",
		Maintainer: "The ralph authors <ralph-loop@users.noreply.github.com>", Vendor: "The ralph authors",
		Description: summary, Homepage: homepage, License: "MIT", DisableGlobbing: true,
		Overridables: nfpm.Overridables{Recommends: []string{"git"}, RPM: nfpm.RPM{BuildHost: "localhost", Summary: summary}},
	})
	for _, f := range all {
		place := f.place
		if format == "deb" {
			place = strings.Replace(place, "zsh/site-functions", "zsh/vendor-completions", 1)
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: f.source, Destination: place,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.epoch},
		})
	}
	if format == "rpm" { // removes only folders that it owns
		for _, folder := range []string{"/usr/share/ralph", "/usr/share/doc/ralph"} {
			about := &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: r.epoch}
			info.Contents = append(info.Contents, &files.Content{Type: files.TypeDir, Destination: folder, FileInfo: about})
		}
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	to, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return packager.Package(info, to)
}

// components writes what is linked into the programs of a target, as the linker recorded it, in the
// format CycloneDX.
func (r *release) components(t target) (err error) {
	list := cdx.NewBOM()
	list.Metadata = &cdx.Metadata{
		Timestamp: r.epoch.Format(time.RFC3339),
		Component: &cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: r.name(t), Name: "ralph", Version: r.version, Description: summary},
	}
	components, depends := []cdx.Component{}, []cdx.Dependency{}
	seen := map[string]bool{}
	for _, f := range r.programs(t) {
		built, err := buildinfo.ReadFile(f.source)
		if err != nil {
			return err
		}
		var refs []string
		add := func(kind cdx.ComponentType, name, version, sum string) {
			ref := "pkg:golang/" + name + "@" + version
			refs = append(refs, ref)
			if seen[ref] {
				return
			}
			seen[ref] = true
			c := cdx.Component{Type: kind, BOMRef: ref, Name: name, Version: version, PackageURL: ref}
			if sum != "" {
				c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
			}
			components = append(components, c)
		}
		add(cdx.ComponentTypeLibrary, "std", strings.TrimPrefix(built.GoVersion, "go"), "")
		for _, module := range built.Deps {
			if strings.HasPrefix(module.Path, "github.com/ralph-loop/ralph") {
				continue // a part of this repository
			}
			for module.Replace != nil {
				module = module.Replace
			}
			add(cdx.ComponentTypeLibrary, module.Path, module.Version, module.Sum)
		}
		ref := r.name(t) + "/" + f.name
		components = append(components, cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: ref, Name: f.name, Version: r.version})
		depends = append(depends, cdx.Dependency{Ref: ref, Dependencies: &refs})
	}
	list.Components, list.Dependencies = &components, &depends
	to, err := os.Create(filepath.Join(r.out, r.name(t)+".cdx.json"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).Encode(list)
}
