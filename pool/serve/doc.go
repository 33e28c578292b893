// Package serve runs the server of a pool: NATS with JetStream, in one folder.
//
// The folder has server.json, of mode 0600, with what was made at the first start: a token for
// hosts, one for readers, and a certificate, which clients know by its fingerprint. The certificate
// does not expire, because nobody signed it and no client reads its date: who wants another removes
// the certificate from the file, and lets all hosts join again. The folder jetstream is NATS's own.
// A lock keeps a second server from the folder.
//
// Each write is synced before it is acknowledged (sync: always), for JetStream's default is to sync
// every two minutes. When the folder cannot be written any more, the server ends: JetStream itself
// would go on without answering.
package serve
