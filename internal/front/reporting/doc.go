// Package reporting does what the verb report does: it finds loops, and writes their report as a
// page, as Markdown or as JSON.
package reporting
