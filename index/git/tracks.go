package git

import (
	"context"
	"path/filepath"
	"strings"
)

// Tracks reports whether the index holds anything under a folder of the work tree, which need not
// exist; the case of letters does not count. A folder elsewhere is not tracked, and a bare repository tracks none.
func (r *Repo) Tracks(ctx context.Context, dir string) (bool, error) {
	if r.root == "" {
		return false, nil
	}
	rel, ok := r.inside(dir)
	if !ok {
		return false, nil
	}
	if r.program != nil {
		out, err := r.program.output(ctx, "--no-literal-pathspecs", "ls-files", "-z", "--", ":(top,icase,literal)"+rel)
		return out != "", err
	}
	indexed, _, err := r.indexGoGit()
	if err != nil {
		return false, err
	}
	for p := range indexed {
		if len(p) >= len(rel) && strings.EqualFold(p[:len(rel)], rel) && (len(p) == len(rel) || p[len(rel)] == '/') {
			return true, nil
		}
	}
	return false, nil
}

// inside gives the path of dir below the work tree, with slashes. Links on the way are followed as far
// as the folder exists.
func (r *Repo) inside(dir string) (string, bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	root := r.root
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	for at, rest := abs, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			abs = filepath.Join(real, rest)
			break
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
