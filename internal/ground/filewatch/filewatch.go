// Package filewatch waits for changes of one file, or of the files in folders.
//
//	w, err := filewatch.New(path)
//	for ctx.Err() == nil {
//		changed, err := w.Wait(ctx) // several changes may be one
//		…
//	}
//
// Removals of names in a folder are not reported, nor is the unmounting of the file system. Where
// [Remote] is true of a path, other machines may change it without a notification: poll.
//
// A test in a bubble of testing/synctest cannot have a watch: its blocked read stops the fake time.
package filewatch

import "errors"

// ErrGone is the error of Wait after the watched file or folder was removed or moved.
var ErrGone = errors.New("the watched path was removed or moved")
