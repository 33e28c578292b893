// Package journaltool implements the verbs for journals that need the engine: decide and decode
// again, verify, repair, rebuild, and export as a trace. Reading and printing them is
// internal/front/logs.
package journaltool
