//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// runnersCommand is what a CI runner takes for a command in a log: "::name::" after white space, and
// "##[name]" anywhere in a line.
var runnersCommand = regexp.MustCompile(`(?m)^[\s\x{85}\x{a0}\x{2028}\x{2029}]*::|##\[`)

// TestNoRunnerCommands runs the commands on a repository whose names, messages, authors and texts are
// commands to a CI runner: none of them is one in what is printed, to stdout or stderr, as text or as
// JSON. Bundles on stdout are not looked at: they quote files as they are.
func TestNoRunnerCommands(t *testing.T) {
	repo := sampleRepository(t)
	for _, name := range []string{"::add-mask::a", "  ::stop-commands::x", "store/x ##[error]y", "store/c\r::error::entries", "store/l\n::error::entries"} {
		repo.Write(name+".go", "package store\n\n// Entries of the store, sorted.\nfunc Entries() {}\n")
	}
	repo.CommitAs("::error::who <##[error]@example.com>", "::warning::sort the entries ##[error]z\n\n::error::body")
	repo.Write("  ::stop-commands::x.go", "package store\n\nfunc Sorted() {}\n")
	const title = "::add-mask::sort the entries of the store ##[error]y\r::error::z"
	repo.Write(".ctxt/cases.json", `{"version": 2, "categories": {"::error::c": {"cases": [{"query": "::error::entries ##[x]", "expect_any": ["::gone::x.go"]}]}}}`)
	printed := 0
	for _, args := range [][]string{
		{"init", ".", "--offline", "--no-config-prompt"},
		{"search-hints", "::error::entries"}, {"search-hints", "entries", "--explain", "--show-tokens"}, {"search-hints", "entries", "--json"},
		{"activate", "--task", title}, {"activate", "--task", title, "--explain", "store/x ##[error]y.go"}, {"activate", "--task", "##[error]"},
		{"activate", "--task", title, "--format", "json", "--stdout"},
		{"refine", "--learned", title},
		{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", title}, {"pr", "--base", "HEAD~1", "--head", "HEAD", "--title-from-head"},
		{"pr", "--base", "HEAD~1", "--head", "HEAD", "--title", title, "--json"},
		{"pr", "--base", "##[error]x", "--head", "HEAD", "--title", title}, {"pr", "--base", "::error::x", "--head", "HEAD", "--title", title},
		{"companions"}, {"companions", "--base", "main", "--json"},
		{"session", "init", "one"}, {"session", "init", "##[error]"}, {"session", "progress", "one"}, {"session", "summary", "one"},
		{"eval", "--cases", ".ctxt/cases.json"}, {"eval", "--cases", ".ctxt/cases.json", "--json"}, {"eval", "--cases", "##[error]x"},
		{"eval", "--from-history", "5"}, {"scan"}, {"status"}, {"status", "--json"}, {"doctor"}, {"sync", ".", "--offline"}, {"::error::x"}, {"##[error]x"},
	} {
		cmd := exec.Command("ctxt", args...)
		var out, errs bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = repo.Dir, bareEnvironment(t, pathOf(t, true, false)), &out, &errs
		_ = cmd.Run() // some of them are refused
		printed += out.Len() + errs.Len()
		for name, text := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
			for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
				if m := runnersCommand.FindString(line); m != "" {
					t.Errorf("%q: %s has the command %q", args, name, line)
				}
			}
		}
	}
	if printed < 5000 {
		t.Errorf("%d bytes were printed", printed)
	}
}
