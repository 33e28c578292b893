// Package completion answers the question of a shell: which words may come next on a command line?
//
// The answer comes from kong's model of the verbs. The tag complete of a flag or an argument names
// what its values are: loop (of several words the first), loops, setting, live (a setting that may
// change while a loop runs), type, agent, scenario, schedule, verb or file, several of them
// separated by commas. Without the tag the values are those of enum, or files and folders where the
// placeholder is FILE or DIR.
//
// The scripts for the shells call 'ralph complete', which never prints an error.
package completion
