// Command release makes the files of a release from a work tree: archives, packages for Debian,
// Red Hat and Alpine, a list of what is linked, checksums, and the files for Homebrew, Nix, winget
// and npm.
//
//	go run . -dir ../.. -out ../../dist -tag v0.1.0 [-targets linux/amd64,darwin/arm64] [-key FILE]
//
// The same commit, toolchain and key give the same files, to the byte: all times are that of the
// commit, and nothing of the machine is written. 'make reproducible' compares two builds.
//
// With a key, the list of all programs is signed ('ralph version --verify'). A release needs one;
// a snapshot does not.
package main
