package web

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
)

// A visitor is what one token lets its owner do, and how a browser shows that it has the token.
type visitor struct {
	token  string
	cookie string // the value of the browser's cookie
	// base is the path below which the cookie is valid, and all pages of this visitor are. A port
	// does not separate cookies, and another server on this machine must not receive this one.
	base  string
	write bool
}

func newVisitor(token string, write bool) visitor {
	return visitor{token: token, cookie: derived(token, "cookie", 32), base: "/" + derived(token, "path", 12), write: write}
}

// cookieName is the same for all visitors: their paths differ.
const cookieName = "ralph"

// cookieAge is how long a browser keeps the cookie, in seconds: half a year.
const cookieAge = 180 * 24 * 60 * 60

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// byToken returns the visitor who has a token, nil if there is none. It compares with all of them.
func (s *Server) byToken(token string) (found *visitor) {
	for i := range s.visitors {
		if same(s.visitors[i].token, token) {
			found = &s.visitors[i]
		}
	}
	return found
}

// byCookie returns the visitor whose path and cookie the request has, nil if there is none.
func (s *Server) byCookie(r *http.Request) (found *visitor) {
	for i := range s.visitors {
		v := &s.visitors[i]
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if !same("/"+first, v.base) {
			continue
		}
		for _, c := range r.CookiesNamed(cookieName) {
			if same(c.Value, v.cookie) {
				found = v
			}
		}
	}
	return found
}

// visit is who asks, in the context of a request.
type visit struct {
	*visitor
	bearer bool // the token came in a header: no browser sends it by itself
}

type visitKey struct{}

func visitOf(r *http.Request) visit {
	v, _ := r.Context().Value(visitKey{}).(visit)
	return v
}

// authenticate lets those in who have a token, and gives others only the way to get in. A link
// with a token is answered by a cookie and the address without the token.
func (s *Server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given, ok := bearer(r); ok {
			v := s.byToken(given)
			if v == nil {
				s.refuseStranger(w, r)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, visit{v, true})))
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && isRead(r) {
			if v := s.byToken(given); v != nil {
				s.admit(w, r, v)
				return
			}
			s.refuseStranger(w, r)
			return
		}
		v := s.byCookie(r)
		if v == nil {
			s.refuseStranger(w, r)
			return
		}
		if r.URL.Path == v.base {
			http.Redirect(w, r, v.base+"/", http.StatusSeeOther)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), visitKey{}, visit{v, false}))
		http.StripPrefix(v.base, next).ServeHTTP(w, r)
	})
}

func bearer(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// admit sets the cookie and leads to the same page without the token in its address.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, v *visitor) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: v.cookie, Path: v.base + "/", MaxAge: cookieAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.public != nil && s.public.Scheme == "https" && s.isPublic(r.Host),
	})
	path := r.URL.Path
	for _, any := range s.visitors {
		if rest, ok := strings.CutPrefix(path, any.base); ok {
			path = rest
		}
	}
	if !strings.HasPrefix(path, "/") {
		path = "/"
	}
	to := (&url.URL{Path: v.base + path}).EscapedPath()
	if r.Header.Get("Sec-Fetch-Site") != "cross-site" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	// The link was on another site. A browser sends no strict cookie with that redirect, but it
	// does with a step from a page of this server.
	s.page(w, http.StatusOK, "enter.html", to)
}

// refuseStranger answers a request without a valid token.
func (s *Server) refuseStranger(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="ralph"`)
	if wantsJSON(r) {
		refuse(w, http.StatusUnauthorized, "a token is required", "send the header 'Authorization: Bearer TOKEN'; 'ralph web' prints the token in its link")
		return
	}
	s.page(w, http.StatusUnauthorized, "stranger.html", nil)
}
