// Package replay plays a loop again from its journal: as text, on the full screen, or into a
// recording for the asciinema player.
package replay
