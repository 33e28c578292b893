package listing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Dismiss takes a loop without a runner out of those that need a person, until it has worked again,
// and the loops within it, as those of a fleet; it says so. The entry of a loop whose folder is
// gone is removed.
func Dismiss(e *cli.Env, v *projector.View) (said string, err error) {
	all, err := registry.Survey(e.Home, nil)
	if err != nil {
		return "", err
	}
	refused := undismissible(e, v)
	var dismissed []*projector.View
	if refused == nil {
		dismissed = append(dismissed, v)
	}
	for _, l := range loopsWithin(all, v.ID) {
		if !l.Gone && undismissible(e, l) == nil {
			dismissed = append(dismissed, l)
		}
	}
	if len(dismissed) == 0 {
		return "", refused
	}
	var names []string
	for _, l := range dismissed {
		if err := registry.Dismiss(e.Home, l.Found); err != nil {
			return "", err
		}
		names = append(names, l.Name)
	}
	switch {
	case len(names) > 1:
		return fmt.Sprintf("loops %s need you no more, until they have worked again", strings.Join(names, ", ")), nil
	case dismissed[0].Gone:
		return fmt.Sprintf("loop %s is gone, and is not listed any more", v.Name), nil
	}
	return fmt.Sprintf("loop %s needs you no more, until it has worked again", names[0]), nil
}

// undismissible is the refusal to dismiss a loop; nil if it can be.
func undismissible(e *cli.Env, v *projector.View) error {
	switch {
	case v.Found.Err != nil:
		return cli.Refuse("move the file away if it is of no use", "%s cannot be dismissed: %w", registry.Folder(e.Home)+"/"+v.Found.File, v.Found.Err)
	case v.Alive:
		return cli.Refuse("answer it, resume it or stop it", "loop %s has a runner", v.Name)
	case !v.Gone && v.Group == projector.Over:
		return cli.Refuse(fmt.Sprintf("'ralph clean %s' removes it", v.Name), "loop %s does not need you", v.Name)
	}
	return nil
}

// loopsWithin returns the loops within another one, and those within them.
func loopsWithin(all []registry.Status, id string) []*projector.View {
	found, ids := []*projector.View{}, []string{id}
	for i := 0; i < len(ids); i++ {
		for _, l := range all {
			if l.Parent != "" && l.Parent == ids[i] && !slices.Contains(ids, l.ID) {
				found, ids = append(found, projector.Brief(l)), append(ids, l.ID)
			}
		}
	}
	return found
}
