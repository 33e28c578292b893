package story

import (
	"fmt"
	"strings"
)

// ids finds the story of each id, and reports those that have the id of an earlier one.
func (c *checker) ids() {
	place := c.file.place
	for i := range c.file.list.Stories {
		id := c.file.list.Stories[i].ID
		if id == "" {
			continue
		}
		if at, ok := place[id]; ok {
			c.problem(i, "id", fmt.Sprintf("the stories at places %d and %d of userStories have the same id", at+1, i+1))
			continue
		}
		place[id] = i
	}
}

// dependencies checks that each id in dependsOn is that of another story, and that some story can
// be the first.
func (c *checker) dependencies() {
	stories := c.file.list.Stories
	needs := make([][]int, len(stories))
	for i := range stories {
		for _, id := range stories[i].DependsOn {
			at, ok := c.file.place[id]
			if !ok {
				c.problem(i, "dependsOn", fmt.Sprintf("there is no story %s", shortID(id)))
				continue
			}
			needs[i] = append(needs[i], at)
		}
	}
	if circle := cycle(needs); circle != nil {
		c.problem(circle[0], "dependsOn", "the stories wait for each other: "+c.chain(circle))
	}
}

// shortID is an id as a message has it. It may be any text.
func shortID(id string) string { return fmt.Sprintf("%.60q", id) }

// cycle returns stories that wait for each other, the first of them first; nil if none do. needs
// has the stories that each one waits for.
func cycle(needs [][]int) []int {
	waiting := make([]int, len(needs)) // for how many stories each one waits
	needed := make([][]int, len(needs))
	var free []int
	for i, on := range needs {
		waiting[i] = len(on)
		for _, n := range on {
			needed[n] = append(needed[n], i)
		}
		if len(on) == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		last := free[len(free)-1]
		free = free[:len(free)-1]
		for _, i := range needed[last] {
			if waiting[i]--; waiting[i] == 0 {
				free = append(free, i)
			}
		}
	}
	for i := range needs {
		if waiting[i] > 0 {
			return follow(needs, waiting, i)
		}
	}
	return nil
}

// follow walks from a story that waits until it comes to one for the second time. Each story that
// waits does so for one that waits.
func follow(needs [][]int, waiting []int, from int) []int {
	seen := map[int]int{}
	var path []int
	for at := from; ; {
		if start, ok := seen[at]; ok {
			return path[start:]
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, n := range needs[at] {
			if waiting[n] > 0 {
				at = n
				break
			}
		}
	}
}

// maxChain is how many stories of a cycle a message names.
const maxChain = 8

func (c *checker) chain(circle []int) string {
	var names []string
	for k, i := range circle {
		if k == maxChain {
			names = append(names, "…")
			break
		}
		names = append(names, c.file.list.Stories[i].ID)
	}
	return strings.Join(append(names, c.file.list.Stories[circle[0]].ID), " → ")
}
