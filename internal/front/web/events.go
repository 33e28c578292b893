package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// getEvents answers with the journal from an event on: as server-sent events that continue with
// what is written, or, for other clients, as the lines that exist now.
func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	from, err := seqOf(r, "from", 1)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error(), "")
		return
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		seq, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			refuse(w, http.StatusBadRequest, "the header Last-Event-ID has to be the number of an event", "")
			return
		}
		from = event.Seq(seq) + 1
	}
	if wantsStream(r) {
		s.streamEvents(w, r, l.Dir, from)
		return
	}
	s.sendLines(w, r, l.Dir, from)
}

// seqOf reads the number of an event from the query.
func seqOf(r *http.Request, key string, fallback event.Seq) (event.Seq, error) {
	text := r.URL.Query().Get(key)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errors.New(key + " has to be the number of an event")
	}
	return event.Seq(n), nil
}

// frameBytes is the size from which frames are sent while more events wait.
const frameBytes = 64 << 10

func (s *Server) sendLines(w http.ResponseWriter, r *http.Request, dir string, from event.Seq) {
	st := s.openStream(w, r, kindLines)
	if st == nil {
		return
	}
	defer st.close()
	if first, dropped := st.lines(dir, from); dropped {
		st.lines(dir, first)
	}
	_ = st.flush()
}

// lines adds the lines of a journal from an event on. If the journal no longer has that event, it
// returns the first that it has.
func (st *stream) lines(dir string, from event.Seq) (first event.Seq, dropped bool) {
	for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: from}) {
		if gone, ok := errors.AsType[*journal.RangeError](err); ok && from < gone.First {
			return gone.First, true
		}
		if err != nil {
			break // there is no event after the last one, or damage: what comes before it is sent
		}
		st.buf.Write(e.Line())
		st.buf.WriteByte('\n')
		if st.buf.Len() >= frameBytes && st.flush() != nil {
			break
		}
	}
	return 0, false
}

// streamEvents sends each event as it is written.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, dir string, from event.Seq) {
	st := s.openStream(w, r, kindSSE)
	if st == nil {
		return
	}
	defer st.close()
	st.beat(aliveTime, nil)
	idle := func(journal.Position) { _ = st.flush() } // on an error the context ends
	for e, err := range journal.Follow(st.ctx, dir, journal.FollowOptions{FromSeq: from, Idle: idle}) {
		if err != nil {
			_ = st.flush()
			_ = st.send("problem", 0, problemOf(err))
			return
		}
		st.frame("", e.Seq, e.Line())
		if st.buf.Len() >= frameBytes && st.flush() != nil {
			return
		}
	}
}

// problemOf describes why a journal cannot be followed.
func problemOf(err error) refusal {
	if gone, ok := errors.AsType[*journal.RangeError](err); ok {
		return refusal{err.Error(), "begin with ?from=" + gone.First.String()}
	}
	return refusal{Error: err.Error()}
}
