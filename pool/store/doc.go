// Package store is the contract between a pool and the engine that keeps its state: NATS JetStream
// (package nats), an S3 store with conditional writes (package s3), or a folder (package dir).
//
// The contract is five calls, two of which are conditional writes. They are all the safety that a
// pool has: which host a loop belongs to is decided by who wrote the next key of its log, and by no
// clock. An engine that ignores a condition would fork loops in silence: [Probe] finds that before
// anything is stored.
//
// Package storetest is the suite that each engine passes, also while it is killed, cut off and
// loses answers.
package store
