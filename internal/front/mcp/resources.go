package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/report"
)

// Names of what is shown of a loop.
const (
	stateResource  = "state"
	reportResource = "report"

	uriStart = "ralph://loop/"

	jsonType     = "application/json"
	markdownType = "text/markdown"
)

func uriOf(id, what string) string { return uriStart + id + "/" + what }

// parseURI returns the loop and what is asked of it.
func parseURI(uri string) (id, what string, ok bool) {
	rest, ok := strings.CutPrefix(uri, uriStart)
	id, what, found := strings.Cut(rest, "/")
	return id, what, ok && found && isID(id) && (what == stateResource || what == reportResource)
}

func (s *Server) addResources() {
	for _, t := range []sdk.ResourceTemplate{
		{Name: "state", Title: "State of a loop", URITemplate: uriStart + "{id}/" + stateResource, MIMEType: jsonType,
			Description: "What ralph_status shows, by the loop's id."},
		{Name: "report", Title: "Report of a loop", URITemplate: uriStart + "{id}/" + reportResource,
			MIMEType: markdownType, Description: "What a loop came to, by the loop's id."},
	} {
		s.sdk.AddResourceTemplate(&t, s.read)
	}
}

// read returns a resource.
func (s *Server) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	id, what, ok := parseURI(req.Params.URI)
	if !ok {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	release, err := s.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	e := s.view()
	l, err := byID(e, id)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	content := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: jsonType}
	if what == reportResource {
		content.MIMEType = markdownType
		content.Text, err = reportOf(e, l)
	} else {
		content.Text, err = stateOf(l)
	}
	if err != nil {
		return nil, problem(err)
	}
	return &sdk.ReadResourceResult{Cacheable: sdk.Cacheable{CacheScope: "private"}, Contents: []*sdk.ResourceContents{content}}, nil
}

func stateOf(l registry.Status) (string, error) {
	shown, err := show(l)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(shown)
	return string(text), err
}

// reportOf returns the report of a loop as Markdown.
func reportOf(e *cli.Env, l registry.Status) (string, error) {
	r, err := report.Read(l.Dir, report.Options{})
	if err != nil {
		return "", err
	}
	if r.Last == 0 {
		return "", cli.Refuse("ralph_list shows the loops", "loop %s has no journal: it never began, or its files are gone", l.Name)
	}
	r.Judge(report.Facts{Name: l.Name, Alive: l.Live.Alive, Now: e.Now()})
	text := &bounded{most: reportMost}
	err = report.Markdown(text, r, time.Local)
	return cli.Clean(text.String()), err
}

// bounded is a text of at most so many bytes. The rest is dropped.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := max(0, min(len(p), b.most-b.Len()))
	_, err := b.Buffer.Write(p[:keep])
	return len(p), err
}

// resourcePage is how many loops a page of resources has.
const resourcePage = 50

// listResources lists the state and the report of each loop of this machine.
func (s *Server) listResources(req *sdk.ListResourcesRequest) (*sdk.ListResourcesResult, error) {
	from := 0
	if req.Params != nil {
		at, err := place(req.Params.Cursor)
		if err != nil {
			return nil, problem(err)
		}
		from = at
	}
	found, err := listing.Find(s.view(), listing.Options{All: true})
	if err != nil {
		return nil, problem(err)
	}
	from = min(from, len(found))
	to := min(from+resourcePage, len(found))
	list := &sdk.ListResourcesResult{Cacheable: sdk.Cacheable{CacheScope: "private"}, Resources: []*sdk.Resource{}}
	for _, l := range found[from:to] {
		if l.ID == "" || l.Gone {
			continue
		}
		for _, what := range []string{stateResource, reportResource} {
			mime := jsonType
			if what == reportResource {
				mime = markdownType
			}
			list.Resources = append(list.Resources, &sdk.Resource{
				URI: uriOf(l.ID, what), Name: l.Name + "/" + what, Title: short(what + " of loop " + l.Name + " in " + l.Project), MIMEType: mime,
				Description: l.State,
			})
		}
	}
	if to < len(found) {
		list.NextCursor = strconv.Itoa(to)
	}
	return list, nil
}
