package job

import (
	"context"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/bench/cases"
	"github.com/ctxt-dev/ctxt/index/git"
	"github.com/ctxt-dev/ctxt/index/git/gittest"
)

// TestIntentFigures holds that real texts stand above made ones, and that a text about nothing that
// the repository knows is among those warned about.
func TestIntentFigures(t *testing.T) {
	r := gittest.New(t)
	for _, name := range []string{"upload", "download", "retry", "backoff", "session", "router", "parser", "lexer"} {
		r.Write(name+"/"+name+".go", "package "+name+"\n\n// "+strings.ToUpper(name[:1])+name[1:]+" is here.\nfunc "+strings.ToUpper(name[:1])+name[1:]+"() {}\n")
	}
	base := r.Commit("first")
	repo, err := git.Open(r.Dir, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(title string) cases.Replay { return cases.Replay{SHA: base, Base: base, Title: title} }
	var f IntentFigures
	err = f.Add(context.Background(), repo, []cases.Replay{
		at("Keep the router session across a retry"), at("Let the parser hand errors of the lexer on"), at("Back off between upload and download"),
		at("zyx wvu tsr"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.Real != 4 || f.Made != 4 || f.AUC < 0.7 || f.AUC > 0.99 || f.Warned != 0.25 || f.Caught != 1 {
		t.Errorf("%+v", f)
	}
	if real, made := f.Warnings(); len(real) != 1 || real[0] != "zyx wvu tsr" || len(made) != 0 {
		t.Errorf("warned about %q, let through %q", real, made)
	}
	bad := []cases.Replay{{SHA: "x", Base: "no hash"}}
	if err := f.Add(context.Background(), repo, bad); err == nil || !strings.Contains(err.Error(), "case x: base") {
		t.Errorf("a base that is no hash: %v", err)
	}
}
