// Package logs prints, searches, follows and exports journals: what the verbs logs and 'journal
// export' do. It reads events and links no engine; folding a journal again with the rules of today
// is internal/verb/journaltool.
package logs
