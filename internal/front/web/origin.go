package web

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// policy is what a page of this server may do: run and load what the server has, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// protect sets the headers of every answer, and refuses what another site's page may have caused.
// It comes before authentication: a browser adds cookies by itself.
func (s *Server) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.isOwnHost(r) {
			refuse(w, http.StatusMisdirectedRequest, "this server has another name than "+clip(r.Host),
				"use the link that 'ralph web' printed; for a forwarded port, start it with --public-url")
			return
		}
		if problem := s.foreign(r); problem != "" {
			refuse(w, http.StatusForbidden, problem, "open the page itself")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnHost reports whether the request names this server: by a name of the loopback interface, by
// the address that the connection came to, or by the public URL, each with its port. Any other name
// may belong to a site that let it point here.
func (s *Server) isOwnHost(r *http.Request) bool {
	if s.isPublic(r.Host) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil { // no port: that of the scheme
		host, port = strings.Trim(r.Host, "[]"), "80"
	}
	if port != portOf(at) {
		return false
	}
	loopback := at.Addr().Unmap().IsLoopback()
	if strings.EqualFold(host, "localhost") {
		return loopback
	}
	named, err := netip.ParseAddr(host)
	return err == nil && (named.Unmap() == at.Addr().Unmap() || loopback && named.IsLoopback())
}

func portOf(at netip.AddrPort) string {
	_, port, _ := net.SplitHostPort(at.String())
	return port
}

func (s *Server) isPublic(host string) bool {
	return s.public != nil && strings.EqualFold(host, s.public.Host)
}

// foreign says why a request is not one of this server's own pages, of a person who follows a link,
// or of a program without a browser; it is empty if it is.
func (s *Server) foreign(r *http.Request) string {
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case site == "" || site == "same-origin" || site == "none":
	case r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
	default:
		return "another site's page caused this request"
	}
	if origin := r.Header.Get("Origin"); origin != "" && !s.isOwnOrigin(origin, r.Host) {
		return "another site's page caused this request"
	}
	return ""
}

// isOwnOrigin reports whether an origin is that of this server as the request named it.
func (s *Server) isOwnOrigin(origin, host string) bool {
	from, err := url.Parse(origin)
	if err != nil || from.Host == "" {
		return false
	}
	if s.isPublic(host) {
		return from.Scheme == s.public.Scheme && strings.EqualFold(from.Host, s.public.Host)
	}
	return from.Scheme == "http" && strings.EqualFold(from.Host, host)
}

// guardWrites refuses to change anything for a visitor who may only read, for a browser that does
// not say which page asks, and for a body that a plain form can send.
func (s *Server) guardWrites(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isRead(r) {
			next.ServeHTTP(w, r)
			return
		}
		v := visitOf(r)
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		switch {
		case !v.write:
			refuse(w, http.StatusForbidden, "this link can only read", "use the other link that 'ralph web' printed")
		case !v.bearer && r.Header.Get("Origin") == "":
			refuse(w, http.StatusForbidden, "the browser does not say which page asks", "use another browser")
		case kind != "application/json":
			refuse(w, http.StatusUnsupportedMediaType, "the body has to be JSON", "send the header 'Content-Type: application/json'")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			next.ServeHTTP(w, r)
		}
	})
}

// clip shortens foreign text in a message.
func clip(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
