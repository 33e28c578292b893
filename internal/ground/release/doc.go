// Package release proves that a program is one of a release.
//
// A release signs one list: the SHA-256 of each of its programs. The list and its signature are in
// each archive and package, beside the program or in ../share/ralph, so that the proof needs no
// network. The signature is a bundle in the format of Sigstore, made with a key.
//
// A program that verifies itself finds damage and mixed files. It cannot prove that it is honest,
// because a changed program would print anything: for that, let a ralph that you trust verify the
// new one.
package release
