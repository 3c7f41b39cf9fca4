package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/ctxt-dev/ctxt/analyze/risk"
)

// Annotation is a note on a changed line. Its texts are plain and on one line.
type Annotation struct {
	Path       string
	Start, End int    // lines of the new file, 1-based
	Level      string // notice or warning
	Title      string
	Message    string
}

// MaxAnnotations is what the platform shows of one kind for a step.
const MaxAnnotations = 10

// Annotations are the findings that belong to a changed line: at most ten, warnings first.
func Annotations(r *Report) []Annotation {
	var out []Annotation
	for _, f := range findings(r) {
		if len(out) == MaxAnnotations {
			break
		}
		if f.line > 0 {
			out = append(out, Annotation{f.path, f.line, f.line, f.level, f.title, f.message})
		}
	}
	return out
}

// finding is one statement of the report about one file.
type finding struct {
	rule, level, title, message string
	path                        string
	line                        int // of a changed line; 0: none
}

// findings lists what SARIF and annotations say: missing companions, then signals by file. A signal
// of information is not a finding.
func findings(r *Report) []finding {
	line, first := map[string]int{}, ""
	for _, f := range r.Change.Files {
		if f.Status == "deleted" || f.Binary {
			continue
		}
		for _, h := range f.Hunks {
			if h.NewLines > 0 {
				line[f.Path] = h.NewStart
				if first == "" {
					first = f.Path
				}
				break
			}
		}
	}
	var out []finding
	if r.Risk == nil {
		return out
	}
	for _, c := range r.Risk.Companions {
		m := fmt.Sprintf("%s changed in %d of the last %s of %s (%s) and is untouched here", c.Path, c.Joint, plural(c.Of, "change"), c.Partner, percent(c.Confidence))
		at := c.Partner
		if at == "" { // a rule predicts it: the note stands at the first changed line
			m = fmt.Sprintf("%s changed in %d of the last %d %s (%s) and is untouched here", c.Path, c.Joint, c.Of, c.Because, percent(c.Confidence))
			at = first
		}
		if at != "" {
			out = append(out, finding{"missing-companion", "warning", "Missing companion", Plain(m, 500), at, line[at]})
		}
	}
	for _, want := range []risk.Level{risk.High, risk.Medium, risk.Low} {
		for _, s := range r.Risk.Signals {
			if s.Level != want || s.Name == "companions" || s.Name == "size" {
				continue
			}
			level := "notice"
			if want == risk.High {
				level = "warning"
			}
			for i, p := range s.Files {
				if i == 3 {
					break
				}
				if line[p] > 0 { // only what the change touched
					out = append(out, finding{s.Name, level, Plain(s.Title, 80), Plain(s.Why, 500), p, line[p]})
				}
			}
		}
	}
	return out
}

// The part of SARIF 2.1.0 that GitHub's code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Columns string        `json:"columnKind"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"semanticVersion,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID     string       `json:"id"`
		Name   string       `json:"name"`
		Short  sarifMessage `json:"shortDescription"`
		Full   sarifMessage `json:"fullDescription"`
		Help   sarifMessage `json:"help"`
		Config sarifConfig  `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// rules are the kinds of finding, in the order of their index.
var rules = []struct{ id, name, text string }{
	{"missing-companion", "MissingCompanion", "A file that usually changes together with a changed file is untouched."},
	{"hotspots", "Hotspot", "A changed file changes often and was often repaired."},
	{"sensitive", "SensitivePath", "The change touches a path that needs care: workflows, authentication, migrations, lock files, build."},
	{"control-plane", "ControlPlane", "The change edits the gates, cases or configuration that judge it."},
	{"reach", "Reach", "Many files import what changed."},
	{"ownership", "Ownership", "The author is new to the changed files."},
	{"scope", "Scope", "A changed file is not reached by the title or the description."},
	{"tests", "Tests", "Source files changed and no test did."},
	{"other", "Finding", "Another finding of the risk assessment."},
}

// SARIF is the report's findings as SARIF 2.1.0, for code scanning: relative, percent-encoded paths,
// a line for each, messages without links, and fingerprints that do not depend on the line.
func SARIF(r *Report) ([]byte, error) {
	run := sarifRun{Columns: "utf16CodeUnits", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "ctxt", URI: "https://github.com/ctxt-dev/ctxt", Rules: []sarifRule{}}
	if v, ok := strings.CutPrefix(r.Tool, "ctxt "); ok {
		run.Tool.Driver.Version = Plain(v, 40)
	}
	index := map[string]int{}
	for i, x := range rules {
		level := "note"
		if i == 0 {
			level = "warning"
		}
		index[x.id] = i
		m := sarifMessage{x.text}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{x.id, x.name, m, m, m, sarifConfig{level}})
	}
	seen := map[string]int{}
	for _, f := range findings(r) {
		if f.path == "." || !fs.ValidPath(f.path) {
			continue // no file of a repository; its place could lie outside
		}
		i, ok := index[f.rule]
		if !ok {
			i = index["other"]
		}
		if f.message == "" {
			f.message = rules[i].text
		}
		level := "note"
		if f.level == "warning" {
			level = "warning"
		}
		print := rules[i].id + "\x00" + f.path
		seen[print]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", print, seen[print]))
		run.Results = append(run.Results, sarifResult{
			RuleID: rules[i].id, RuleIndex: i, Level: level,
			Message:      sarifMessage{sarifText.Replace(f.message)},
			Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{relativeURI(f.path)}, sarifRegion{max(f.line, 1)}}}},
			Fingerprints: map[string]string{"ctxt/v1": hex.EncodeToString(sum[:16])},
		})
	}
	log := sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}
	data, err := json.MarshalIndent(log, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write SARIF: %w", err)
	}
	return append(data, '\n'), nil
}

// sarifText keeps a plain message plain: in SARIF, brackets and backslashes make links.
var sarifText = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`)

// relativeURI is a path as a relative reference that stays inside of the repository.
func relativeURI(p string) string {
	parts := strings.Split(p, "/")
	for i, x := range parts {
		parts[i] = url.PathEscape(x)
	}
	u := strings.Join(parts, "/")
	if first, _, _ := strings.Cut(u, "/"); strings.Contains(first, ":") {
		u = "./" + u // else the part before the colon would be a scheme
	}
	return u
}
