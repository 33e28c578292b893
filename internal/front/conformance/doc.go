// Package conformance runs a program on each case of the corpus of the file format, and scores its
// answers. The program is foreign: whatever it does is a result, and no error of ralph's.
package conformance
