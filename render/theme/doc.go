// Package theme says how the things that a program shows on a terminal look: a [Theme] for a dark
// or light background and the number of colours.
//
// # Not here
//
// Finding out the background of a terminal (package terminal), and what is shown.
package theme
