package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDoctorOnExamples checks that doctor finds nothing to mend in the workflows that the docs offer.
func TestDoctorOnExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d diagnosis
		text := withoutComments(string(data))
		if !usesAction().MatchString(text) {
			t.Errorf("%s does not use the Action", file)
		}
		d.workflow(filepath.Base(file), text)
		if len(d.res.Checks) != 1 || d.res.Checks[0].State != checkOK {
			t.Errorf("%+v", d.res.Checks)
		}
	}
}
