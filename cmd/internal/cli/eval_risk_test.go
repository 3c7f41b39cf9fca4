package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestPastMeasurementsFollowTheirSchemas(t *testing.T) {
	dir := measuredProject(t)
	for schema, command := range map[string]string{"eval-risk.json": "risk", "eval-companions.json": "companions"} {
		var out, errs bytes.Buffer
		args := []string{"eval", command, "--json", "--repo", dir, "--from-history", "5"}
		if code := Main(context.Background(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, func(string) (string, bool) { return "", false }); code != ExitOK {
			t.Fatalf("%q: exit %d: %s", args, code, errs.String())
		}
		if err := validate(t, schema, out.Bytes()); err != nil {
			t.Errorf("%s: %v\n%s", schema, err, out.String())
		}
		if err := validate(t, schema, []byte(`{"version":2}`)); err == nil {
			t.Errorf("%s accepts another version", schema)
		}
	}
}
