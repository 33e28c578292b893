// Package why explains one event of a loop: which rule decided it, the settings that the rule
// depends on, and the events that it was decided from.
//
// The journal has the decisions and not the names of the rules. So the events up to the decision
// are folded, and package loop decides again: if today's rules decide the same, the rule that they
// name is the answer; if not, the answer says so and names none.
package why
