// Package manual makes the manual from kong's model of the verbs: a page of roff for each verb, and
// all of it as one page of Markdown.
package manual
