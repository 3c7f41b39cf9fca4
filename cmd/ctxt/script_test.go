package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// moreCommands are started by tests of one system.
var moreCommands = map[string]func(){}

func TestMain(m *testing.M) {
	commands := map[string]func(){
		"ctxt": func() { os.Exit(run(os.Args[1:])) },
	}
	for name, f := range moreCommands {
		commands[name] = f
	}
	testscript.Main(m, commands)
}

// TestScripts runs every script of testdata/script. UPDATE=1 rewrites the expected output.
func TestScripts(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "script")
	if files, err := filepath.Glob(filepath.Join(dir, "*.txtar")); err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s (%v)", dir, err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "A. Author")
				env.Setenv("GIT_"+who+"_EMAIL", "author@example.com")
				env.Setenv("GIT_"+who+"_DATE", "2024-01-02T03:04:05Z")
			}
			return nil
		},
	})
}
