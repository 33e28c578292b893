// Package doctor examines a machine, its agents and the settings of a project, and reports what
// will work and what will not.
package doctor
