// Package schema holds the JSON schemas of the product's files, for the programs that check them.
package schema

import _ "embed" // the schema is a file, for others to read too

// Report is the schema of report.json, version 1.
//
//go:embed report.schema.json
var Report []byte
