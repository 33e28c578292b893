// Package fence says in a loop's folder which machine has the loop. If it was moved to another one,
// it is not resumed here: two machines would do the same work.
package fence
