package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
)

// Path is where a home has its pool.
func Path(home string) string { return filepath.Join(home, "pool.json") }

// Save writes the pool of a home.
func Save(home string, p Pool) error {
	if err := WriteSecret(Path(home), p); err != nil {
		return fmt.Errorf("write the pool of this host: %w", err)
	}
	return nil
}

// WriteSecret replaces a file of mode 0600 by a value as JSON that people can edit.
func WriteSecret(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return durable.Replace(path, append(text, '\n'))
}

// lineScheme begins the address of a join line, before the scheme of the store.
const lineScheme = "ralph+"

// Line is what the next host needs: the address of 'ralph pool join'.
func (p Pool) Line() (string, error) {
	address, err := url.Parse(p.URL)
	if err != nil {
		return "", err
	}
	query := address.Query()
	for name, value := range map[string]string{"token": p.Token, "fingerprint": p.Fingerprint} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if p.Reader {
		query.Set("reader", "true")
	}
	if address.Path == "" {
		address.Path = "/"
	}
	address.Scheme, address.RawQuery = lineScheme+address.Scheme, query.Encode()
	return address.String(), nil
}

// ParseLine reads a join line, also with the command and the quotation marks around it.
func ParseLine(line string) (Pool, error) {
	var p Pool
	line = strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "ralph pool join "), " '\"")
	address, err := url.Parse(line)
	if err != nil {
		return p, errors.New("the join line is no address: enter it as 'ralph pool serve' prints it, in quotation marks")
	}
	scheme, found := strings.CutPrefix(address.Scheme, lineScheme)
	if _, known := openers[scheme]; !found || !known {
		return p, fmt.Errorf("a join line begins with %snats, %ss3 or %sdir, and not with %q", lineScheme, lineScheme, lineScheme, address.Scheme)
	}
	query := address.Query()
	p.Token, p.Fingerprint, p.Reader = query.Get("token"), strings.ToLower(query.Get("fingerprint")), query.Get("reader") == "true"
	for _, name := range []string{"token", "fingerprint", "reader"} {
		query.Del(name)
	}
	address.Scheme, address.RawQuery = scheme, query.Encode()
	address.Path = strings.TrimSuffix(address.Path, "/")
	p.URL = address.String()
	_, err = parse(p.URL)
	return p, err
}

// HostName makes the name of a host in the pool of the one that a machine has for itself.
func HostName(machine string) (string, error) {
	name, _, _ := strings.Cut(machine, ".")
	return name, CheckHost(name)
}

// CheckHost refuses what is no name of a host.
func CheckHost(name string) error {
	if strings.Contains(name, "/") || store.CheckKey(keys.Beat(name)) != nil {
		return fmt.Errorf("%q is no name of a host: it has letters, digits, - and _; --host gives one", name)
	}
	return nil
}
