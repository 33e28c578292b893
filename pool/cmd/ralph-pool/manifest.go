package main

import (
	"encoding/json"
	"os"

	"github.com/ralph-loop/ralph/pool/manifest"
)

type manifestCommand struct {
	Loop      string   `xor:"what" placeholder:"ID" help:"A Job for this loop, which was submitted."`
	Workers   *int     `xor:"what" placeholder:"N" help:"A Deployment of so many pods with a worker and a mirror each. Default: 1."`
	Slots     int      `short:"n" name:"loops" default:"4" help:"How many loops each worker runs at once, at most."`
	Label     []string `help:"What a worker has, for specifications that need it; may be repeated."`
	Image     string   `default:"ralph:latest" help:"The image: sh, timeout, git, ralph, ralph-pool and the agents."`
	Namespace string   `placeholder:"NS" help:"The namespace. Default: that of kubectl."`
	JSON      bool     `help:"Print a List as JSON."`
}

// Help says what it is for.
func (manifestCommand) Help() string {
	return `It prints what 'kubectl apply -f -' reads. Each pod is a host of the pool under its own name. How it reaches the store is in a Secret, which the first line of the output makes from the files of a host; it is not printed. Nothing is kept in a pod: when it is lost, another one resumes its loops.

Examples:
  ralph pool manifest --workers 3 -n 4 --image registry.example.com/ralph:1
  ralph pool manifest --loop 01JZ8V5C3M9Q2W4X6Y8Z0A1B2C --namespace loops`
}

// Run prints the manifest.
func (c *manifestCommand) Run() error {
	workers := 1
	if c.Workers != nil {
		workers = *c.Workers
	}
	objects, err := manifest.Make(manifest.Options{
		Loop: c.Loop, Workers: workers, Slots: c.Slots, Labels: c.Label, Image: c.Image, Namespace: c.Namespace,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(manifest.Object{"apiVersion": "v1", "kind": "List", "items": objects})
	}
	text, err := manifest.YAML(objects)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
