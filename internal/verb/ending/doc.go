// Package ending ends loops whatever their runners do: it asks the runner through the inbox, then
// with TERM, and then kills it with all that it started, and what an agent left behind.
// [Fence] also keeps the loop from being resumed.
package ending
