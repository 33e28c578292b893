// Package board shows all loops of a person on one screen, in three groups, and lets the person
// answer, steer, stop and resume them there: 'ralph list --watch', and 'ralph' alone.
//
// Model is pure: loops, keys and a size in, lines and effects out. Loader reads what it shows, and
// actions carry out what the person asks for; neither is called while a screen is being drawn.
// program.go joins them with a terminal.
package board
