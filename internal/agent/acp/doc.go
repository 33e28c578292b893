// Package acp speaks the Agent Client Protocol over stdio, by which one adapter drives many agents.
package acp
