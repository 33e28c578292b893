//go:build !unix

package main

// ownFolder reports whether a folder is this person's: whose it is cannot be asked here, and below the home folder nobody else's are.
func ownFolder(path, userHome string) bool { return userHome != "" && within(userHome, path) }
