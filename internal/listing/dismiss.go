package listing

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/registration"
	"github.com/ralph-loop/ralph/registry"
)

// Dismiss takes a loop without a runner out of those that need a person, until it has worked again,
// and says so. The entry of a loop whose folder is gone is removed.
func Dismiss(e *cli.Env, s registry.Status) (said string, err error) {
	switch {
	case s.Err != nil:
		return "", cli.Refuse("move the file away if it is of no use", "%s cannot be dismissed: %w", registry.Folder(e.Home)+"/"+s.File, s.Err)
	case s.Live.Alive:
		return "", cli.Refuse("answer it, resume it or stop it", "loop %s has a runner", s.Name)
	case !s.Gone && GroupOf(s) == Ended:
		return "", cli.Refuse(fmt.Sprintf("'ralph clean %s' removes it", s.Name), "loop %s does not need you", s.Name)
	}
	if err := registration.Dismiss(e.Home, s); err != nil {
		return "", err
	}
	if s.Gone {
		return fmt.Sprintf("loop %s is gone, and is not listed any more", s.Name), nil
	}
	return fmt.Sprintf("loop %s needs you no more, until it has worked again", s.Name), nil
}
