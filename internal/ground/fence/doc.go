// Package fence says in a loop's folder that the loop was moved to another machine. While it does,
// the loop is not resumed here: two machines would do the same work.
package fence
