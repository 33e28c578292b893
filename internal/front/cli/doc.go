// Package cli is what the verbs of the command line share: the environment, output, errors with
// hints and exit codes, the parser and its errors, help, choosing a project and a loop, questions,
// trust in the settings of a project, and JSON. It does not know which verbs there are.
package cli
