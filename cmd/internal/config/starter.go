package config

import _ "embed"

// Starter is the file that config init and a first init write. It documents every key and parses to
// the defaults.
//
//go:embed starter.toml
var Starter string
