package credentials

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
)

// keychainTimeout limits the search in a keychain; a locked one may ask a person.
const keychainTimeout = 2 * time.Second

// inKeychain reports whether the user's keychain has an item. It does not read its secret.
func inKeychain(item, account string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keychainTimeout)
	defer cancel()
	args := []string{"find-generic-password", "-s", item}
	if account != "" {
		args = append(args, "-a", account)
	}
	exit, err := process.Run(ctx, process.Command{Argv: append([]string{"/usr/bin/security"}, args...)})
	const noSuchItem = 44
	if err != nil || exit.Code == noSuchItem {
		return false, err
	}
	return exit.Code == 0, exit.Failure()
}
