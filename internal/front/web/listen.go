package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

// UsualPort is the port of a server whose person names none, so that a link stays valid.
const UsualPort = 4747

// Listen opens the port of a server. An empty address is that of the loopback interface. Without a
// port it is UsualPort, or any other one if that is taken; usual reports whether it is not another.
func Listen(address string, port int) (on net.Listener, usual bool, err error) {
	host := address
	if host == "" {
		host = "127.0.0.1"
	}
	if port != 0 {
		on, err = listen(host, port)
		return on, true, err
	}
	on, err = listen(host, UsualPort)
	if errors.Is(err, syscall.EADDRINUSE) {
		on, err = listen(host, 0)
		return on, false, err
	}
	return on, true, err
}

func listen(host string, port int) (net.Listener, error) {
	on, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for browsers: %w", err)
	}
	return on, nil
}

// IsLoopback reports whether only this machine reaches an address: an IP address, or localhost.
func IsLoopback(address string) bool {
	if address == "" || strings.EqualFold(address, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.IsLoopback()
}

// ParsePublic parses the address at which browsers reach a server through a forwarded port. An
// empty one is nil.
func ParsePublic(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "", strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%q is not a scheme and a host", text)
	}
	u.Path = ""
	// A browser leaves out the port of the scheme.
	if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		u.Host = strings.TrimSuffix(strings.TrimSuffix(u.Host, ":80"), ":443")
	}
	return u, nil
}
