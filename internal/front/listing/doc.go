// Package listing shows the loops of a project, or of this machine, in one table.
package listing
