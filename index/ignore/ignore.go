// Package ignore decides which files of a project are indexed.
//
//  1. Built-in patterns, then the root .gitignore, then the configuration's patterns. A negation in
//     .gitignore undoes earlier lines of that file only: it cannot bring back what the built-in or the
//     configured patterns exclude, nor anything below an excluded folder.
//  2. A path with a segment that begins with a dot is left out, unless that segment is whitelisted.
//  3. Walk lists what remains of a folder; symbolic links are neither followed nor listed.
//
// Patterns come from repositories, so matching takes time linear in the path, and their number and
// length are capped.
package ignore

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The caps on patterns. What is beyond them is dropped with a warning.
const (
	MaxPatterns = 2000 // of one list
	MaxLength   = 512  // bytes of one pattern
)

// Defaults are the built-in patterns.
func Defaults() []string {
	return []string{".git", ".venv", "site-packages", "__pycache__", "node_modules", "vendor", "dist",
		"migrations", "pb_migrations", "alembic", "flyway"}
}

// DotFiles are the names with a leading dot that stay eligible without any configuration: files that
// say how a project is built, formatted and checked, and hold no secrets.
func DotFiles() []string {
	return []string{
		".babelrc", ".browserslistrc", ".clang-format", ".clang-tidy", ".codecov.yml", ".dockerignore",
		".editorconfig", ".env.example", ".env.sample", ".env.template", ".eslintignore", ".eslintrc",
		".eslintrc.*", ".flake8", ".gitattributes", ".gitignore", ".gitlab-ci.yml", ".gitmodules",
		".golangci.*", ".goreleaser.*", ".luacheckrc", ".markdownlint.*", ".mocharc.*", ".node-version",
		".nvmrc", ".nycrc", ".pre-commit-config.yaml", ".prettierignore", ".prettierrc", ".prettierrc.*",
		".pylintrc", ".python-version", ".rspec", ".rubocop.yml", ".ruby-version", ".rustfmt.toml",
		".scalafmt.conf", ".stylelintrc", ".stylelintrc.*", ".swcrc", ".swiftlint.yml", ".tool-versions",
		".travis.yml",
	}
}

// Options say what to ignore. The zero value has the built-in patterns and the dot rule only.
type Options struct {
	Gitignore    []byte   // the content of the root .gitignore
	Ignore       []string // further patterns, of the configuration and of --ignore
	DotWhitelist []string // further names with a leading dot to keep; * and ? work
	NoDefaults   bool     // leave the built-in patterns out
	KeepDots     bool     // no dot rule
}

// Rules answer whether a path is ignored. They do not change and may be used concurrently.
type Rules struct {
	fixed    *list // built-in and configured: any match ignores
	git      *list // .gitignore: the last match decides
	dots     *list // whitelisted dot names
	keepDots bool
	warnings []string
	dirs     sync.Map // folder → bool, what Match found
}

// New compiles rules. Patterns that cannot be used are left out; Warnings names them.
func New(o Options) *Rules {
	r := &Rules{keepDots: o.KeepDots}
	var fixed []string
	if !o.NoDefaults {
		fixed = Defaults()
	}
	for _, p := range o.Ignore {
		if strings.HasPrefix(strings.TrimSpace(p), "!") {
			r.warn("ignore pattern %q: only .gitignore can negate; the pattern is not used", p)
			continue
		}
		fixed = append(fixed, p)
	}
	r.fixed = r.compile("ignore", fixed)
	r.git = r.compile(".gitignore", gitLines(o.Gitignore))
	r.dots = r.compile("dot_whitelist", append(DotFiles(), o.DotWhitelist...))
	return r
}

// Warnings names the patterns that are not used, in order.
func (r *Rules) Warnings() []string { return slices.Clone(r.warnings) }

func (r *Rules) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// compile makes the list of one source of patterns.
func (r *Rules) compile(from string, lines []string) *list {
	l := newList()
	for i, line := range lines {
		if l.n >= MaxPatterns {
			r.warn("%s: more than %d patterns; the last %d are not used", from, MaxPatterns, len(lines)-i)
			break
		}
		if len(line) > MaxLength {
			r.warn("%s: pattern %d is longer than %d bytes and is not used", from, i+1, MaxLength)
			continue
		}
		if err := l.add(line); err != nil {
			r.warn("%s: pattern %q is not used: %v", from, line, err)
		}
	}
	return l
}

// Match reports whether a path is ignored, by itself or because a folder above it is. The path is
// relative to the root, clean, with "/" between segments; dir says that it is a folder.
func (r *Rules) Match(path string, dir bool) bool {
	if path == "." || path == "" {
		return false
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 && r.folder(path[:i]) {
		return true
	}
	return r.entry(path, dir)
}

// folder is Match for a folder, remembered.
func (r *Rules) folder(path string) bool {
	if v, ok := r.dirs.Load(path); ok {
		return v.(bool)
	}
	ignored := r.Match(path, true)
	r.dirs.Store(path, ignored)
	return ignored
}

// entry looks at one path whose parents are not ignored.
func (r *Rules) entry(path string, dir bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if !r.keepDots && name[0] == '.' && r.dots.last(path, name, dir) == nil {
		return true
	}
	if r.fixed.last(path, name, dir) != nil {
		return true
	}
	p := r.git.last(path, name, dir)
	return p != nil && !p.negate
}

// gitLines splits a .gitignore file: no byte order mark, no carriage returns, no empty lines, no comments.
func gitLines(data []byte) []string {
	text := strings.TrimPrefix(string(data), "\ufeff")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}
