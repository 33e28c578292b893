// Package attach prints a loop as text: its state, its last events, and then its events as they
// come. It reads the journal alone, and never delays the loop. A person types on the full screen
// (package fullscreen), or with 'ralph steer'.
package attach
