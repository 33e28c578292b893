//go:build !unix

package cli

// ownFolder reports whether a folder is this user's. The owner cannot be read here, and folders
// below the home folder are taken for the user's own.
func ownFolder(path, userHome string) bool { return userHome != "" && Within(userHome, path) }
