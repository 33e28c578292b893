package acpserver

import (
	"encoding/json"
	"strconv"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

// Versions of the protocol. The second is a draft, as its npm package of version 2.4.0 has it.
const (
	stable = 1
	draft  = 2
)

// isObject reports whether a capability is offered: it is an object, also an empty one.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// initialize notes what the client is, and says what ralph is. A client that asks for another
// version than the draft's gets the stable one, and leaves if it does not speak it.
func (s *Server) initialize(params json.RawMessage) (any, *problem) {
	type elicitation struct {
		Form json.RawMessage `json:"form"`
	}
	var p struct {
		Version *int `json:"protocolVersion"`
		// of version 1
		Client struct {
			Elicitation elicitation `json:"elicitation"`
			Session     struct {
				Notices json.RawMessage `json:"notices"`
			} `json:"session"`
		} `json:"clientCapabilities"`
		// of version 2
		Capabilities struct {
			Elicitation elicitation `json:"elicitation"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Version == nil {
		return nil, invalid("initialize needs a protocolVersion")
	}
	is := peer{version: stable, forms: isObject(p.Client.Elicitation.Form), notices: isObject(p.Client.Session.Notices)}
	if *p.Version == draft {
		is = peer{version: draft, forms: isObject(p.Capabilities.Elicitation.Form), notices: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client.version != 0 {
		return nil, &problem{Code: codeRequest, Message: "initialize has been answered already"}
	}
	s.client = is
	about := object{"name": "ralph", "title": "ralph", "version": cli.BuildVersion()}
	if is.version == draft {
		return object{
			"protocolVersion": draft, "info": about, "authMethods": []object{},
			"capabilities": object{"session": object{"prompt": object{"embeddedContext": object{}}}},
		}, nil
	}
	return object{
		"protocolVersion": stable, "agentInfo": about, "authMethods": []object{},
		"agentCapabilities": object{
			"loadSession":         true,
			"promptCapabilities":  object{"image": false, "audio": false, "embeddedContext": true},
			"mcpCapabilities":     object{"http": false, "sse": false},
			"sessionCapabilities": object{"list": object{}, "resume": object{}},
		},
	}, nil
}

// quoted returns foreign text for a message of ours.
func quoted(text string) string { return strconv.Quote(render.Clean(units.Cut(text, 80))) }
