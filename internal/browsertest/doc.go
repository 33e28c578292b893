// Package browsertest runs a real Chromium for tests, without a window. It speaks the DevTools
// protocol over two pipes: no port is opened.
package browsertest
