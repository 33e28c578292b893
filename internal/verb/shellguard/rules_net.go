package shellguard

import (
	"net/netip"
	"slices"
	"strings"
)

// isLocal reports whether a host is this machine, or a name without a dot: a service of a
// container network.
func isLocal(host string) bool {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.IsLoopback() || addr.IsUnspecified()
	}
	return !hasUnknown(host) && (!strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".test"))
}

// hostOf returns the host of an address.
func hostOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	url, _, _ = strings.Cut(url, "/")
	url = url[strings.LastIndexByte(url, '@')+1:]
	if at := strings.LastIndexByte(url, ':'); at >= 0 && !strings.HasSuffix(url, "]") {
		url = url[:at]
	}
	return url
}

// downloadOptions sorts the arguments of curl, wget and their like.
func (c *command) downloadOptions() options {
	if c.name == "curl" {
		return c.options("o", "H", "d", "F", "T", "u", "X", "A", "e", "b", "c", "x", "K", "m", "w", "E", "y", "Y", "r", "z", "output", "header", "data", "form", "upload-file", "user", "request", "user-agent", "referer", "cookie",
			"cookie-jar", "proxy", "config", "max-time", "write-out", "cert", "key", "data-binary", "data-raw", "data-urlencode", "data-ascii", "json", "form-string", "connect-timeout", "retry", "retry-delay", "cacert", "url", "resolve", "output-dir")
	}
	return c.options("O", "o", "P", "U", "t", "T", "d", "H", "e", "output-document", "directory-prefix", "header", "post-file", "post-data", "body-file", "body-data", "method", "user-agent", "tries", "timeout", "out", "dir", "user", "password")
}

// judgeTransfer judges what curl and wget send, and the files that they write.
func judgeTransfer(c *command) {
	o := c.downloadOptions()
	urls := append(o.operands, o.of("url")...)
	local := len(urls) > 0 && !slices.ContainsFunc(urls, func(url string) bool {
		return strings.Contains(url, ".") && !isLocal(hostOf(url)) || hasUnknown(hostOf(url))
	})
	for _, url := range urls {
		if file, ok := strings.CutPrefix(url, "file://"); ok {
			c.read(file)
		}
		for _, host := range []string{"transfer.sh", "0x0.st", "file.io", "paste.rs", "termbin.com", "webhook.site", "requestbin", "pipedream.net", "ngrok.io", "interact.sh", "oast.fun", "burpcollaborator", "bashupload.com", "temp.sh", "catbox.moe", "dpaste", "hastebin", "pastebin.com/api"} {
			if strings.Contains(url, host) && (c.sends(o) || c.in.given) {
				c.deny(Upload, "it sends data to a public drop of files. Keep the data in the project.")
			}
		}
	}
	if !local && slices.ContainsFunc(c.args, func(arg string) bool { return strings.Contains(arg, encoded) }) {
		c.deny(Upload, "it puts the contents of a file into a request to another machine. Keep them here, or ask the person.")
	}
	for _, file := range o.of("o", "output", "O", "output-document") {
		if file != "-" && !(c.name != "curl" && len(o.of("o")) > 0) {
			c.write(file)
		}
	}
	files := o.of("post-file", "body-file")
	if c.name == "curl" { // -T of wget is a time
		files = append(files, o.of("T", "upload-file")...)
	}
	for _, form := range []struct{ mark, names string }{{"=@", "F form"}, {"=<", "F form"}, {"@", "data-urlencode"}} {
		for _, text := range o.of(strings.Fields(form.names)...) {
			if _, file, ok := strings.Cut(text, form.mark); ok {
				file, _, _ := strings.Cut(file, ";")
				files = append(files, file)
			}
		}
	}
	for _, arg := range c.args { // httpie
		if name, file, ok := strings.Cut(arg, "@"); ok && words2set("http https xh")[c.name] && !strings.Contains(name, ":") && name != "" {
			files = append(files, file)
		}
	}
	for _, file := range files {
		c.sendsFile(file, local, true)
	}
	for _, text := range o.of("d", "data", "data-binary", "data-ascii", "json") {
		if file, ok := strings.CutPrefix(text, "@"); ok {
			c.sendsFile(file, local, !strings.HasSuffix(file, ".json") && !strings.HasSuffix(file, ".graphql") && file != "-")
		}
	}
	method := strings.ToUpper(strings.Join(o.of("X", "request", "method"), ""))
	if method == "DELETE" && slices.ContainsFunc(urls, func(url string) bool {
		return strings.Contains(url, ":9200") || strings.Contains(url, "/_all") || strings.HasSuffix(url, "/*")
	}) {
		c.deny(Database, "it removes an index with all its data. Ask the person.")
	} else if method == "DELETE" && !local && slices.ContainsFunc(urls, func(url string) bool { return strings.Contains(hostOf(url), "api.") }) {
		c.deny(Cloud, "it removes something of a service. Leave that to the person.")
	}
}

func (c *command) sends(o options) bool {
	return o.has("d", "data", "F", "form", "T", "upload-file", "data-binary", "data-raw", "data-urlencode", "post-file", "post-data", "body-file", "json")
}

// sendsFile judges a file that is sent; "-" is the input. Only files that are surely no payload
// of an API are denied.
func (c *command) sendsFile(file string, local, surely bool) {
	if file == "-" || file == "." || file == "/dev/stdin" {
		if c.in.given && !local {
			c.uploads(c.in.text, "the address")
		}
		return
	}
	c.read(file)
	switch {
	case local:
	case surely:
		c.deny(Upload, "it sends "+file+" to another machine. Keep the project's files here, or ask the person.")
	default:
		c.ask(Upload, "it sends "+file+" to another machine. Put the data into the command, or ask the person.")
	}
}

// uploads judges text that is sent to a host: text of this command may be sent, contents of files
// may not.
func (c *command) uploads(text, host string) {
	if isLocal(host) && host != "the address" && !strings.Contains(host, "@") {
		return
	}
	switch kind := origin(text); kind {
	case "", downloaded, decoded, computed:
		if strings.Contains(text, unknown) {
			break
		}
		return
	}
	c.deny(Upload, "it sends the output of a command or a file to another machine. Keep it here, or ask the person.")
}

// judgeSocket judges what programs that connect with a network send.
func judgeSocket(c *command) {
	if c.name == "openssl" {
		if c.hasWord("s_client") && c.in.given && origin(c.in.text) != "" {
			c.deny(RemoteShell, "it connects a program or a file with another machine. Do not.")
		}
		c.readAll(c.options("in", "inkey", "key").of("in", "inkey", "key"))
		return
	}
	o := c.options("e", "c", "p", "s", "w", "q", "i", "X", "x", "O", "exec", "sh-exec", "lua-exec")
	switch {
	case !c.in.given || o.has("z", "h", "help") || len(o.operands) == 0:
	case o.has("l", "listen"):
		if origin(c.in.text) != "" {
			c.deny(RemoteShell, "it offers the output of a program to the network. Do not.")
		}
	case strings.TrimSpace(c.in.text) != "":
		c.uploads(c.in.text, o.operands[0])
	}
}

func judgeSCP(c *command) {
	o := c.options("P", "i", "o", "F", "l", "c", "J", "S")
	if len(o.operands) < 2 {
		return
	}
	last := len(o.operands) - 1
	c.readAll(o.operands[:last])
	if isRemote(o.operands[last]) {
		c.deny(Upload, "it copies files to another machine. Leave deployments to the person, or to the project's CI.")
	} else {
		c.write(o.operands[last])
	}
}

func judgeMail(c *command) {
	if c.in.given || c.options("s", "e", "u", "p", "f").has("a") {
		c.deny(Upload, "it sends mail with contents from this machine. Leave that to the person.")
	}
}

// judgeLookup judges names that contain data: a DNS server that is asked for them reads it.
func judgeLookup(c *command) {
	for _, arg := range c.args {
		if kind := origin(arg); kind != "" && strings.Contains(arg, ".") && !isUnknown(arg[len(arg)-1]) {
			c.deny(Upload, "it puts the output of a command into a name that a server on the network is asked for. Do not send data.")
		}
	}
}

// network judges a redirection to /dev/tcp or /dev/udp of bash.
func (s *shell) network(word string) bool {
	rest, ok := strings.CutPrefix(word, "/dev/tcp/")
	if !ok {
		rest, ok = strings.CutPrefix(word, "/dev/udp/")
	}
	if !ok {
		return false
	}
	if host, _, _ := strings.Cut(rest, "/"); !isLocal(host) {
		s.deny(RemoteShell, "it connects a program with another machine through "+Printable(word)+". Use curl for a request.")
	}
	return true
}
