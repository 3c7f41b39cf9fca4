package risk

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ctxt-dev/ctxt/index"
)

// sensitiveKind is a group of paths where a mistake costs more than elsewhere.
type sensitiveKind struct {
	name  string
	level Level
	globs []string
	words []string // whole words of a source file's path
}

// sensitiveKinds, in the order in which a path is tried.
var sensitiveKinds = []sensitiveKind{
	{"workflow", Medium, []string{".github/workflows/**", ".github/actions/**", "**/action.{yml,yaml}", ".gitlab-ci.yml", ".circleci/**",
		".buildkite/**", "**/Jenkinsfile", "azure-pipelines*.yml", ".travis.yml", ".drone.yml"}, nil},
	{"migration", Medium, []string{"**/migrations/**", "**/migration/**", "**/db/migrate/**", "**/alembic/versions/**", "**/flyway/**", "**/schema.sql"}, nil},
	{"auth", Medium, nil, []string{"auth", "authn", "authz", "authentication", "authorization", "oauth", "oauth2", "oidc", "saml", "jwt", "login",
		"password", "passwd", "credential", "credentials", "session", "sessions", "permission", "permissions", "acl", "rbac", "csrf",
		"crypto", "cipher", "tls", "secret", "secrets", "sandbox"}},
	{"lock file", Low, lockGlobs, nil},
	{"build", Low, append([]string{"**/Dockerfile*", "**/Makefile", "**/CMakeLists.txt", "**/*.cmake", "**/*.bazel", "**/WORKSPACE", "**/*.tf", "**/meson.build",
		"**/configure.ac", "**/build.rs", "**/docker-compose*.y{a,}ml", ".goreleaser.y{a,}ml"}, manifestGlobs...), nil},
}

var lockGlobs = []string{"**/package-lock.json", "**/npm-shrinkwrap.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/bun.lock*", "**/go.sum", "**/Cargo.lock",
	"**/poetry.lock", "**/uv.lock", "**/pdm.lock", "**/Pipfile.lock", "**/Gemfile.lock", "**/composer.lock", "**/mix.lock", "**/gradle.lockfile",
	"**/packages.lock.json", "**/Podfile.lock", "**/flake.lock"}

var manifestGlobs = []string{"**/package.json", "**/go.mod", "**/Cargo.toml", "**/pyproject.toml", "**/setup.{py,cfg}", "**/requirements*.txt", "**/requirements/*.txt",
	"**/Pipfile", "**/Gemfile", "**/*.gemspec", "**/composer.json", "**/mix.exs", "**/build.gradle*", "**/settings.gradle*", "**/pom.xml", "**/*.csproj",
	"**/libs.versions.toml", "**/Podfile", "**/flake.nix"}

// matchAny reports whether a glob matches; a glob that cannot be read matches nothing.
func matchAny(globs []string, p string) bool {
	for _, g := range globs {
		if ok, err := doublestar.Match(g, p); err == nil && ok {
			return true
		}
	}
	return false
}

// sensitiveOf names the kind of a sensitive path.
func sensitiveOf(p string, extra []string) (name string, level Level, ok bool) {
	if matchAny(extra, p) {
		return "configured", Medium, true
	}
	var words map[string]bool
	for _, k := range sensitiveKinds {
		if matchAny(k.globs, p) {
			return k.name, k.level, true
		}
		if len(k.words) == 0 || index.RoleOf(p) != index.Source {
			continue
		}
		if words == nil {
			words = pathWords(p)
		}
		for _, w := range k.words {
			if words[w] {
				return k.name, k.level, true
			}
		}
	}
	return "", "", false
}

// pathWords splits the last two elements of a path into lower-case words, also at changes of case.
func pathWords(p string) map[string]bool {
	tail := path.Base(path.Dir(p)) + "/" + path.Base(p)
	out := map[string]bool{}
	var w []rune
	flush := func() {
		if len(w) > 0 {
			out[strings.ToLower(string(w))] = true
			w = w[:0]
		}
	}
	lower := false
	for _, r := range tail {
		upper := r >= 'A' && r <= 'Z'
		if upper && lower || !upper && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			flush()
		}
		if upper || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			w = append(w, r)
		}
		lower = !upper
	}
	flush()
	return out
}

func (a *assessor) sensitive() {
	byKind := map[string][]string{}
	level := Low
	var kinds, manifests []string
	for _, f := range a.in.Change.Files {
		if matchAny(manifestGlobs, f.Path) {
			manifests = append(manifests, path.Dir(f.Path))
		}
		name, l, ok := sensitiveOf(f.Path, a.o.Sensitive)
		if !ok {
			continue
		}
		if byKind[name] == nil {
			kinds = append(kinds, name)
		}
		byKind[name] = append(byKind[name], f.Path)
		if l == Medium {
			level = Medium
		}
	}
	if len(kinds) == 0 {
		return
	}
	sort.Strings(kinds)
	g := Signal{Name: "sensitive", Title: "Sensitive paths", Command: "git diff " + a.revisions()}
	var parts []string
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%s (`%s`%s)", k, byKind[k][0], more(len(byKind[k])-1)))
		g.Numbers = append(g.Numbers, Number{k, float64(len(byKind[k])), "files"})
		g.Files = append(g.Files, byKind[k]...)
	}
	sort.Strings(g.Files)
	g.Why = "touches " + strings.Join(parts, ", ")
	if locks := byKind["lock file"]; len(locks) > 0 && len(manifests) == 0 && !a.bot {
		level = Medium
		g.Why += fmt.Sprintf("; `%s` changed without its manifest", locks[0])
	}
	g.Level = level
	if a.bot {
		g.Level = Info
		if byKind["workflow"] != nil {
			g.Level = Low
		}
	}
	g.Command += " " + pathArgs(first(g.Files, 5)...)
	a.add(g)
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func validGlob(g string) bool { return g != "" && doublestar.ValidatePattern(g) }
