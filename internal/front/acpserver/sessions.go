package acpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// about are the params that say which session is meant.
type about struct {
	Session string          `json:"sessionId"`
	Replay  json.RawMessage `json:"replayFrom"` // of version 2: an object if all is to be repeated
}

// sessionOf returns the open session that params name, or nil.
func (s *Server) sessionOf(params json.RawMessage) *session {
	var p about
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[p.Session]
}

func noSession(id string) *problem {
	return &problem{Code: codeNotFound, Message: "there is no session " + quoted(id) + " here; session/list names the loops"}
}

// add opens a session. Its goroutines end with ctx, and when it is closed.
func (s *Server) add(ctx context.Context, x *session) *problem {
	idle, refused := s.insert(ctx, x)
	if idle != nil {
		idle.close(noSession(idle.id))
	}
	if refused == nil {
		go x.work()
	}
	return refused
}

// insert adds a session. Where there are too many, the oldest that has had no prompt makes way.
func (s *Server) insert(ctx context.Context, x *session) (idle *session, refused *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[x.id] != nil {
		return nil, &problem{Code: codeRequest, Message: "the session is open already"}
	}
	if len(s.sessions) >= maxSessions {
		if idle = s.oldestIdle(); idle == nil {
			return nil, &problem{Code: codeRequest, Message: fmt.Sprintf("%d sessions are open, which is the most", maxSessions)}
		}
		delete(s.sessions, idle.id)
	}
	x.s, x.jobs = s, make(chan func(), maxRequests)
	x.ctx, x.end = context.WithCancel(ctx)
	s.sessions[x.id] = x
	return idle, nil
}

// oldestIdle returns the oldest session that has had no prompt, or nil; the caller holds the lock.
func (s *Server) oldestIdle() (oldest *session) {
	for _, x := range s.sessions {
		if x.cwd != "" && !x.prompted.Load() && (oldest == nil || x.id < oldest.id) { // ids are in the order of time
			oldest = x
		}
	}
	return oldest
}

// newSession opens a session that has no loop yet: its first prompt is the task. The session's id
// will be the loop's.
func (s *Server) newSession(ctx context.Context, params json.RawMessage) (any, *problem) {
	var p struct {
		Cwd     string            `json:"cwd"`
		Servers []json.RawMessage `json:"mcpServers"`
	}
	switch {
	case json.Unmarshal(params, &p) != nil:
		return nil, invalid("session/new needs a cwd")
	case !filepath.IsAbs(p.Cwd):
		return nil, invalid("cwd has to be an absolute path")
	case !isFolder(p.Cwd):
		return nil, invalid("there is no folder " + quoted(p.Cwd))
	}
	if len(p.Servers) > 0 {
		cli.Tell(s.env.Stderr, "the loop's agent has the MCP servers of its own settings; those of the client are not passed on")
	}
	x := &session{id: client.NewID(s.env.Now()), cwd: p.Cwd}
	if problem := s.add(ctx, x); problem != nil {
		return nil, problem
	}
	opened := object{"sessionId": x.id}
	if s.speaks().version == draft {
		opened["availableCommands"] = commandList(draft)
	} else {
		_ = x.do(func(*problem) { // the session is new: nothing waits, and it is open
			x.update(object{"sessionUpdate": "available_commands_update", "availableCommands": commandList(stable)})
		})
	}
	return opened, nil
}

// enter opens the session of a loop that exists. all asks for a replay.
func (s *Server) enter(ctx context.Context, c call, params json.RawMessage, all bool) {
	var p about
	if json.Unmarshal(params, &p) != nil || p.Session == "" {
		c.fail(invalid("the session's id is missing"))
		return
	}
	all = all || isObject(p.Replay)
	s.mu.Lock()
	x := s.sessions[p.Session]
	s.mu.Unlock()
	if x != nil {
		if x.cwd != "" && !x.prompted.Load() { // a session without a loop has nothing to replay
			c.reply(s.entered())
			return
		}
		s.drop(x, sessionClosed) // the client has lost what it was sent, and begins again
	}
	l, refused := s.find(p.Session)
	if refused == nil {
		x = &session{id: p.Session, loop: l.Entry}
		refused = s.add(ctx, x)
	}
	if refused == nil {
		refused = x.do(func(closed *problem) { x.watchFor(c, all, closed) })
	}
	if refused != nil {
		c.fail(refused)
	}
}

// watchFor begins to follow the loop of a session, and answers the request for it.
func (x *session) watchFor(c call, all bool, closed *problem) {
	if closed != nil {
		c.fail(closed)
		return
	}
	w, err := x.watchFrom(all)
	if err != nil {
		x.s.drop(x, failure(err))
		c.fail(failure(err))
		return
	}
	w.entry = &c
	go w.follow()
}

// sessionClosed answers what waits when the client closes a session.
var sessionClosed = &problem{Code: codeCancelled, Message: "the session was closed; the loop goes on"}

// entered is the answer to a session that was entered.
func (s *Server) entered() object {
	if s.speaks().version == draft {
		return object{"availableCommands": commandList(draft)}
	}
	return object{}
}

// closeSession ends what the client sees of a loop. The loop lives on.
func (s *Server) closeSession(params json.RawMessage) (any, *problem) {
	if x := s.sessionOf(params); x != nil {
		s.drop(x, sessionClosed)
	}
	return object{}, nil
}

// drop closes a session, and answers its prompts with the reason.
func (s *Server) drop(x *session, why *problem) {
	s.mu.Lock()
	if s.sessions[x.id] == x {
		delete(s.sessions, x.id)
	}
	s.mu.Unlock()
	x.close(why)
}

// find returns the loop of an id: its ULID, or its name if that is unique on this machine.
func (s *Server) find(id string) (registry.Status, *problem) {
	found, err := registry.Survey(s.env.Home, func(e registry.Entry) bool { return e.ID == id || e.Name == id })
	if err != nil {
		return registry.Status{}, failure(err)
	}
	found = slices.DeleteFunc(found, func(l registry.Status) bool { return l.Name == "" || l.Gone })
	if at := slices.IndexFunc(found, func(l registry.Status) bool { return l.ID == id }); at >= 0 {
		return found[at], nil
	}
	switch len(found) {
	case 0:
		if v := s.Distant.Find(id); v != nil {
			return registry.Status{}, elsewhere(v)
		}
		return registry.Status{}, noSession(id)
	case 1:
		return found[0], nil
	}
	return registry.Status{}, invalid("several projects have a loop " + quoted(id) + ": use the id that session/list shows")
}

// pageSessions is how many loops one answer to session/list has.
const pageSessions = 100

// firstAnswers is how long a list waits for other machines to answer.
const firstAnswers = 3 * time.Second

// elsewhere refuses to open a loop of another machine, whose journal is there.
func elsewhere(v *projector.View) *problem {
	return &problem{Code: codeRequest, Message: "loop " + v.Call + " is on another machine: where ssh reaches that, 'ralph attach " + v.Call +
		"' shows it in a terminal, and 'ralph steer " + v.Call + " TEXT' steers its agent; 'ralph pool' does the latter for a loop of the pool"}
}

// describeElsewhere is a loop of another machine in the list of sessions.
func (s *Server) describeElsewhere(v *projector.View) object {
	d := describe(v.Found)
	d["sessionId"], d["cwd"] = v.Call, cmp.Or(v.Project, "/")
	if silence := listing.Silence(v, s.env.Now()); silence > 0 {
		d["title"] = d["title"].(string) + ", last heard of " + units.Ago(silence)
	}
	return d
}

// listSessions lists the loops of this machine, or of a project, the latest first. After those of
// this machine come those of others.
func (s *Server) listSessions(ctx context.Context, params json.RawMessage) (any, *problem) {
	var p struct {
		Cwd    string `json:"cwd"`
		Cursor string `json:"cursor"`
	}
	if len(params) > 0 && json.Unmarshal(params, &p) != nil {
		return nil, invalid("session/list takes a cwd and a cursor")
	}
	if p.Cwd != "" && !filepath.IsAbs(p.Cwd) {
		return nil, invalid("cwd has to be an absolute path")
	}
	from := 0
	if p.Cursor != "" {
		n, err := strconv.Atoi(p.Cursor)
		if err != nil || n < 0 {
			return nil, invalid("this cursor is none of ralph's")
		}
		from = n
	}
	cwd := p.Cwd
	if cwd != "" {
		cwd = cli.WithoutLinks(cwd)
	}
	found, err := registry.Survey(s.env.Home, func(e registry.Entry) bool { return cwd == "" || cli.Within(e.Project, cwd) })
	if err != nil {
		return nil, failure(err)
	}
	found = slices.DeleteFunc(found, func(l registry.Status) bool { return l.ID == "" || l.Gone })
	slices.SortFunc(found, func(a, b registry.Status) int {
		return cmp.Or(b.Head.At.Compare(a.Head.At), cmp.Compare(b.ID, a.ID))
	})
	var distant []*projector.View
	if cwd == "" {
		distant, _ = s.Distant.Await(ctx, firstAnswers)
	}
	all := len(found) + len(distant)
	from = min(from, all)
	to := min(from+pageSessions, all)
	sessions := make([]object, 0, to-from)
	for i := from; i < to; i++ {
		if i < len(found) {
			sessions = append(sessions, describe(found[i]))
		} else {
			sessions = append(sessions, s.describeElsewhere(distant[i-len(found)]))
		}
	}
	answer := object{"sessions": sessions}
	if to < all {
		answer["nextCursor"] = strconv.Itoa(to)
	}
	return answer, nil
}

// describe is a loop in the list of sessions.
func describe(l registry.Status) object {
	d := object{"sessionId": l.ID, "cwd": l.Project, "title": titleOf(l)}
	if at := l.Head.At; !at.IsZero() {
		d["updatedAt"] = at.UTC().Format(time.RFC3339)
	}
	return d
}

// titleOf is the name and the status of a loop.
func titleOf(l registry.Status) string {
	status := string(l.Head.Status)
	switch {
	case l.Err != nil:
		status = "unreadable"
	case l.Head.ContinuesOn != "":
		status = "continues on " + l.Head.ContinuesOn
	case l.Died:
		status = "died"
	case l.Head.Waiting != "":
		status = "waiting for " + l.Head.Waiting
	}
	title := l.Name + ": " + status
	if l.Head.Iteration > 0 {
		title += ", iteration " + cli.CountOf(l.Head).Number()
	}
	return render.Clean(title)
}
