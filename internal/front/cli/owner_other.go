//go:build !unix

package cli

// safeOwner cannot tell whose a file is here.
func safeOwner(string) bool { return true }

// ownFolder reports whether a folder is this user's. The owner cannot be read here, and folders
// below the home folder are taken for the user's own.
func ownFolder(path, userHome string) bool { return userHome != "" && Within(userHome, path) }
