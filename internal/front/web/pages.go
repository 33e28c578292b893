package web

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"sync"

	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/markup"
	"github.com/ralph-loop/ralph/render/report"
)

//go:embed assets
var assets embed.FS

// templates parses the pages when the first one is served: no other verb needs them.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(assets, "assets/*.html"))
})

// static serves scripts and styles.
func static() http.Handler {
	files, err := fs.Sub(assets, "assets/static")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	m := http.NewServeMux()
	m.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(files)))
	m.HandleFunc("GET /static/markup.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = io.WriteString(w, markup.Stylesheet()) // the client may be gone
	})
	return m
}

// page answers with a page. Its parts are escaped where they are used.
func (s *Server) page(w http.ResponseWriter, status int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = templates().ExecuteTemplate(w, name, data) // the client may be gone
}

// pageData is what every page of a visitor needs.
type pageData struct {
	Base  string // the path of all its addresses
	Write bool   // the visitor may send commands
	Loop  Loop   // of the page of a loop
	Only  string // the loop of another machine that a list is of; empty for all loops
}

func (s *Server) showList(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	s.page(w, http.StatusOK, "list.html", pageData{Base: base(v), Write: v.write})
}

func (s *Server) showLoop(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	if there, _, ok := s.elsewhere(r); ok {
		s.page(w, http.StatusOK, "list.html", pageData{Base: base(v), Write: v.write, Loop: describe(there), Only: there.Remote + ":" + there.ID})
		return
	}
	l, err := s.find(r.PathValue("id"))
	if err != nil {
		s.page(w, http.StatusNotFound, "missing.html", pageData{Base: base(v)})
		return
	}
	now, err := projector.Read(l.Found)
	if err != nil {
		now.State = "unreadable"
	}
	s.page(w, http.StatusOK, "loop.html", pageData{Base: base(v), Write: v.write, Loop: describe(now)})
}

// showReport shows the report of a loop, as 'ralph report' writes it.
func (s *Server) showReport(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loopOf(w, r)
	if !ok {
		return
	}
	var page bytes.Buffer
	read, err := report.Read(l.Dir, report.Options{})
	if err == nil {
		read.Judge(s.facts(r.Context(), l))
		err = report.HTML(&page, read, l.Dir, report.PageOptions{})
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error(), "'ralph journal verify "+l.Name+"' looks for the cause")
		return
	}
	w.Header().Set("Content-Security-Policy", report.Policy()+"; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // the client may be gone
}

// base returns the path of a visitor's addresses; a program with a token uses none.
func base(v visit) string {
	if v.bearer {
		return ""
	}
	return v.base
}
