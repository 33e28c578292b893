// Command apk installs an apk as the package manager of Alpine does, which Debian lacks: 'go run
// ./apk ROOT FILE' verifies its files, writes them below a folder, and lists them in its
// lib/apk/db/installed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/chainguard-dev/go-apk/pkg/apk"
	"github.com/chainguard-dev/go-apk/pkg/fs"
)

// local is a package that is a file.
type local string

func (l local) URL() string          { return string(l) }
func (local) PackageName() string    { return "ralph" }
func (local) ChecksumString() string { return "" }

func main() {
	if err := install(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "apk: error:", err)
		os.Exit(1)
	}
}

func install(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("name a folder and an apk, both absolute")
	}
	system, err := apk.New(apk.WithFS(fs.DirFS(args[0])), apk.WithIgnoreMknodErrors(true))
	if err != nil {
		return err
	}
	if err := system.InitDB(ctx); err != nil {
		return err
	}
	now := time.Now()
	return system.InstallPackages(ctx, &now, []apk.InstallablePackage{local(args[1])})
}
