// Package loopfolder names what only ralph writes in a loop's folder. The packages that make these
// files take their names from here, so that the guard and a sandbox protect the same ones.
package loopfolder
