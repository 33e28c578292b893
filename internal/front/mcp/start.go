package mcp

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
)

// maxPrompt is the longest prompt that a client may give, in bytes.
const maxPrompt = 256 << 10

type startInput struct {
	Prompt        string  `json:"prompt,omitempty" jsonschema:"the task of every iteration: what to do, and how to see that it is done. Left out with resume, or where the project has a plan"`
	Name          string  `json:"name,omitempty" jsonschema:"the loop's name, of a-z, 0-9, dots and dashes; without it that of the git branch or the folder"`
	Directory     string  `json:"directory,omitempty" jsonschema:"the folder of the project; without it the client's. It must be in a root of the client or in the folder of the server"`
	Agent         string  `json:"agent,omitempty" jsonschema:"an agent that ralph knows, such as claude, codex or pi; without it that of the settings"`
	Model         string  `json:"model,omitempty" jsonschema:"in the agent's own spelling"`
	MaxIterations int     `json:"maxIterations,omitempty" jsonschema:"stop after so many iterations"`
	MaxCost       float64 `json:"maxCost,omitempty" jsonschema:"stop when it has cost so many USD"`
	MaxDuration   string  `json:"maxDuration,omitempty" jsonschema:"stop after so long, such as 90m or 8h"`
	Promise       string  `json:"promise,omitempty" jsonschema:"what the agent says in <promise>…</promise> when the work is done; the settings have a usual one"`
	Resume        bool    `json:"resume,omitempty" jsonschema:"continue a loop that has ended or died, with its own prompt"`
}

type startOutput struct {
	Loop
	Notes []string `json:"notes,omitempty"`
}

// startSchema is the schema of a loop that was started.
func startSchema() *jsonschema.Schema {
	schema := loopSchema()
	schema.Properties["notes"] = &jsonschema.Schema{Description: "warnings of the start"}
	return schema
}

func (s *Server) start(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, in startInput) (startOutput, error) {
	if err := in.check(); err != nil {
		return startOutput{}, err
	}
	if err := s.enter(ctx, e, req, in.Directory); err != nil {
		return startOutput{}, err
	}
	start, err := e.Starter()
	if err != nil {
		return startOutput{}, err
	}
	in.apply(&start)
	// A client that does not wait for the answer ends nothing.
	within := context.WithoutCancel(ctx)
	var began registry.Status
	if in.Resume {
		l, unknown := find(e, in.Name)
		if unknown != nil {
			return startOutput{}, unknown
		}
		began, err = start.Resume(within, l) // its folder is of the registry: the client does not name it
	} else {
		began, err = start.Start(within)
	}
	if err != nil {
		return startOutput{}, withNotes(e, cli.Refusal(err))
	}
	l, err := byFolder(e, began.Dir)
	if err != nil {
		return startOutput{}, err
	}
	shown, err := show(l)
	return startOutput{shown, notes(e)}, err
}

// check refuses what no start takes.
func (in startInput) check() error {
	for argument, word := range map[string]string{"name": in.Name, "agent": in.Agent, "model": in.Model, "maxDuration": in.MaxDuration, "promise": in.Promise} {
		if err := checkWord(argument, word); err != nil {
			return err
		}
	}
	if err := registry.CheckName(in.Name); err != nil && in.Name != "" && !in.Resume {
		return cli.Refuse("a name has a-z, 0-9, dots and dashes", "%w", err)
	}
	switch {
	case len(in.Prompt) > maxPrompt:
		return cli.Refuse("write it into a file of the project and name the file", "the prompt has more than %s", units.Bytes(maxPrompt))
	case strings.TrimSpace(in.Prompt) == "-": // of a command line, it means stdin
		return cli.Refuse("say in it what is to be done", "the prompt is empty")
	case in.Resume && in.Prompt != "":
		return cli.Refuse("leave the prompt out, and send it with ralph_steer once the loop runs", "a resumed loop keeps its prompt")
	case strings.HasPrefix(in.Model, "-"): // an agent would take it for an option
		return cli.Refuse("name it in the agent's own spelling", "%q is no model", short(in.Model))
	case in.MaxIterations < 0:
		return cli.Refuse("give a number from 1 on", "maxIterations is %d", in.MaxIterations)
	case in.MaxCost < 0:
		return cli.Refuse("give a number of USD", "maxCost is %v", in.MaxCost)
	}
	if _, known := config.KnownProgram(in.Agent); in.Agent != "" && !known {
		return cli.Refuse("name one such as claude, codex or pi; a command of your own belongs into the settings, which a person writes",
			"%q is no agent that ralph knows", short(in.Agent))
	}
	return nil
}

// apply sets what the client asks for.
func (in startInput) apply(s *client.Start) {
	s.Name, s.Prompt, s.Agent, s.Model, s.Iterations = in.Name, in.Prompt, in.Agent, in.Model, in.MaxIterations
	s.Set = map[string]string{}
	if in.MaxCost > 0 {
		s.Set["limits.cost"] = strconv.FormatFloat(in.MaxCost, 'f', -1, 64)
	}
	if in.MaxDuration != "" {
		s.Set["limits.duration"] = in.MaxDuration
	}
	if in.Promise != "" {
		s.Flags = []string{"--promise=" + in.Promise}
	}
}

// enter makes the folder of the client the current one.
func (s *Server) enter(ctx context.Context, e *cli.Env, req *sdk.CallToolRequest, directory string) error {
	allowed := append([]string{e.Cwd}, s.roots(ctx, req)...)
	to := e.Cwd
	switch {
	case directory == "" && len(allowed) == 2 && !cli.Within(allowed[1], e.Cwd):
		to = allowed[1]
	case directory != "":
		to = cli.WithoutLinks(e.Abs(directory))
	}
	info, err := os.Stat(to)
	if err != nil || !info.IsDir() {
		return cli.Refuse("name a folder that exists", "there is no folder %s", short(to))
	}
	if !slices.ContainsFunc(allowed, func(root string) bool { return cli.Within(root, to) }) {
		return cli.Refuse("a person adds it as a root of the client, or starts the server there",
			"%s is neither in the folder of the server, %s, nor in a root of the client", short(to), e.Cwd)
	}
	e.Enter(to)
	return nil
}

const mostRoots = 32

// roots are the folders that the client works in, where it says so. Roots are deprecated in version
// 2026-07-28; clients of earlier versions have no other way.
func (s *Server) roots(ctx context.Context, req *sdk.CallToolRequest) (folders []string) {
	can := req.ClientCapabilities()
	if can == nil || can.RootsV2 == nil || req.ProtocolVersion() >= stateless { //nolint:staticcheck // see above
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := req.Session.ListRoots(ctx, nil) //nolint:staticcheck // see above
	if err != nil {
		return nil // then only the folder of the server counts
	}
	for _, root := range found.Roots[:min(len(found.Roots), mostRoots)] {
		at, err := url.Parse(root.URI)
		if err != nil || at.Scheme != "file" || at.Host != "" && at.Host != "localhost" {
			continue
		}
		path := filepath.FromSlash(at.Path)
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, `\`)
		}
		if filepath.IsAbs(path) {
			folders = append(folders, cli.WithoutLinks(filepath.Clean(path)))
		}
	}
	return folders
}

// stateless is the version of the protocol that has no roots, and the extension with tasks.
const stateless = "2026-07-28"

// notes are the warnings of a start.
func notes(e *cli.Env) (lines []string) {
	said, ok := e.Stderr.(*bytes.Buffer)
	if !ok {
		return nil
	}
	for line := range strings.Lines(said.String()) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "ralph: ")
		if line != "" && len(lines) < mostItems {
			lines = append(lines, asTools(short(line)))
		}
	}
	return lines
}

// withNotes adds the warnings of a start to its error.
func withNotes(e *cli.Env, err error) error {
	if said := notes(e); len(said) > 0 {
		return cli.Refuse(hintOf(err), "%w\n%s", err, strings.Join(said, "\n"))
	}
	return err
}
