// Site makes the documentation a site of files: a page of HTML for each page of Markdown, a search
// that needs no server, and llms.txt with the same pages for programs.
//
//	go run ./site -dir .. -out ../bin/site
//
// A page keeps its path: docs/guide/web.md becomes docs/guide/web.html, beside a copy of itself,
// and README.md becomes index.html. So the links between pages are those of the repository, and the
// site works below any address and from a disk. It loads nothing from elsewhere.
//
// docs/README.md is the table of contents: its headings are the shelves, its links the order. What
// it does not name comes at the end of the shelf of its folder; a folder that is no shelf gets a
// page that lists it. A link without a target, and HTML in Markdown, which no page would show, are
// errors.
package main
