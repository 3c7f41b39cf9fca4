//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretsStayWhereTheyAre puts canaries into the environment, into .git/config and other files of
// .git, and beside the project, with links in the tree that lead to each; then it runs the commands. No
// canary is in what they print or write.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	const canary = "canary7f3a91"
	repo := sampleRepository(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	secret := "package secret\n\n// Sorted entries of the store: " + canary + ".\nfunc " + canary + "Entries() {}\n"
	for _, file := range []string{filepath.Join(outside, "secret.go"), filepath.Join(repo.Dir, ".git", "secret.go"), filepath.Join(repo.Dir, ".git", "hooks", "entries.go")} {
		if err := os.WriteFile(file, []byte(secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{
		"http.https://github.com/.extraheader": "AUTHORIZATION: basic " + canary,
		"remote.origin.url":                    "https://someone:" + canary + "@example.com/r.git",
		"credential.helper":                    "!echo password=" + canary,
		"user.signingKey":                      canary,
	} {
		repo.Git("config", key, value)
	}
	for link, to := range map[string]string{
		"store/config.go": "../.git/config", "store/secret.go": filepath.Join(outside, "secret.go"), "store/up.go": "../../" + filepath.Base(outside) + "/secret.go",
		"git": ".git", "elsewhere": outside, "store/loop": "..", "store/self.go": "self.go",
	} {
		if err := os.Symlink(to, filepath.Join(repo.Dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	repo.Commit("store: links to entries")
	home := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GORACE=" + os.Getenv("GORACE"), "SECRET=" + canary, "GITHUB_TOKEN=" + canary, "LLM_API_KEY=" + canary, "OPENROUTER_API_KEY=" + canary,
		"AWS_SECRET_ACCESS_KEY=" + canary, "ACTIONS_RUNTIME_TOKEN=" + canary}
	const title = "keep the entries of the store sorted"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"init", ".", "--offline", "--no-config-prompt"}, "indexed "},
		{[]string{"sync", ".", "--offline"}, ""},
		{[]string{"search-hints", "entries"}, "store/store.go"},
		{[]string{"activate", "--task", title}, "store/store.go"},
		{[]string{"activate", "--task", title, "--stdout"}, "store/store.go"},
		{[]string{"refine", "--learned", "they are sorted by name"}, "unchanged"},
		{[]string{"pr", "--base", "main", "--head", "HEAD", "--title", title, "--html-file", filepath.Join(home, "r.html"), "--sarif-file", filepath.Join(home, "r.sarif")}, "store/store.go"},
		{[]string{"pr", "--base", "main", "--head", "HEAD", "--title", title, "--json"}, "store/store.go"},
		{[]string{"companions"}, ""},
		{[]string{"scan"}, ""},
		{[]string{"status"}, ""},
		{[]string{"doctor"}, ""},
		{[]string{"agent", "install"}, ""},
	} {
		cmd := exec.Command("ctxt", c.args...)
		var out, errs bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = repo.Dir, env, &out, &errs
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: %v\n%s%s", c.args, err, errs.String(), out.String())
		}
		if strings.Contains(out.String()+errs.String(), canary) {
			t.Errorf("%v prints a secret:\n%s%s", c.args, errs.String(), out.String())
		}
	}
	written := 0
	for _, dir := range []string{filepath.Join(repo.Dir, ".ctxt"), home, repo.Dir} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == ".git" {
				return fs.SkipDir
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			written++
			data, err := os.ReadFile(name)
			if bytes.Contains(bytes.ToLower(data), []byte(canary)) {
				t.Errorf("%s holds a secret", name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if written < 10 {
		t.Errorf("%d files were looked at", written)
	}
}
