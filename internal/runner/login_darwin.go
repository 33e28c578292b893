package runner

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// keychainPatience is how long the system may take to look into a keychain; a locked one may ask a person.
const keychainPatience = 2 * time.Second

// inKeychain reports whether the user's keychain has an item. What is in it is not asked for.
func inKeychain(item, account string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keychainPatience)
	defer cancel()
	args := []string{"find-generic-password", "-s", item}
	if account != "" {
		args = append(args, "-a", account)
	}
	err := exec.CommandContext(ctx, "/usr/bin/security", args...).Run()
	const noSuchItem = 44
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && exited.ExitCode() == noSuchItem {
		return false, nil
	}
	return err == nil, err
}
