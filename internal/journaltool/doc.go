// Package journaltool implements the verbs for journals: print, replay, redecide, redecode, verify,
// repair and rebuild.
package journaltool
