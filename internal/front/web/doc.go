// Package web serves the loops of this machine to a browser: a list, a page for each loop, and the
// same as JSON.
//
//	links, err := web.Tokens(home, false)
//	server, err := web.New(web.Options{Home: home, Tokens: links, Now: time.Now})
//	err = server.Serve(ctx, listener)
//
// It reads journals and writes inboxes, and keeps nothing: a server that is killed loses nothing,
// and a page that reconnects continues after the last event that it has.
//
// # Guarantees
//
//   - Without a token nothing is served. A token is in a file of mode 0600, and is compared in
//     constant time.
//   - The cookie of a browser is bound to a path that is derived from the token, since cookies are
//     shared by all ports of a host: another server on this machine does not receive it.
//   - The header Host has to name this server, so that no name of another site leads here, and a
//     request that another origin causes is refused, whatever it asks for.
//   - A page runs only the scripts that this package contains; foreign text in it is escaped.
//   - Each stream follows the journal by itself. It delays neither the runner nor another stream,
//     and a slow reader costs one frame of memory.
//
// # Not here
//
// What a loop does with a command (the runner decides that), and how an entry of a conversation
// looks (packages render/transcript and render/markup).
package web
