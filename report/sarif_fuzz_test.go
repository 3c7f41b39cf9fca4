package report

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSARIF puts any text into every field: the file stays one that code scanning takes, each place
// lies inside of the repository, and no message makes a link.
func FuzzSARIF(f *testing.F) {
	f.Add(smuggled, "a/b.go")
	f.Add("[l](http://e.example)", "../../etc/passwd")
	f.Add(`\[x\](y) {0} {{`, "/etc/passwd")
	f.Add("", "http://e.example/x")
	f.Add("\xff\x00", "a//./b\\c\xff?#%41:")
	f.Fuzz(func(t *testing.T, text, file string) {
		r := hostile(companionReport(), text)
		for i := range r.Change.Files {
			r.Change.Files[i].Path = file
		}
		for i := range r.Risk.Signals {
			r.Risk.Signals[i].Files = []string{file, text}
		}
		r.Risk.Companions[0].Partner = file
		data, err := SARIF(r)
		if err != nil {
			t.Fatal(err)
		}
		var log sarifLog
		if err := json.Unmarshal(data, &log); err != nil || !utf8.Valid(data) || len(log.Runs) != 1 {
			t.Fatalf("%v, %d runs", err, len(log.Runs))
		}
		for _, x := range log.Runs[0].Results {
			if x.RuleIndex < 0 || x.RuleIndex >= len(log.Runs[0].Tool.Driver.Rules) || log.Runs[0].Tool.Driver.Rules[x.RuleIndex].ID != x.RuleID || x.Message.Text == "" {
				t.Fatalf("result %+v", x)
			}
			for i, c := range x.Message.Text {
				if (c == '[' || c == ']') && (i == 0 || x.Message.Text[i-1] != '\\') {
					t.Fatalf("a link in %q", x.Message.Text)
				}
			}
			p := x.Locations[0].Physical
			u, err := url.Parse(p.Artifact.URI)
			if err != nil || u.IsAbs() || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || p.Region.StartLine < 1 {
				t.Fatalf("place %+v (%v)", p, err)
			}
			if clean := path.Clean("/" + u.Path); strings.HasPrefix(u.Path, "/") || strings.Contains("/"+u.Path+"/", "/../") || clean == "/" && u.Path != "" && u.Path != "." && u.Path != "./" {
				t.Fatalf("place %q leaves the repository", p.Artifact.URI)
			}
		}
	})
}
