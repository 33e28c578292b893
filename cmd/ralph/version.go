package main

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/release"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

type versionVerb struct {
	JSON    bool   `help:"Print JSON, with the commit and the toolchain."`
	Verify  bool   `help:"Prove offline that a release signed this program."`
	Program string `placeholder:"FILE" complete:"file" help:"Verify this program instead, by the files beside it."`
	Key     string `placeholder:"FILE" complete:"file" help:"Trust this public key, not the built-in one."`
}

// Help says what a proof is worth.
func (versionVerb) Help() string {
	return "A program cannot prove by itself that it is honest: verify a new ralph with one that you trust.\n\n" +
		cli.Examples("ralph version --json", "ralph version --verify", "ralph version --verify --program ./ralph_0.2.0_linux_amd64/ralph")
}

// Run prints the version.
func (v *versionVerb) Run(e *cli.Env) error {
	if v.Verify {
		return v.verify(e)
	}
	if v.Program != "" || v.Key != "" {
		return cli.Refuse("add --verify", "--program and --key are for --verify")
	}
	a := cli.AboutRalph()
	if v.JSON {
		return cli.PrintJSON(e.Stdout, a, "")
	}
	_, err := fmt.Fprintf(e.Stdout, "ralph %s (%s, %s/%s)\n", a.Version, a.Go, a.OS, a.Arch)
	return err
}

// verify prints the proof of a program. A file that is not as the release made it is exit code 3.
func (v *versionVerb) verify(e *cli.Env) error {
	program, err := os.Executable()
	if v.Program != "" {
		program, err = e.Abs(v.Program), nil
	}
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	var keys []*ecdsa.PublicKey
	if v.Key != "" {
		text, err := safefile.ReadLinked(e.Abs(v.Key), 1<<16)
		if err == nil {
			keys, err = release.PublicKeys(text)
		}
		if err == nil && len(keys) == 0 {
			err = fmt.Errorf("%s has none", v.Key)
		}
		if err != nil {
			return cli.Refuse("name a file with a public key in the format PEM", "read the public key: %w", err)
		}
	}
	proof, err := release.Verify(program, keys...)
	if failed, ok := errors.AsType[*release.Error](err); ok {
		if failed.Altered {
			return cli.Failed(failed.NextStep, "%w", err)
		}
		return cli.RefuseHinted(failed)
	}
	if err != nil {
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, proof, "")
	}
	_, err = fmt.Fprintf(e.Stdout, "%s is %s of a release\nsha256 %s, in %s\nsigned with the key %s\n",
		proof.Program, proof.Name, proof.SHA256, proof.List, proof.Key)
	return err
}
