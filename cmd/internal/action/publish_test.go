package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxt-dev/ctxt/report"
	"github.com/ctxt-dev/ctxt/report/github/githubtest"
)

func publisher(t *testing.T, fixture string) *runner {
	t.Helper()
	r := newRunner(t, "workflow_run", fixture)
	r.api.Pulls = []githubtest.Pull{{Number: 7, HeadRef: "fork:topic", HeadSHA: headSHA, HeadRepo: 8, BaseSHA: baseSHA}}
	dir := filepath.Join(r.root, "runner_temp", "ctxt-report")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.env["INPUT_REPORT-DIR"] = dir
	data, err := report.JSON(sample())
	if err != nil {
		t.Fatal(err)
	}
	r.put(filepath.Join(dir, "report.json"), string(data))
	return r
}

func TestPublish(t *testing.T) {
	for _, fixture := range []string{"workflow_run.fork.json", "workflow_run.same_repository.json"} {
		r := publisher(t, fixture)
		res := r.mustRun(0)
		cs := r.api.Comments()
		if res.outputs["comment"] != "created" || len(cs) != 1 || r.ran != 0 {
			t.Fatalf("%s: outputs %v, ran %d", fixture, res.outputs, r.ran)
		}
		if !strings.HasPrefix(cs[0].Body, "<!-- ctxt:comment key=ctxt head="+headSHA+" run=5000 attempt=2 -->") || !strings.Contains(cs[0].Body, "no write access") {
			t.Errorf("%s: %s", fixture, cs[0].Body)
		}
	}
	r := publisher(t, "workflow_run.push.json")
	if res := r.mustRun(0); !strings.Contains(res.out, "the workflow ran on push") || len(r.api.Requests()) != 0 {
		t.Errorf("%s", res.out)
	}
	r = publisher(t, "workflow_run.fork.json")
	r.api.Pulls = nil
	if res := r.mustRun(0); !strings.Contains(res.out, "no open pull request stands at") || len(r.api.Comments()) != 0 {
		t.Errorf("%s", res.out)
	}
	r = publisher(t, "workflow_run.fork.json")
	r.put(filepath.Join(r.env["INPUT_REPORT-DIR"], "report.json"), "")
	_ = os.Remove(filepath.Join(r.env["INPUT_REPORT-DIR"], "report.json"))
	if res := r.mustRun(0); !strings.Contains(res.out, "left no report") {
		t.Errorf("%s", res.out)
	}
}

// TestPublishRefuses holds that the artifact is believed in nothing: not its form, not its head.
func TestPublishRefuses(t *testing.T) {
	good, err := report.JSON(sample())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data, want string
	}{
		"other head":    {strings.Replace(string(good), `"head": "`+headSHA, `"head": "`+baseSHA, 1), "not published"},
		"no JSON":       {"### Low risk", "no JSON"},
		"extra field":   {strings.Replace(string(good), `"tool"`, `"html": "<script>", "tool"`, 1), "does not fit its schema"},
		"other version": {strings.Replace(string(good), `"version": 1`, `"version": 9`, 1), "does not fit its schema"},
	} {
		r := publisher(t, "workflow_run.fork.json")
		r.put(filepath.Join(r.env["INPUT_REPORT-DIR"], "report.json"), c.data)
		res := r.mustRun(2)
		if !strings.Contains(res.err, c.want) || len(r.api.Requests()) != 0 {
			t.Errorf("%s: %q, requests %v", name, res.err, r.api.Requests())
		}
	}
	r := publisher(t, "workflow_run.fork.json")
	path := filepath.Join(r.env["INPUT_REPORT-DIR"], "report.json")
	_ = os.Remove(path)
	secret := filepath.Join(t.TempDir(), "report.json")
	r.put(secret, string(good))
	if err := os.Symlink(secret, path); err != nil {
		t.Fatal(err)
	}
	if res := r.mustRun(2); !strings.Contains(res.err, "escapes") {
		t.Errorf("a link was followed: %q %q", res.err, res.out)
	}
}
