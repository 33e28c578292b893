// Package notify sends short messages about a loop to people: over ntfy, to a webhook, to the
// desktop, by mail, or through a command.
//
// [Send] sends one message to one channel once; the caller decides when, and tries again. Messages
// hold what a person needs to decide whether to look, and of what an agent said only a question.
package notify
