package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// accountID identifies the account with which an agent pays: its program, and the folder of its
// login where the settings or the environment move that.
func accountID(a config.Agent, env []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00", a.ResolvedProtocol())
	for _, name := range []string{"HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"} {
		value, own := a.Env[name]
		if !own {
			value = lastOf(env, name)
		}
		fmt.Fprintf(h, "%s\x00", value)
	}
	return hex.EncodeToString(h.Sum(nil))[:accountDigits]
}

const accountDigits = 24

// quota is what the vendor said last of an account. All loops of it read and write the same file;
// of two at once, the last counts.
type quota struct {
	At      time.Time           `json:"at"`
	Windows []event.QuotaWindow `json:"windows"`
}

// quotaDir has a file for each account.
func quotaDir(home string) string { return filepath.Join(home, "quota") }

func quotaFile(home, account string) string { return filepath.Join(quotaDir(home), account+".json") }

const maxQuota = 64 << 10 // bytes of such a file

// readQuota returns what is known of an account. Without anything, At is zero.
func readQuota(home, account string) (q quota, err error) {
	text, err := safefile.Read(quotaFile(home, account), maxQuota)
	if errors.Is(err, fs.ErrNotExist) {
		return q, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		err = fmt.Errorf("read the quota of the account: %w", err)
	}
	return q, err
}

func writeQuota(home, account string, q quota) error {
	text, err := json.Marshal(q)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(quotaFile(home, account)), 0o700)
	}
	if err == nil {
		err = safefile.WriteFile(quotaFile(home, account), append(text, '\n'), 0o600)
	}
	if err != nil {
		err = fmt.Errorf("keep the quota of the account: %w", err)
	}
	return err
}
