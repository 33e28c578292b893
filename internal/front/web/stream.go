package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// A stream sends server-sent events to one client. Frames are added and flushed by one goroutine;
// beat is another one.
type stream struct {
	s   *Server
	ctx context.Context // ends with the client, with the server, and when a frame cannot be sent
	end context.CancelFunc
	buf bytes.Buffer // frames that are not sent yet

	beating sync.WaitGroup

	mu     sync.Mutex // for what follows
	w      http.ResponseWriter
	ctl    *http.ResponseController
	silent bool // nothing was sent since the last beat
}

const (
	kindSSE   = "text/event-stream"
	kindLines = "application/jsonl; charset=utf-8"
)

// openStream begins a stream, or answers that there are too many and returns nil. The caller closes
// it.
func (s *Server) openStream(w http.ResponseWriter, r *http.Request, kind string) *stream {
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "too many pages are open", "close some of them")
		return nil
	}
	st := &stream{s: s, w: w, ctl: http.NewResponseController(w)}
	st.ctx, st.end = context.WithCancel(r.Context())
	// A stream has no end, so the times of the server do not apply. Each frame has its own.
	_ = st.ctl.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass frames on at once
	w.WriteHeader(http.StatusOK)
	_ = st.ctl.Flush() // the client sees that the stream is open
	return st
}

// close ends the stream. The request's writer must not be used after it.
func (st *stream) close() {
	st.end()
	st.beating.Wait()
	st.s.streams.Add(-1)
}

// beat shows a silent client, and the proxies between, that the server lives, and ends the stream
// when the server ends. It calls look, unless that is nil, after each interval.
func (st *stream) beat(interval time.Duration, look func()) {
	st.beating.Go(func() {
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		beats := max(1, int(aliveTime/interval))
		for n := 1; ; n++ {
			select {
			case <-st.ctx.Done():
				return
			case <-st.s.ends:
				st.end()
				return
			case <-ticks.C:
			}
			if look != nil {
				look()
			}
			if n%beats == 0 && st.takeSilence() {
				_ = st.write([]byte(": alive\n\n"))
			}
		}
	})
}

// takeSilence reports whether nothing was sent since the last call.
func (st *stream) takeSilence() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	was := st.silent
	st.silent = true
	return was
}

// frame adds an event to what flush sends. seq is 0 for one that a reconnect need not continue
// after.
func (st *stream) frame(name string, seq event.Seq, data []byte) {
	st.buf.Write(frame(name, seq, data))
}

func frame(name string, seq event.Seq, data []byte) []byte {
	var b []byte
	if seq > 0 {
		b = fmt.Appendf(b, "id: %d\n", uint64(seq))
	}
	if name != "" {
		b = fmt.Appendf(b, "event: %s\n", name)
	}
	b = append(b, "data: "...)
	b = append(b, data...) // JSON: without line breaks
	return append(b, "\n\n"...)
}

// send sends an event with a value as JSON, after what was added. Any goroutine may call it if none
// adds frames.
func (st *stream) send(name string, seq event.Seq, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return st.write(frame(name, seq, data))
}

// flush sends what was added. An error means that the client is gone, or too slow.
func (st *stream) flush() error {
	if st.buf.Len() == 0 {
		return st.ctx.Err()
	}
	err := st.write(st.buf.Bytes())
	st.buf.Reset()
	return err
}

func (st *stream) write(frames []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.ctx.Err(); err != nil {
		return err
	}
	st.silent = false
	_ = st.ctl.SetWriteDeadline(st.s.env.Now().Add(writeTime))
	_, err := st.w.Write(frames)
	if err == nil {
		err = st.ctl.Flush()
	}
	if err != nil {
		st.end()
	}
	return err
}

// streamLoops sends the list when it changes.
func (s *Server) streamLoops(w http.ResponseWriter, r *http.Request) {
	st := s.openStream(w, r, kindSSE)
	if st == nil {
		return
	}
	defer st.close()
	var last []byte
	look := func() {
		list, err := s.list(r)
		if err != nil {
			st.end()
			return
		}
		text, err := json.Marshal(list)
		if err == nil && !bytes.Equal(text, last) {
			last, list.Now = text, s.env.Now()
			_ = st.send("loops", 0, list) // ends the stream itself
		}
	}
	look()
	st.beat(time.Second, look)
	<-st.ctx.Done()
}
