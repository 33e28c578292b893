// Package castsvg draws a recording of a terminal as an animated SVG, for the README.
//
//	image, err := castsvg.Draw(recording, castsvg.Options{Title: "ralph attach"})
//
// The image is self-contained: it has no script, no font and no link. All frames are one strip. A
// CSS animation moves it so that one frame is seen at a time. Equal rows are drawn once. A reader
// who asked for reduced motion gets a still.
package castsvg
