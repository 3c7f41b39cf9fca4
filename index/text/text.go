// Package text holds the one tokenizer for documents and queries.
//
//  1. Split bytes into words: runs of letters, digits and underscores (scripts without spaces give
//     character pairs).
//  2. Split words into parts at underscores and case changes: HTTPServerName → http, server, name.
//  3. Lower-case and stem each part; a word of several parts also yields its compound.
//  4. Hash: documents keep 32-bit terms, never strings.
package text
