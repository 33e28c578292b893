package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// hostVariable replaces the host's name: pods have one file in common, and names of their own.
const hostVariable = "RALPH_POOL_HOST"

// Load reads what this host knows of its pool from ralph's home.
func Load(home string) (p Pool, err error) {
	path := Path(home)
	var text []byte
	root, err := os.OpenRoot(home)
	if err == nil {
		text, err = root.ReadFile(filepath.Base(path))
		root.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("this host is in no pool: %s does not exist; 'ralph pool join -' makes it", path)
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if host := os.Getenv(hostVariable); host != "" {
		p.Host = host
	}
	if err == nil {
		err = CheckHost(p.Host)
	}
	if err == nil {
		_, err = parse(p.URL)
	}
	if err != nil {
		return p, fmt.Errorf("read %s: %w", path, err)
	}
	return p, nil
}
