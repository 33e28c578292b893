// Package journaltool implements the verbs for journals: print, replay, redecide, redecode, verify,
// repair, rebuild and export.
package journaltool
