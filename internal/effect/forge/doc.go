// Package forge reads issues and review comments, and publishes pull requests, with the person's
// own programs: gh for GitHub, glab for GitLab. It opens no connection and reads no credential.
//
//	at := forge.Place{Dir: project, Remotes: urls}
//	issue, err := at.Issue(ctx, "42") // or its address
//	text := forge.IssueText(issue)
//
//	request, err := at.Publish(ctx, forge.Draft{Branch: "fix", Title: title, Body: body, Draft: true})
//	comments, err := at.Comments(ctx, request)
//	if e, ok := errors.AsType[*forge.Error](err); ok { … e.Output, e.Hint() … }
//
// A pull request is what GitLab calls a merge request.
//
// # Guarantees
//
//   - A program runs without a terminal and without a prompt of its own, in a process group of
//     its own, for a limited time, and what it prints is limited too ([ErrTooMuch]).
//   - No shell reads arguments. A reference is a number or an address: it is never an option.
//   - Texts of other people are cleaned: no control characters and no marks that change the order
//     in which a line is shown. They are cut where they are long.
//   - [Place.Publish] makes no second pull request of a branch that has an open one, or of a part
//     that a person has merged or closed. In the text of a pull request it replaces only its own
//     part, between two marks. It replaces the title only if no other program or person has
//     changed it.
//   - Only a comment whose author may write to the repository is [Comment.MayWrite].
//
// # The programs
//
// The outputs are as in gh 2.97 and in the glab of June 2026; testdata has their shapes. All
// options and JSON fields of gh that are used here are also in gh 2.23, which Debian 12 has. What
// gh answers to one GraphQL query has the shape that GitHub documents for it; a change of a pull
// request is a call of its REST API. What glab api answers is GitLab's REST API, version 4.
//
// # Not here
//
// Masking of secrets, before a text is published and in errors: the caller. Pushing:
// internal/effect/repo.
package forge
