package forge

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// A reference names an issue.
type reference struct {
	number  int
	host    string // empty for a number alone
	project string // owner/name; empty for a number alone
	gitlab  bool   // the address has the form of GitLab's
}

// maxReference is how many bytes an address of an issue may have.
const maxReference = 2000

// parseReference reads 42, #42, or the address of an issue.
func parseReference(text string) (reference, error) {
	bad := fmt.Errorf("%.100q is %w", text, ErrReference)
	text = strings.TrimSpace(text)
	if len(text) > maxReference {
		return reference{}, bad
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(text, "#")); err == nil && n > 0 {
		return reference{number: n}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return reference{}, bad
	}
	words := strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, word := range words {
		if word != "issues" && word != "work_items" && word != "pull" || i+1 >= len(words) || i < 2 {
			continue
		}
		n, err := strconv.Atoi(words[i+1])
		if err != nil || n <= 0 {
			break
		}
		ref := reference{number: n, host: strings.ToLower(u.Host), project: strings.Join(words[:i], "/")}
		if words[i-1] == "-" {
			ref.gitlab, ref.project = true, strings.Join(words[:i-1], "/")
		}
		return ref, nil
	}
	return reference{}, bad
}

// argument is what the program is given.
func (r reference) argument() string {
	switch {
	case r.host == "":
		return strconv.Itoa(r.number)
	case r.gitlab:
		return fmt.Sprintf("https://%s/%s/-/issues/%d", r.host, r.project, r.number)
	}
	return fmt.Sprintf("https://%s/%s/issues/%d", r.host, r.project, r.number)
}

// programFor returns the program for a reference: by the form and the host of its address, or by
// the remotes.
func (at Place) programFor(ctx context.Context, r reference) (program, error) {
	switch {
	case r.host == "":
		return at.program(ctx)
	case r.gitlab:
		return glab, nil
	}
	if name := at.byHost(r.host); name != "" {
		return name, nil
	}
	return gh, nil // GitLab's addresses have had "/-/" in them for years
}

// program returns the program for the repository: by the host of its remotes, by what the person
// has set, or by which of the two is logged in there.
func (at Place) program(ctx context.Context) (program, error) {
	for _, remote := range at.Remotes {
		host := hostOf(remote)
		if host == "" {
			continue
		}
		if name := at.byHost(host); name != "" {
			return name, nil
		}
		if name := at.byLogin(ctx, host); name != "" {
			return name, nil
		}
	}
	return "", &Error{Doing: "find the forge", Err: ErrNoRemote,
		hint: "add a remote, or give the address; for a host of your own say 'gh auth login --hostname HOST' or 'glab auth login --hostname HOST'"}
}

// byHost knows a host by its name, or by the variables with which a person names one of their own.
func (at Place) byHost(host string) program {
	for label := range strings.SplitSeq(host, ".") {
		switch {
		case label == "github" || strings.HasPrefix(label, "github-") || host == at.variable("GH_HOST"):
			return gh
		case label == "gitlab" || strings.HasPrefix(label, "gitlab-") || host == at.variable("GITLAB_HOST"):
			return glab
		}
	}
	return ""
}

// byLogin asks the programs that are installed whether they know a host.
func (at Place) byLogin(ctx context.Context, host string) program {
	for _, name := range []program{gh, glab} {
		if !installed(name) {
			continue
		}
		if _, err := at.run(ctx, "", name, "auth", "status", "--hostname", host); err == nil {
			return name
		}
	}
	return ""
}

// hostOf returns the host of a remote's address, with its port if it has one: https://host/a/b,
// ssh://git@host/a/b, git@host:a/b. A path has none.
func hostOf(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.Scheme != "" && strings.Contains(remote, "://") {
		if u.Scheme == "file" {
			return ""
		}
		if u.Scheme == "ssh" || u.Scheme == "git+ssh" {
			return validHost(u.Hostname()) // the port is that of SSH
		}
		return validHost(u.Host)
	}
	before, path, ok := strings.Cut(remote, ":")
	if !ok || strings.ContainsAny(before, `/\`) || len(before) == 1 || path == "" { // C:\folder
		return ""
	}
	if _, host, ok := strings.Cut(before, "@"); ok {
		before = host
	}
	return validHost(before)
}

// validHost returns a host that is safe as an argument, else nothing.
func validHost(host string) string {
	if host == "" || host[0] == '-' || strings.ContainsAny(host, " \t\n\x00'\"") {
		return ""
	}
	return strings.ToLower(host)
}
